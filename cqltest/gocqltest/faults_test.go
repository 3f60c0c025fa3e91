package gocqltest_test

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
)

// TestFaultEffects drops, delays, forgets and garbles: the client sees it, and what was to be applied is applied.
func TestFaultEffects(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s, func(c *gocql.ClusterConfig) { c.RetryPolicy = nil })
	s.Exec(t, "CREATE TABLE t_faulteffects_1.t (k int PRIMARY KEY)")
	insert := func(k int) error { return session.Query("INSERT INTO t (k) VALUES (?)", k).Exec() }
	for k := range 2 {
		if err := insert(k); err != nil {
			t.Fatal(err)
		}
	}
	present := func(k int) bool {
		return s.Query(t, "SELECT count(*) FROM t_faulteffects_1.t WHERE k = ?", k).String() == "1"
	}
	for i, test := range []struct {
		act     cqltest.Act
		err     string // part of it
		applied bool
	}{
		{cqltest.Drop(), "EOF", false},
		{cqltest.Drop().AfterApplying(), "EOF", true},
		{cqltest.Malformed(), "not enough bytes", false},
		{cqltest.Malformed().AfterApplying(), "not enough bytes", true},
		{cqltest.Overloaded(), "overloaded", false},
		{cqltest.Overloaded().AfterApplying(), "overloaded", true},
		{cqltest.Unprepared(), "", true},
		{cqltest.EchoPayload(), "", true},
	} {
		k := 10 + i
		rule := s.Faults().Add(t, cqltest.Fault{Kind: "insert", Times: 1, Act: test.act})
		err := insert(k)
		if (test.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v: the error is %v", test.act, err)
		}
		if present(k) != test.applied {
			t.Errorf("%v: applied %v, want %v", test.act, !test.applied, test.applied)
		}
		if rule.Acted() != 1 {
			t.Errorf("%v has acted %d times", test.act, rule.Acted())
		}
		s.Faults().Clear()
		connects(t, func() error { return insert(1) })
	}
	s.Faults().Add(t, cqltest.Fault{Delay: 50 * time.Millisecond, Times: 1})
	began := time.Now()
	if err := insert(1); err != nil || time.Since(began) < 50*time.Millisecond {
		t.Errorf("a delayed insert took %v, %v", time.Since(began), err)
	}
	s.Faults().Add(t, cqltest.Fault{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := session.Query("INSERT INTO t (k) VALUES (99)").WithContext(ctx).Exec()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error of an insert that is delayed for an hour is %v", err)
	}
}

// connects waits until a driver has connected again.
func connects(t *testing.T, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the driver does not come back: %v", err)
		}
	}
}

// TestGocqlSwitches has as rules what gocql's own suite wants of a server: writes to a keyspace fail, and custom
// payloads come back.
func TestGocqlSwitches(t *testing.T) {
	s := cqltest.RunT(t)
	s.Exec(t, "CREATE KEYSPACE test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE test.t (k int PRIMARY KEY)")
	s.Faults().Add(t, cqltest.Fault{
		Keyspace: "test", Kind: "write",
		Act: cqltest.WriteFailure(cqltest.SameLevel, 0, 1, "SIMPLE", cqltest.Reasons{netip.MustParseAddr("127.0.0.1"): 0}),
	})
	s.Faults().Add(t, cqltest.Fault{Act: cqltest.EchoPayload()})
	session := gocqltest.Session(t, s)
	var failure *gocql.RequestErrWriteFailure
	if err := session.Query("INSERT INTO test.t (k) VALUES (1)").Exec(); !errors.As(err, &failure) || failure.NumFailures != 1 {
		t.Errorf("the error is %v", err)
	}
	run(t, session, "CREATE TABLE other (k int PRIMARY KEY)")
	for _, q := range []string{"INSERT INTO other (k) VALUES (1)", "SELECT * FROM other", "SELECT * FROM test.t"} {
		for _, payload := range []map[string][]byte{{"a": {10, 20}, "b": {20, 30}}, {"a": {10, 20}, "b": nil}, nil} {
			iter := session.Query(q).CustomPayload(payload).Iter()
			if got := iter.GetCustomPayload(); !maps.EqualFunc(got, payload, func(a, b []byte) bool {
				return string(a) == string(b) && (a == nil) == (b == nil)
			}) {
				t.Errorf("%s: the payload is %v, want %v", q, got, payload)
			}
			if err := iter.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
