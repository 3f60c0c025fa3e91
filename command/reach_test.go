package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
)

// TestReach follows what calls tell of a cluster: its store and its clock fail and answer by themselves, and some
// errors are not the cluster's.
func TestReach(t *testing.T) {
	c := newEngineCalls()
	c.reach = &reach{calls: c}
	for _, step := range []struct {
		call string
		err  error
		down bool
	}{
		{"commit", nil, false},
		{"commit", fmt.Errorf("late: %w", engine.ErrUnknown), true},
		{"time", nil, true},
		{"update", context.DeadlineExceeded, true}, // the caller's
		{"update", engine.ErrConflict, false},      // which the cluster has answered
		{"time", errDown, true},
		{"get", nil, true},
		{"commit", engine.ErrTooLarge, true},
		{"view", nil, false}, // which takes a timestamp
		{"get", errDown, true},
		{"get", nil, false},
		{"update", context.Canceled, false},
	} {
		c.end(c.beginShort(step.call), step.err)
		if down := c.reach.outage() != nil; down != step.down {
			t.Errorf("after %s with %v the cluster is down: %v, want %v", step.call, step.err, down, step.down)
		}
	}
}

// TestOutageLog logs outages that are long enough, each with one line when it begins and one when it has ended.
func TestOutageLog(t *testing.T) {
	var out bytes.Buffer
	var o outageLog
	log, begin := zerolog.New(&out), time.Now()
	const tick = 500 * time.Millisecond
	for i, c := range "--x--xxxx-xx------xxx-----" { // a moment; a long one with a gap; another one
		var err error
		if c == 'x' {
			err = errors.New("down")
		}
		o.note(err, begin.Add(time.Duration(i)*tick), log)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		`{"level":"error","error":"down","message":"the cluster does not answer: requests fail until it does"}`,
		`{"level":"info","after":3000,"message":"the cluster answers again"}`,
		`{"level":"error","error":"down","message":"the cluster does not answer: requests fail until it does"}`,
		`{"level":"info","after":1000,"message":"the cluster answers again"}`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log is\n%s", &out)
	}
}
