package main

import (
	"os/exec"
	"strconv"
)

// killWithChildren makes the cancellation of a command kill all processes that it has started, too.
func killWithChildren(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}
