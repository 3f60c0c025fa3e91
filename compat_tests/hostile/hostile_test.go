package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol"
)

// built is cqld, built once for all tests.
var built string

func TestMain(m *testing.M) {
	if beAttackers() {
		return
	}
	folder, err := os.MkdirTemp("", "cqld-hostile-")
	if err == nil {
		built = filepath.Join(folder, "cqld")
		err = process.Build(built)
	}
	code := 1
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(folder) // it is a temporary one
	os.Exit(code)
}

// tiny fills the tables in no time and has few clients attack.
var tiny = sizes{Partition: 500, Table: 500, Big: 2, Heavy: 10, SortedPartitions: 2, Sets: 2, Huge: 2, Share: 50}

// testTrial is a trial of the attacks with these names, each shorter than in the command.
func testTrial(t *testing.T, names string) *trial {
	t.Helper()
	chosen, err := choose(names)
	if err != nil {
		t.Fatal(err)
	}
	chosen = slices.Clone(chosen)
	for i := range chosen {
		chosen[i].press, chosen[i].stop = time.Second, false
	}
	s := settings{attacks: chosen, size: tiny, safety: 3 << 30, time: time.Hour, binary: built, memory: true}
	trial := newTrial(s, t.TempDir())
	trial.pace = pace{
		least: 100 * time.Millisecond, settle: 2 * time.Second,
		stopAfter: 200 * time.Millisecond, window: 50 * time.Millisecond,
	}
	return trial
}

// resultsOf runs a trial.
func resultsOf(t *testing.T, trial *trial) []*result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results, err := trial.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestAttack is a short run of the command: figures are there, and the neighbour gets its answers.
func TestAttack(t *testing.T) {
	trial := testTrial(t, "unread,idle")
	for _, r := range resultsOf(t, trial) {
		if r.killed || r.ended || len(r.seen.errors)+len(r.later.errors) > 0 {
			t.Errorf("%s: %v %q", r.attack.name, r.broken, r.log)
		}
		if r.before.memory.Anon == 0 || r.before.goroutines == 0 || r.before.descriptors == 0 ||
			r.peak.memory.RSS < r.before.memory.Anon || len(r.seen.reads) == 0 || len(r.seen.writes) == 0 ||
			len(r.seen.newcomers)+len(r.later.newcomers) == 0 {
			t.Errorf("%s: figures are missing: %+v", r.attack.name, r)
		}
		var table bytes.Buffer
		printTable(&table, []*result{r})
		if !strings.Contains(table.String(), r.attack.summary) {
			t.Errorf("the table is\n%s", table.String())
		}
	}
}

// TestStop tells a server to stop while clients are connected, and starts another one on the same data for the next.
func TestStop(t *testing.T) {
	trial := testTrial(t, "silent")
	trial.memory = false
	for i := range trial.attacks {
		trial.attacks[i].stop = true
	}
	stops := 0
	for _, r := range resultsOf(t, trial) {
		if r.stopped != nil {
			stops++
			if r.stopped.took <= 0 || r.stopped.took >= stopLimit || r.stopped.linger > r.stopped.took {
				t.Errorf("%s: %+v", r.attack.name, r.stopped)
			}
			if r.stopped.exit != "" || !strings.Contains(r.stopped.log, "stopped") {
				t.Errorf("%s: %s %s", r.attack.name, r.stopped.exit, r.stopped.log)
			}
		}
	}
	if stops != 1 {
		t.Errorf("%d stops", stops)
	}
}

// TestCutOff does not take tables that are half full.
func TestCutOff(t *testing.T) {
	trial := testTrial(t, "idle")
	trial.size = full
	fill := fillAttack
	fill.press = time.Millisecond
	_, err := trial.attack(t.Context(), fill, false)
	trial.end()
	if err == nil || !strings.Contains(err.Error(), "not done") {
		t.Error(err)
	}
}

// TestCutOffConnection has an attack end while it waits for an answer: connections and the attack notice that at the
// same time, and either may be first.
func TestCutOffConnection(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := order{Attack: fillAttack.name, Press: 5 * time.Millisecond, Addr: silent.Addr().String(), Size: tiny}
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), o.Press)
		r := o.attack(ctx)
		cancel()
		if !strings.Contains(r.Failed, "not done") {
			t.Fatalf("the attack says %q", r.Failed)
		}
	}
}

// TestSafety kills a server that takes more than it may.
func TestSafety(t *testing.T) {
	trial := testTrial(t, "idle")
	if err := trial.start(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	defer trial.end()
	w := trial.server.watch
	w.mu.Lock()
	w.safety = 1 << 20
	w.mu.Unlock()
	waitFor(t, "the end", w.gone)
	r, err := trial.attack(t.Context(), trial.attacks[0], false)
	if err != nil {
		t.Fatal(err)
	}
	if r.judge(); !r.killed || len(r.broken) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestFrozen has the neighbour notice that a server does nothing for a while, and that it is gone.
func TestFrozen(t *testing.T) {
	trial := testTrial(t, "idle")
	if err := trial.start(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	defer trial.end()
	s := trial.server
	waitFor(t, "an answer", func() bool { return !s.neighbour.last().IsZero() })
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	frozen := time.Now()
	time.Sleep(3 * boundLatency) // the measured delay
	if slowest := s.neighbour.take().reads.at(1); slowest < boundLatency {
		t.Errorf("a read has waited for %s while the server is frozen", slowest)
	}
	if err := s.process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "an answer", func() bool { return s.neighbour.last().After(frozen) })
	waitFor(t, "the slow answers", func() bool { return s.neighbour.take().writes.at(1) >= boundLatency })
	if err := s.process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end", s.watch.gone)
	waitFor(t, "an error", func() bool { return len(s.neighbour.take().errors) > 0 })
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for began := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestJudge breaks each bound alone.
func TestJudge(t *testing.T) {
	slow := latencies{2 * boundLatency}
	for _, c := range []struct {
		name, broken string
		change       func(r *result)
	}{
		{"nothing", "", func(*result) {}},
		{"memory", "anonymous memory", func(r *result) { r.peak.memory.Anon = boundMemory + 1 }},
		{"memory of the data", "", func(r *result) { r.peak.memory.Anon, r.resident = boundMemory+1, 1 }},
		{"limit", "the limit is", func(r *result) { r.peak.memory.Anon, r.limit = 130<<20, 100<<20 }},
		{"near the limit", "", func(r *result) { r.peak.memory.Anon, r.limit = 99<<20, 100<<20 }},
		{"reads", "reads took", func(r *result) { r.seen.reads = slow }},
		{"writes", "writes took", func(r *result) { r.seen.writes = slow }},
		{"no writes", "no writes", func(r *result) { r.seen.writes = nil }},
		{"visit", "a client that came", func(r *result) { r.seen.newcomers = latencies{2 * boundVisit} }},
		{"errors", "got 3 times: no", func(r *result) { r.seen.errors = map[string]int{"no": 3} }},
		{"errors afterwards", "got 1 times: no", func(r *result) { r.later.errors = map[string]int{"no": 1} }},
		{"answer", "a request took", func(r *result) { r.attack.within, r.report.Slowest = time.Second, 2*time.Second }},
		{"failed", "could not go on", func(r *result) { r.report.Failed = "no" }},
		{"busy", "busy", func(r *result) { r.busy = boundBusy + 1 }},
		{"unsettled", "not as before", func(r *result) { r.unsettled, r.after.goroutines = true, 1 }},
		{"mute", "did not tell", func(r *result) { r.unsettled = true }},
		{"killed", "killed at", func(r *result) { r.killed, r.ended = true, true }},
		{"ended", "panic", func(r *result) { r.ended, r.log = true, "panic" }},
		{"stopped late", "to end after", func(r *result) { r.stopped = &stopping{linger: boundStop + 1} }},
		{"never stopped", "did not end", func(r *result) { r.stopped = &stopping{never: true} }},
		{"stopped", "", func(r *result) { r.stopped = &stopping{took: boundStop + 1, linger: 1} }},
	} {
		r := &result{seen: experience{reads: latencies{1}, writes: latencies{1}}}
		c.change(r)
		r.judge()
		if c.broken == "" && len(r.broken) > 0 || c.broken != "" && (len(r.broken) != 1 || !strings.Contains(r.broken[0], c.broken)) {
			t.Errorf("%s: %q", c.name, r.broken)
		}
	}
}

// TestAsBefore compares the state of a process.
func TestAsBefore(t *testing.T) {
	before := state{process.Memory{RSS: 1 << 30, Anon: restingAnon}, 10, 10}
	for _, c := range []struct {
		change func(s *state)
		want   bool
	}{
		{func(*state) {}, true},
		{func(s *state) { s.memory.RSS *= 2 }, true},
		{func(s *state) { s.memory.Anon += slackAnon }, true},
		{func(s *state) { s.memory.Anon += 2 * slackAnon }, false},
		{func(s *state) { s.goroutines += 2 * slackGoroutines }, false},
		{func(s *state) { s.descriptors += 2 * slackDescriptors }, false},
	} {
		after := before
		if c.change(&after); after.asBefore(before) != c.want {
			t.Errorf("%+v after %+v", after, before)
		}
	}
}

// TestLatencies takes shares of latencies.
func TestLatencies(t *testing.T) {
	var l latencies
	for i := range 1000 {
		l = append(l, time.Duration(999-i))
	}
	if l.at(0.5) != 500 || l.at(0.99) != 990 || l.at(1) != 999 || (latencies{}).at(0.5) != 0 {
		t.Error(l.at(0.5), l.at(0.99), l.at(1))
	}
}

// TestFrames looks at frames that are made by hand.
func TestFrames(t *testing.T) {
	frame := compressedQuery(longListText())
	h := protocol.ParseHeader(frame)
	body, err := protocol.LZ4.Body(h, frame[protocol.HeaderSize:], nil, largestFrame)
	if err != nil || len(body) < 15<<20 || len(frame) > 70<<10 {
		t.Errorf("%d bytes unfold to %d: %v", len(frame), len(body), err)
	}
	frame = unfinishedFrame(protocol.OpQuery)
	if h := protocol.ParseHeader(frame); len(frame)+1 != largestFrame || int(h.Length) != len(frame)+1-protocol.HeaderSize {
		t.Errorf("%d bytes with a header of %d", len(frame), h.Length)
	}
	segments := protocol.Segments{Limit: largestFrame}
	bytes, n := unfinishedSegments(protocol.V5), 0
	for {
		envelopes, used, err := segments.Next(bytes[n:])
		if err != nil || len(envelopes) > 0 {
			t.Fatalf("%d bytes of envelopes, %v", len(envelopes), err)
		}
		if used == 0 {
			break
		}
		n += used
	}
	if left := len(bytes) - n; left == 0 || left > protocol.MaxSegmentSize {
		t.Errorf("%d bytes are left of the last segment", left)
	}
}

// TestChoose finds attacks by their names, which differ.
func TestChoose(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range attacks {
		if seen[a.name] || a.summary == "" || a.run == nil || a.length() > 30*time.Second {
			t.Errorf("%q", a.name)
		}
		seen[a.name] = true
	}
	if a, err := choose("idle,unread"); err != nil || len(a) != 2 || a[0].name != "idle" {
		t.Error(a, err)
	}
	if _, err := choose("idle,nope"); err == nil {
		t.Error("an attack that is not there is found")
	}
	if n, err := parseBytes("512MiB"); n != 512<<20 || err != nil {
		t.Error(n, err)
	}
	if _, err := parseBytes("512"); err == nil {
		t.Error("512 is a size")
	}
}
