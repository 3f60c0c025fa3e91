package panics

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestCall wants a panic to be told from an error, also when it is wrapped.
func TestCall(t *testing.T) {
	failed := errors.New("failed")
	if err := Call(func() error { return failed }); err != failed || Is(err) {
		t.Errorf("an error becomes %v", err)
	}
	if err := Call(func() error { return nil }); err != nil {
		t.Errorf("success becomes %v", err)
	}
	err := Call(func() error { panic("planted") })
	if err == nil || err.Error() != "panic: planted" || !Is(fmt.Errorf("read: %w", err)) {
		t.Errorf("a panic becomes %v", err)
	}
}

// TestLog wants the stack of a panic in the log, with the function that panicked.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(&out)
	Log(&log, fmt.Errorf("read: %w", Call(planted))).Msg("failed")
	if text := out.String(); !strings.Contains(text, "read: panic: planted") || !strings.Contains(text, "panics.planted") {
		t.Errorf("the log has %s", text)
	}
	out.Reset()
	if Log(&log, errors.New("failed")).Msg("failed"); strings.Contains(out.String(), "stack") {
		t.Errorf("an error has a stack: %s", out.String())
	}
}

func planted() error { panic("planted") }

// logged is a log that tells of each line.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestGo wants the process to survive a goroutine that panics.
func TestGo(t *testing.T) {
	lines := make(logged, 1)
	released := make(chan struct{})
	log := zerolog.New(lines)
	Go(&log, func() {
		defer close(released)
		panic("planted")
	})
	<-released
	if line := <-lines; !strings.Contains(line, "panic: planted") {
		t.Errorf("the log has %s", line)
	}
}
