//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
)

// startOnTerminal fails: terminals are made as Linux makes them.
func startOnTerminal(*exec.Cmd) (*os.File, error) {
	return nil, errors.New("the part shell needs Linux")
}
