//go:build !race && !linux

package server_test

import "errors"

// instructionCounter counts nothing: only Linux has perf_event_open.
type instructionCounter struct{}

func countInstructions() (*instructionCounter, error) {
	return nil, errors.New("only Linux has perf_event_open")
}

func (*instructionCounter) read() uint64 { return 0 }

func (*instructionCounter) close() {}
