package process

import (
	"fmt"
	"strings"
	"testing"
)

// TestTail keeps the end of a log, and why a server crashed.
func TestTail(t *testing.T) {
	var log tail
	for i := range 2 * tailLines {
		log.add(fmt.Sprintln("line", i))
	}
	if text := log.String(); strings.Contains(text, "line 39\n") || !strings.Contains(text, "line 40\n") || !strings.Contains(text, "line 79\n") {
		t.Errorf("the end is\n%s", text)
	}
	log.add(`{"level":"error","message":"a request panicked"}`)
	for range tailLines {
		log.add(`{"level":"info"}`)
	}
	if all := log.logged(); len(all) != 1 || !strings.Contains(all[0], "panicked") {
		t.Errorf("the errors are %q", all)
	}
	log.add("fatal error: stack overflow\n")
	for i := range 2 * tailLines {
		log.add(fmt.Sprintln("goroutine", i))
	}
	if text := log.String(); !strings.HasPrefix(text, "fatal error: stack overflow\n") || !strings.Contains(text, "goroutine 0\n") ||
		strings.Contains(text, "goroutine 79\n") {
		t.Errorf("the crash is\n%s", text)
	}
}
