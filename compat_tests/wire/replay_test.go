package wire

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/server/cqltest"
)

var (
	addr   = flag.String("addr", "", "replay against the server at this address instead of one in this process")
	update = flag.Bool("update", false, "write verdicts.txt again")
)

// How long to wait: for an answer that is due, for more after a wrong one, and to see that nothing comes.
const (
	answerWait  = 3 * time.Second
	wrongWait   = 100 * time.Millisecond
	silenceWait = 300 * time.Millisecond
)

// TestReplay sends every recorded request and compares what comes back.
func TestReplay(t *testing.T) {
	paths, err := filepath.Glob("recorded/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	v := readVerdicts(t)
	outcomes := make([][]outcome, len(paths))
	t.Run("files", func(t *testing.T) {
		for i, path := range paths {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
				if *addr == "" {
					t.Parallel()
				}
				outcomes[i] = replayFile(t, path, v)
			})
		}
	})
	var all []outcome
	for _, o := range outcomes {
		all = append(all, o...)
	}
	if *update {
		v.update(t, all)
		return
	}
	v.check(t, all)
}

func replayFile(t *testing.T, path string, v *verdicts) []outcome {
	all := readRecording(t, path)
	if reason, ok := v.of[all[0].file]; ok {
		var skipped []outcome
		for _, x := range all {
			skipped = append(skipped, outcome{x, reason})
		}
		return skipped
	}
	to := *addr
	if to == "" {
		to = cqltest.RunT(t).Addr()
	}
	setUp(t, to, all[0].file, all)
	r := &replay{addr: to, conns: map[string]*connection{}}
	defer r.close()
	var outcomes []outcome
	inserted := false
	for _, x := range all {
		o := outcome{exchange: x}
		if scalarRow(x) != nil && !inserted {
			inserted = true
			insertScalars(t, to, all)
		}
		if err := r.exchange(t, x); err != nil {
			o.difference = err.Error()
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// replay has the connections of one file.
type replay struct {
	addr  string
	conns map[string]*connection
}

func (r *replay) close() {
	for _, c := range r.conns {
		c.Close()
	}
}

// beforehand is a definition that another connection ran before the exchange, as its title says.
var beforehand = regexp.MustCompile(`after ((?:CREATE|DROP|TRUNCATE|ALTER KEYSPACE|ALTER TABLE) .+\..+|ALTER KEYSPACE .+)$`)

// exchange replays one block; the error is how it is not equal.
func (r *replay) exchange(t *testing.T, x *exchange) error {
	if x.cut {
		return errors.New("the recording does not have the whole request")
	}
	if m := beforehand.FindStringSubmatch(x.title); m != nil {
		c, err := open(r.addr, connState{version: 4, ready: true})
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.query(m[1]); err != nil {
			t.Logf("%s: %s: %v", x.name(), m[1], err)
		}
	}
	c := r.conns[x.conn]
	if c == nil {
		var err error
		if c, err = open(r.addr, x.state); err != nil {
			return err
		}
		r.conns[x.conn] = c
	}
	if strings.HasPrefix(x.title, "after a failed v5 STARTUP,") {
		if err := c.startRefused(); err != nil {
			return err
		}
	}
	framed := c.framed
	if err := c.send(x.request, x.state.raw); err != nil {
		return err
	}
	want, err := expected(x, framed, c.compression)
	if err != nil {
		return fmt.Errorf("the recording: %w", err)
	}
	return c.receive(x, want)
}

// receive reads what is due and compares it.
func (c *connection) receive(x *exchange, want []expectedEnvelope) error {
	var wrong []string
	wait := answerWait
	more := false // answers than those compared
	for i := range want {
		got, err := c.next(wait)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("want %s\n got %v", describe(&want[i].envelope), err))
			break
		}
		if !want[i].matches(got) {
			wrong = append(wrong, fmt.Sprintf("want %s\n got %s", describe(&want[i].envelope), describe(got)))
			wait = wrongWait
		}
	}
	for _, a := range x.answers {
		more = more || a.cut
	}
	switch {
	case len(wrong) > 0 || more:
		for { // so that the next exchange does not read what belongs to this one
			if _, err := c.next(wrongWait); err != nil {
				break
			}
		}
	case x.closed && !strings.Contains(x.varies, "number of answers"):
		if _, err := c.next(answerWait); err == nil || errors.Is(err, errSilent) {
			wrong = append(wrong, "want the connection closed")
		}
	case x.noAnswer:
		if got, err := c.next(silenceWait); err == nil {
			wrong = append(wrong, "want no answer, got "+describe(got))
		} else if !errors.Is(err, errSilent) {
			wrong = append(wrong, "want no answer and the connection open, got "+err.Error())
		}
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	return nil
}
