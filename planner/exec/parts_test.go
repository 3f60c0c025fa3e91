package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/pace"
)

// besides runs something on a turn beside which others may run, and returns how many did.
func besides(t *testing.T, ctx context.Context, running int, fn func(*pace.Turn)) int64 {
	t.Helper()
	s := pace.NewScheduler(pace.Options{
		Running: running, Started: 8, PerParty: 8, Slice: time.Millisecond, Room: pace.NewRoom(1 << 30),
	})
	var turn pace.Turn
	if err := turn.Begin(ctx, s, new(pace.Party), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fn(&turn)
	turn.End()
	underWay, ended := s.Turns()
	if underWay != 0 || s.Room.Used() != 0 {
		t.Errorf("%d turns are under way, %d bytes are held", underWay, s.Room.Used())
	}
	return ended - 1
}

// withParts is a session with a table of 10,000 partitions, and more than one row in some of them.
func withParts(t *testing.T) *session {
	s := newSession(t)
	withPartsOn(t, s)
	return s
}

func withPartsOn(t *testing.T, s *session) {
	t.Helper()
	s.must(simple)
	s.must("USE ks")
	s.must("CREATE TABLE t (k int, c int, v int, b bigint, x text, s int static, PRIMARY KEY (k, c))")
	for k := range 10_000 {
		s.bound("INSERT INTO t (k, c, v, b, x) VALUES (?, 1, ?, ?, ?)", integer(k), integer(k%1000-300), unset, text(fmt.Sprint(k)))
		switch {
		case k%10 == 0:
			s.bound("INSERT INTO t (k, c, v, s) VALUES (?, 2, ?, ?)", integer(k), integer(1<<31-1-k), integer(k))
			s.bound("INSERT INTO t (k, c) VALUES (?, 3)", integer(k))
		case k%17 == 0:
			s.bound("INSERT INTO t (k, c, b) VALUES (?, 1, ?)", integer(k), types.Value{Bytes: types.EncodeBigInt(int64(k) << 49)})
		case k%23 == 0:
			s.bound("DELETE FROM t WHERE k = ?", integer(k))
			s.bound("INSERT INTO t (k, s) VALUES (?, ?)", integer(k), integer(-k))
		}
	}
}

// TestParts aggregates a table in parts on several turns: the results are those of one, and so are warnings.
func TestParts(t *testing.T) {
	s := withParts(t)
	const (
		never = iota
		always
		inVain
		perhaps
	)
	check := func(query string, parts int) {
		t.Helper()
		p, err := s.prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 77, 5000} {
			want, wantErr := s.execute(p, exec.Options{PageSize: size})
			for _, running := range []int{1, 2, 5} {
				s.executor.ForgetTogether()
				var got exec.Result
				var err error
				var work exec.Work
				others := besides(t, t.Context(), running, func(turn *pace.Turn) {
					got, err = s.execute(p, exec.Options{PageSize: size, Turn: turn, Work: &work})
				})
				if !slices.Equal(outcome(want, wantErr), outcome(got, err)) {
					t.Errorf("%s, %d a page, %d processors: %s; in one %s", query, size, running, outcome(got, err), outcome(want, wantErr))
				}
				// On a busy machine a turn may end before all have begun. Another one takes its place, and finds nothing left.
				if least := int64(running - 1); parts == never && others != 0 || parts != perhaps && parts != never && others < least {
					t.Errorf("%s, %d processors: %d turns beside it", query, running, others)
				}
				if parts == always && (work.Rows < 10_000 || work.Rows > 14_000) {
					t.Errorf("%s: %d rows were read", query, work.Rows)
				}
			}
		}
	}
	for _, query := range []string{
		"SELECT count(*) FROM t", "SELECT count(v), count(s), count(x), count(1) FROM t", "SELECT min(v), max(v), sum(v), avg(v) FROM t",
		"SELECT min(b), max(b), sum(b), avg(b), k, c, min(writetime(b)) FROM t", "SELECT count(*) AS n FROM t WHERE c = 1 ALLOW FILTERING",
		"SELECT count(*), min(k), max(token(k)) FROM t WHERE v > 100 ALLOW FILTERING", "SELECT JSON count(*), sum(s) FROM t LIMIT 5",
		"SELECT count(*) FROM t WHERE token(k) > -9000000000000000000 AND token(k) < 9000000000000000000",
		"SELECT count(*) FROM t WHERE v = 5 ALLOW FILTERING", "SELECT max(cast(v AS bigint)), count(*) FROM t",
	} {
		check(query, always)
	}
	for _, query := range []string{"SELECT sum(1 / (v - 699)) FROM t", "SELECT count(v % (k - 9999)) FROM t"} {
		check(query, perhaps) // some rows cannot be computed with
	}
	check("SELECT count(s), sum(abs(v)) FROM t WHERE token(k) >= token(77)", perhaps)
	for _, query := range []string{
		"SELECT min(x) FROM t", "SELECT count(*), max(x) FROM t", "SELECT count(*) FROM t GROUP BY k", "SELECT sum(cast(v AS double)) FROM t",
		"SELECT k FROM t LIMIT 11000", "SELECT count(*) FROM t WHERE k = 5",
	} {
		check(query, never)
	}

	// Deleted rows: at first fewer than a warning is given of. All but a few are behind where the scan goes apart.
	keys := strings.Fields(s.bound("SELECT DISTINCT k FROM t WHERE token(k) > 0"))
	for i, k := range keys[len(keys)-1200:] {
		s.must("DELETE FROM t WHERE k = " + k + " AND c = 1")
		if i == 800 {
			check("SELECT count(*), max(c) FROM t", always)
		}
	}
	for _, query := range []string{"SELECT count(*) FROM t", "SELECT min(v), count(k) FROM t"} {
		check(query, inVain)
	}
	count, err := s.prepare("SELECT count(*) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		others := besides(t, t.Context(), 2, func(turn *pace.Turn) {
			if _, err := s.execute(count, exec.Options{Turn: turn}); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			s.executor.ForgetTogether()
		}
		if others < int64(i) || i == 0 && others != 0 {
			t.Errorf("scan %d after one in vain: %d turns beside it", i, others)
		}
	}
	for k := range 10_000 {
		if k%3 == 1 {
			s.bound("DELETE FROM t WHERE k = ? AND c = 1", integer(k))
		}
	}
	check("SELECT count(*) FROM t", never)
}

// outcome is a result as text, with its warnings.
func outcome(r exec.Result, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	rows := r.(*exec.Rows)
	var lines []string
	for _, row := range decode(rows) {
		lines = append(lines, strings.Join(row, " | "))
	}
	return append(lines, rows.Warnings...)
}

// panicking is an engine whose reads panic from one of them on.
type panicking struct {
	engine.Engine
	left *atomic.Int64
}

func (p panicking) View(fn func(engine.Reader) error) error {
	if p.left.Add(-1) < 0 {
		panic("as planned")
	}
	return p.Engine.View(fn)
}

// What panics in a part panics in the goroutine of the request, when all others have ended.
func TestPartsPanic(t *testing.T) {
	var left atomic.Int64
	left.Store(1 << 60)
	s := newSessionOn(t, func(e engine.Engine) engine.Engine { return panicking{e, &left} })
	withPartsOn(t, s)
	p, err := s.prepare("SELECT count(*) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	for reads := range int64(12) {
		besides(t, t.Context(), 3, func(turn *pace.Turn) {
			left.Store(1 + reads)
			defer left.Store(1 << 60)
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "as planned") {
					t.Errorf("after %d reads it panics with %s", reads, text)
				}
			}()
			_, _ = s.execute(p, exec.Options{Turn: turn})
			t.Errorf("after %d reads nothing panics", reads)
		})
	}
}

// A scan in parts ends with its context, and what it has begun ends before it.
func TestPartsEnd(t *testing.T) {
	s := withParts(t)
	p, err := s.prepare("SELECT count(*) FROM t")
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for after := time.Millisecond; ended < 3; after += after / 8 {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		besides(t, t.Context(), 4, func(turn *pace.Turn) {
			done := make(chan error, 1)
			s.executor.Execute(ctx, &exec.Request{Prepared: p, Options: exec.Options{Turn: turn, Consistency: cqlerr.One, Version: 4}},
				func(_ exec.Result, err error) { done <- err })
			switch err := <-done; {
			case err == nil:
				ended++
			case !errors.Is(err, context.DeadlineExceeded):
				t.Error(err)
			}
		})
		cancel()
	}
}
