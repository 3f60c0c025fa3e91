package main

import (
	"slices"
	"testing"
	"time"
)

// TestGoRun reads the output of go test -json for tests that end in every way.
func TestGoRun(t *testing.T) {
	run := newGoRun([]string{"TestGood", "TestBad", "TestTestify", "TestLeftOut", "TestPaused", "TestHung"})
	for _, line := range []string{
		`{"Action":"start"}`,
		`a line that is not JSON`,
		`{"Time":"2026-01-01T00:00:00Z","Action":"run","Test":"TestGood"}`,
		`{"Action":"pass","Test":"TestGood"}`,
		`{"Time":"2026-01-01T00:00:01Z","Action":"run","Test":"TestBad"}`,
		`{"Time":"2026-01-01T00:00:01Z","Action":"run","Test":"TestBad/sub"}`,
		`{"Action":"output","Test":"TestBad/sub","Output":"    bad_test.go:7: want 1, got 2\n"}`,
		`{"Action":"fail","Test":"TestBad/sub"}`,
		`{"Action":"output","Test":"TestBad/good","Output":"    bad_test.go:9: only a remark\n"}`,
		`{"Action":"pass","Test":"TestBad/good"}`,
		`{"Action":"fail","Test":"TestBad"}`,
		`{"Action":"output","Test":"TestTestify","Output":"    \tError:      \tReceived unexpected error:\n"}`,
		`{"Action":"output","Test":"TestTestify","Output":"    \t            \tno such table\n"}`,
		`{"Action":"fail","Test":"TestTestify"}`,
		`{"Action":"skip","Test":"TestLeftOut"}`,
		`{"Time":"2026-01-01T00:00:02Z","Action":"run","Test":"TestPaused"}`,
		`{"Action":"pause","Test":"TestPaused"}`,
		`{"Time":"2026-01-01T00:00:03Z","Action":"run","Test":"TestHung"}`,
		`{"Time":"2026-01-01T00:00:04Z","Action":"cont","Test":"TestPaused"}`,
		`{"Action":"output","Test":"TestHung","Output":"    hung_test.go:3: waiting\n"}`,
		`{"Action":"fail"}`,
	} {
		run.read([]byte(line))
	}
	at := time.Date(2026, 1, 1, 0, 0, 3, 0, time.UTC)
	if run.hangs(at.Add(testLimit)) || !run.hangs(at.Add(testLimit+1)) {
		t.Error("a test hangs once it has run for longer than the limit")
	}
	want := []outcome{
		{"TestGood", passed, ""},
		{"TestBad", failed, "want 1, got 2"},
		{"TestTestify", failed, "Received unexpected error: no such table"},
		{"TestLeftOut", skipped, ""},
		{"TestHung", failed, unfinished + ": waiting"},
	}
	if got := run.end(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestGoRunPanics checks that only the test that panicked has an outcome, not the tests that ran concurrently.
func TestGoRunPanics(t *testing.T) {
	run := newGoRun([]string{"TestBeside", "TestPanics"})
	for _, line := range []string{
		`{"Time":"2026-01-01T00:00:00Z","Action":"run","Test":"TestBeside"}`,
		`{"Time":"2026-01-01T00:00:01Z","Action":"run","Test":"TestPanics"}`,
		`{"Action":"output","Test":"TestPanics/first","Output":"    panics_test.go:3: no answer\n"}`,
		`{"Action":"fail","Test":"TestPanics/first"}`,
		`{"Action":"output","Test":"TestPanics/second","Output":"panic: no port [recovered]\n"}`,
		`{"Action":"fail","Test":"TestPanics/second"}`,
		`{"Action":"fail","Test":"TestPanics"}`,
		`{"Action":"fail"}`,
	} {
		run.read([]byte(line))
	}
	want := []outcome{{"TestPanics", failed, "panic: no port [recovered]"}}
	if got := run.end(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
