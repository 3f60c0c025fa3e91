package compat_tests

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage pile up: with Go's default, collections take a fifth of the processor time of the scripts.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
