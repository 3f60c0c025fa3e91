package wire

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
)

var (
	addr   = flag.String("addr", "", "replay against the server at this address instead of one in this process")
	update = flag.Bool("update", false, "write verdicts.txt and ours.txt, or for a Cassandra at -addr cassandra.txt, again")
)

// silenceWait is how long nothing must come where no answer was recorded.
const silenceWait = 300 * time.Millisecond

// wrongWait is how long to wait for more after a wrong answer.
var wrongWait = 100 * time.Millisecond

// TestMain lets files wait for their servers side by side: there are more of them than processors.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestReplay sends every recorded request and compares the answer.
func TestReplay(t *testing.T) {
	paths, err := filepath.Glob("recorded/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	v := readVerdicts(t, listFor(t))
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
		if v.list == verdictsFile {
			v.writeOurs(t, all)
		}
		return
	}
	v.check(t, all)
}

func replayFile(t *testing.T, path string, v *verdicts) []outcome {
	all := readRecording(t, path)
	var outcomes []outcome
	if v.skipsFile(all[0].file) {
		for _, x := range all {
			outcomes = append(outcomes, outcome{exchange: x, skipped: true})
		}
		return outcomes
	}
	to := *addr
	if to == "" {
		to = cqltest.RunT(t, functions.Enable(), cqltest.WithStrictReplicas()).Addr()
	}
	r := &replay{addr: to, verdicts: v, conns: map[string]*connection{}, texts: map[string]string{}}
	setUp(t, to, all[0].file, all, r.texts)
	defer r.close()
	inserted := false
	for _, x := range all {
		o := outcome{exchange: x, skipped: v.skips(x)}
		if o.skipped {
			outcomes = append(outcomes, o)
			continue
		}
		if scalarRow(x) != nil && !inserted {
			inserted = true
			insertScalars(t, to, all)
		}
		if err := r.exchange(t, x, &o); err != nil {
			o.difference = err.Error()
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// replay has the connections of one file.
type replay struct {
	addr     string
	verdicts *verdicts
	conns    map[string]*connection
	texts    map[string]string // of prepared statements, by id in hex
	trace    [][2]string       // texts of tracing ids: the recorded one, and the one that came instead
}

func (r *replay) close() {
	for _, c := range r.conns {
		c.Close()
	}
}

// exchange replays one block; the error describes the difference. The outcome gets the answer if it is known to differ.
func (r *replay) exchange(t *testing.T, x *exchange, o *outcome) (err error) {
	if x.cut {
		return errors.New("the recording does not have the whole request")
	}
	c := r.conns[x.conn]
	if c == nil {
		if c, err = open(r.addr, x.state); err != nil {
			return err
		}
		r.conns[x.conn] = c
	}
	if err := r.before(t, x, c); err != nil {
		return err
	}
	if r.verdicts.differs(x) {
		var recorded []expectedEnvelope
		if o.ours, recorded, err = r.askOurs(x, c, r.verdicts.ours[x.name()]); err == nil && !o.ours.isRecorded(x, recorded) {
			err = fmt.Errorf("got\n%s", o.ours)
		}
		return err
	}
	want, all, err := r.ask(x, c)
	for i, e := range all {
		if i < len(want) {
			r.noteTraceID(&want[i].envelope, e)
		}
	}
	if x.is(opPrepare) {
		r.texts[idOf(x.text())] = x.text()
	}
	return err
}

// ask sends a request and receives its answers. A trace is written while the traced request is answered, so it is
// asked for until it is there.
func (r *replay) ask(x *exchange, c *connection) (want []expectedEnvelope, all []*envelope, err error) {
	request := r.withTraceIDs(x.request)
	for range 50 {
		framed := c.framed
		if err := c.send(request, x.state.raw); err != nil {
			return nil, nil, err
		}
		if want, err = expected(x, framed, c.compression); err != nil {
			return nil, nil, fmt.Errorf("the recording: %w", err)
		}
		if all, err = c.receive(x, want); err == nil || bytes.Equal(request, x.request) {
			break
		}
		time.Sleep(traceWait)
	}
	return want, all, err
}

// traceWait is between two questions for a trace.
const traceWait = 20 * time.Millisecond

// noteTraceID keeps under which id a request was traced.
func (r *replay) noteTraceID(want, got *envelope) {
	if want.header[1]&got.header[1]&flagTracing != 0 && len(want.body) >= 16 && len(got.body) >= 16 {
		text := func(b []byte) string { return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16]) }
		r.trace = append(r.trace, [2]string{text(want.body), text(got.body)})
	}
}

// withTraceIDs asks about the traces of this replay instead of the recorded ones.
func (r *replay) withTraceIDs(request []byte) []byte {
	for _, ids := range r.trace {
		request = bytes.ReplaceAll(request, []byte(ids[0]), []byte(ids[1]))
	}
	return request
}

// reorder puts the answer that has come first: requests that were sent at once are answered in any order.
func reorder(want []expectedEnvelope, got *envelope) {
	for i := range want {
		if want[0].stream() != got.stream() && want[i].stream() == got.stream() && want[0].opcode() != opEvent {
			want[0], want[i] = want[i], want[0]
		}
	}
}

// receive reads the expected envelopes and compares them; it returns all that came.
func (c *connection) receive(x *exchange, want []expectedEnvelope) (all []*envelope, err error) {
	var wrong []string
	wait := answerWait
	more := false // answers than those compared
	for i := range want {
		got, err := c.next(wait)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("want %s\n got %v", describe(&want[i].envelope), err))
			break
		}
		all = append(all, got)
		reorder(want[i:], got)
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
		all = append(all, c.drain()...) // so that the next exchange does not read answers to this one
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
		return all, errors.New(strings.Join(wrong, "\n"))
	}
	return all, nil
}
