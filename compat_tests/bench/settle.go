package main

import (
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// A server has settled when it has used at most quietTime of quietWindow. Nobody waits longer than longestSettling.
const (
	quietWindow     = 500 * time.Millisecond
	quietTime       = 20 * time.Millisecond
	longestSettling = 20 * time.Second
)

// settle waits until a server does next to nothing, so that what it does in the background after one kind of request is
// not counted for the next.
func settle(pid int) error {
	end := time.Now().Add(longestSettling)
	for time.Now().Before(end) {
		before, err := process.CPUOf(pid)
		if err != nil {
			return err
		}
		time.Sleep(quietWindow)
		after, err := process.CPUOf(pid)
		if err != nil || after-before <= quietTime {
			return err
		}
	}
	return nil
}
