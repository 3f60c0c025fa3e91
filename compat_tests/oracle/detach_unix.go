//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach lets a command outlive this program.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
