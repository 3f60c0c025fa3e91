package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// goRun collects the events of one process of go test.
type goRun struct {
	asked   []string
	began   map[string]time.Time // the running tests
	output  map[string][]string  // of tests and subtests
	inner   map[string]string    // the first failure or panic in a test's subtests
	outcome []outcome
}

func newGoRun(asked []string) *goRun {
	return &goRun{asked: asked, began: map[string]time.Time{}, output: map[string][]string{}, inner: map[string]string{}}
}

// goEvent is a line of go test -json.
type goEvent struct {
	Time                 time.Time
	Action, Test, Output string
}

// read takes a line. Lines that are no event of a test go to the log only.
func (r *goRun) read(line []byte) {
	var e goEvent
	if json.Unmarshal(line, &e) != nil || e.Test == "" {
		return
	}
	test, _, sub := strings.Cut(e.Test, "/")
	if !slices.Contains(r.asked, test) {
		return
	}
	switch e.Action {
	case "output":
		r.output[e.Test] = append(r.output[e.Test], e.Output)
	case "run", "cont":
		if !sub {
			r.began[test] = e.Time
		}
	case "pause":
		if !sub {
			delete(r.began, test)
		}
	case "pass", "fail", "skip":
		r.ended(e, test, sub)
	}
}

// ended takes the end of a test or of one of its subtests.
func (r *goRun) ended(e goEvent, test string, sub bool) {
	message := telling(r.output[e.Test])
	if sub {
		if e.Action == "fail" && (r.inner[test] == "" || isPanic(message)) {
			r.inner[test] = message
		}
		return
	}
	if e.Action == "fail" && r.inner[test] != "" && !isPanic(message) {
		message = r.inner[test]
	}
	results := map[string]result{"pass": passed, "fail": failed, "skip": skipped}
	r.outcome = append(r.outcome, outcome{test, results[e.Action], message})
	delete(r.began, test)
}

// hangs reports whether a test takes too long.
func (r *goRun) hangs(now time.Time) bool {
	for _, began := range r.began {
		if now.Sub(began) > testLimit {
			return true
		}
	}
	return false
}

// end returns the outcomes of the tests. If some still ran when the process ended and none panicked, the test that
// began first counts as unfinished; the others were interrupted and have no outcome.
func (r *goRun) end() []outcome {
	first := ""
	for test, began := range r.began {
		if first == "" || began.Before(r.began[first]) {
			first = test
		}
	}
	if first != "" && !slices.ContainsFunc(r.outcome, func(o outcome) bool { return isPanic(o.message) }) {
		r.outcome = append(r.outcome, outcome{first, failed, unfinished + ": " + telling(r.output[first])})
	}
	return r.outcome
}

// isPanic reports whether a message is that of a panic, which ended the process.
func isPanic(message string) bool { return strings.HasPrefix(message, "panic: ") }

var (
	goMessage      = regexp.MustCompile(`^\s+[\w/]+\.go:\d+: (.+)`)
	testifyMessage = regexp.MustCompile(`^\s+Error:\s+(.+)`)
)

// telling picks the line of a test's output that explains the failure: the panic, or the last report. Reports of
// testify continue in a second line.
func telling(output []string) string {
	last := ""
	for i, line := range output {
		if strings.HasPrefix(line, "panic: ") {
			return strings.TrimSpace(line)
		}
		if m := goMessage.FindStringSubmatch(line); m != nil {
			last = m[1]
		}
		if m := testifyMessage.FindStringSubmatch(line); m != nil {
			last = m[1]
			if i+1 < len(output) {
				last += " " + strings.TrimSpace(output[i+1])
			}
		}
	}
	return last
}
