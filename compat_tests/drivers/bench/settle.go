package main

import (
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// A server has settled when it has used at most quietTime of quietWindow: cqld begins to merge tables a second or two
// after the last write. Nobody waits longer than longestSettling.
const (
	quietWindow     = 2500 * time.Millisecond
	quietTime       = 50 * time.Millisecond
	longestSettling = 20 * time.Second
)

// settled is what a server uses until it has settled.
func settled(pid int) (time.Duration, error) {
	before, err := process.CPUOf(pid)
	if err != nil {
		return 0, err
	}
	if err := settle(pid); err != nil {
		return 0, err
	}
	after, err := process.CPUOf(pid)
	return after - before, err
}

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
