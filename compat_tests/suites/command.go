package main

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// command is a program with its arguments, to run in a folder with env beyond our own environment. When the context
// ends it dies with all it has started.
func command(ctx context.Context, folder string, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	killWithChildren(cmd)
	cmd.WaitDelay = 10 * time.Second // for what left the group and holds the output
	return cmd
}
