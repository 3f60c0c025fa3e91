package exec_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/pace"
)

// TestLongComputation makes a conditional write compute what takes long: its turn ends it, and nothing is written.
func TestLongComputation(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, d decimal, v int")
	scheduler := pace.NewScheduler(pace.Options{
		Running: 1, Started: 1, PerParty: 1, Slice: time.Millisecond, Room: pace.NewRoom(1 << 20),
	})
	long := new(big.Int).Exp(big.NewInt(10), big.NewInt(99_999), nil)
	long = long.Add(long, big.NewInt(1))
	for _, statement := range []string{
		"UPDATE t SET d = log((decimal)?), v = 1 WHERE k = 1 IF v = null",
		"UPDATE t SET v = 1 WHERE k = 1 IF d = log((decimal)?)",
	} {
		p, err := s.prepare(statement)
		if err != nil {
			t.Fatal(err)
		}
		var party pace.Party
		var turn pace.Turn
		if err := turn.Begin(t.Context(), scheduler, &party, time.Now().Add(50*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err = s.execute(p, exec.Options{SerialConsistency: cqlerr.Serial, Turn: &turn},
			types.Value{Bytes: types.EncodeDecimal(long, 40_000)})
		turn.End()
		if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.WriteTimeout {
			t.Errorf("%s: %v, want a timeout", statement, err)
		}
	}
	if got := s.bound("SELECT v FROM t"); got != "" {
		t.Error(got)
	}
}

// TestDecisionsDoNotGiveWay decides on a turn whose slice is over while others wait for their turns, which they get
// only when the decision is made.
func TestDecisionsDoNotGiveWay(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, l list<int>, v int")
	s.must("INSERT INTO t (k, l, v) VALUES (1, [1, 2, 3], 1)")
	scheduler := pace.NewScheduler(pace.Options{
		Running: 1, Started: 2, PerParty: 2, Slice: time.Nanosecond, Room: pace.NewRoom(1 << 20),
	})
	var party pace.Party
	var turn, other pace.Turn
	if err := turn.Begin(t.Context(), scheduler, &party, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	defer turn.End()
	begun, over := make(chan error, 1), make(chan struct{})
	defer close(over)
	go func() {
		begun <- other.Begin(context.Background(), scheduler, &party, time.Now().Add(10*time.Second))
		<-over
		other.End()
	}()
	var b strings.Builder
	b.WriteString("BEGIN BATCH ")
	for i := range 60 { // so few are prepared without giving way
		fmt.Fprintf(&b, "UPDATE t SET l[0] = %d WHERE k = 1 IF v = 1; ", i)
	}
	p, err := s.prepare(b.String() + "APPLY BATCH")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.execute(p, exec.Options{SerialConsistency: cqlerr.Serial, Turn: &turn}); err != nil {
		t.Error(err)
	}
	turn.End()
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// repeating is an engine that runs an update's function three times, and calls a function before the last.
type repeating struct {
	engine.Engine
	beforeLast func()
}

func (r *repeating) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if r.beforeLast == nil {
		r.Engine.Update(ctx, guards, fn, done)
		return
	}
	conflict := errors.New("conflict")
	for range 2 {
		err := engine.Update(ctx, r.Engine, guards[0], func(txn engine.Txn) error { return cmp.Or(fn(txn), conflict) })
		if !errors.Is(err, conflict) {
			done(err)
			return
		}
	}
	r.beforeLast()
	r.Engine.Update(ctx, guards, fn, done)
}

// TestContentions lets the time of a conditional write end when it has been decided twice, in two ways: its own clock
// tells so, or who waits for it gives it up. The error has how often it was decided again.
func TestContentions(t *testing.T) {
	var r *repeating
	s := newSessionOn(t, func(e engine.Engine) engine.Engine {
		r = &repeating{Engine: e}
		return r
	})
	s.must(simple)
	s.must("USE ks")
	s.must("CREATE TABLE t (k int PRIMARY KEY, v int)")
	want := cqlerr.TimeoutDetail{Consistency: cqlerr.Serial, BlockFor: 1, WriteType: "CAS", Contentions: 1}
	check := func(err error) {
		t.Helper()
		e, ok := cqlerr.As(err)
		if !ok || e.Code != cqlerr.WriteTimeout || e.Detail != want ||
			e.Message != "CAS operation timed out: received 0 of 1 required responses after 1 contention retries" {
			t.Errorf("%v, want %+v", err, want)
		}
	}
	o := atSerial
	for _, statement := range []string{
		"INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS",
		"UPDATE t SET v = 1 WHERE k = 1 IF v = 7", // writes nothing, and is decided again too
	} {
		o.Decision = &exec.Decision{Until: time.Now().Add(time.Hour)}
		r.beforeLast = func() { o.Decision.Until = time.Unix(0, 0) }
		_, err := s.run(statement, o)
		check(err)
	}
	o.Decision = new(exec.Decision)
	r.beforeLast = func() {
		if e := o.Decision.GiveUp(cqlerr.Serial); e.Code != cqlerr.CASWriteUnknown {
			t.Errorf("%v, want an unknown outcome", e)
		}
	}
	if _, err := s.run("INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS", o); err != nil {
		t.Error(err)
	}
	o.Decision = new(exec.Decision)
	r.beforeLast = func() { check(o.Decision.GiveUp(cqlerr.Serial)) }
	_, err := s.run("UPDATE t SET v = 1 WHERE k = 1 IF v = 7", o)
	check(err)
	r.beforeLast = nil
	if got := s.bound("SELECT v FROM t"); got != "1\n" {
		t.Errorf("%q is stored", got)
	}
}

// TestUnsetCollections refuses an unset set or map in a condition also where a condition before it decides: Cassandra
// fails in both cases.
func TestUnsetCollections(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, s set<int>, m map<int, int>, f frozen<set<int>>, v int")
	for condition, refused := range map[string]bool{"v = 1 AND s = ?": true, "v = 1 AND m < ?": true, "v = 1 AND f = ?": false} {
		p, err := s.prepare("UPDATE t SET v = 2 WHERE k = 1 IF " + condition)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.execute(p, exec.Options{SerialConsistency: cqlerr.Serial}, types.Value{Unset: true})
		if (err != nil) != refused {
			t.Errorf("IF %s: %v", condition, err)
		}
	}
}

// A condition that is false counts more than one that compares with null, in either order. Cassandra compares them in
// the order of a hash table, and refuses a null if it comes first there.
func TestConditionsWithNull(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, a int, b int, m map<text, int>")
	s.must("INSERT INTO t (k, a, b) VALUES (1, 1, 1)")
	const refused = `error 2200: Invalid comparison with null for operator ">="` + "\n"
	update := func(k int, conditions string) string {
		p, err := s.prepare(fmt.Sprintf("UPDATE t SET b = 2 WHERE k = %d IF %s", k, conditions))
		if err != nil {
			return errorText(err)
		}
		r, err := s.execute(p, atSerial)
		if err != nil {
			return errorText(err)
		}
		return strings.Join(decode(r.(*exec.Rows))[0], " | ") + "\n"
	}
	for _, test := range []struct{ conditions, want string }{
		{"a >= null AND b = 3", "false | 1 | 1\n"},
		{"b = 3 AND a >= null", "false | 1 | 1\n"},
		{"m['a'] >= null AND b = 3", "false | null | 1\n"},
		{"b = 3 AND m['a'] >= null", "false | 1 | null\n"},
		{"a >= null AND b = 1", refused},
		{"b = 1 AND a >= null", refused},
	} {
		if got := update(1, test.conditions); got != test.want {
			t.Errorf("IF %s: got %swant %s", test.conditions, got, test.want)
		}
		if got, want := update(9, test.conditions), "false\n"; got != want {
			t.Errorf("IF %s without a row: got %swant %s", test.conditions, got, want)
		}
	}
}
