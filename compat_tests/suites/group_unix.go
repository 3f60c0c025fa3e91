//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killWithChildren makes the cancellation of a command kill all processes that it has started, too.
func killWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
