package cqltest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	gocqlv2 "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/cqltest/gocqlv2test"
	"github.com/cqld/cqld/server"
)

// fields are the exported fields of a driver's error, with its code, as text.
func fields(err error) string {
	v := reflect.Indirect(reflect.ValueOf(err))
	if v.Kind() != reflect.Struct {
		return err.Error()
	}
	parts := []string{v.Type().Name()}
	if coded, ok := err.(interface{ Code() int }); ok {
		parts = append(parts, fmt.Sprintf("%#x", coded.Code()))
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			parts = append(parts, fmt.Sprintf("%s=%v", f.Name, v.Field(i)))
		}
	}
	return strings.Join(parts, " ")
}

// TestFaultTable has each error reach both lines of gocql, on protocols v4 and v5, with all its fields.
func TestFaultTable(t *testing.T) {
	s := cqltest.RunT(t)
	v4, v5 := gocqltest.Session(t, s), gocqlv2test.Session(t, s)
	for _, keyspace := range []string{"t_faulttable_1", "t_faulttable_2"} {
		s.Exec(t, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY, v int)")
	}
	one, two := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	read, write := "SELECT v FROM t WHERE k = ?", "INSERT INTO t (k) VALUES (?)"
	for _, test := range []struct {
		act       cqltest.Act
		statement string
		v4, v5    string
	}{
		{
			cqltest.Unavailable(cqlerr.EachQuorum, 4, 1), read,
			"RequestErrUnavailable 0x1000 Consistency=EACH_QUORUM Required=4 Alive=1", "",
		},
		{
			cqltest.ReadTimeout(cqlerr.Three, 2, 3, true), read,
			"RequestErrReadTimeout 0x1200 Consistency=THREE Received=2 BlockFor=3 DataPresent=1", "",
		},
		{
			cqltest.WriteTimeout(cqlerr.All, 1, 3, "BATCH_LOG"), write,
			"RequestErrWriteTimeout 0x1100 Consistency=ALL Received=1 BlockFor=3 WriteType=BATCH_LOG", "",
		},
		{
			cqltest.ReadFailure(cqlerr.Two, 1, 2, false, cqltest.Reasons{one: 1}), read,
			"RequestErrReadFailure 0x1300 Consistency=TWO Received=1 BlockFor=2 NumFailures=1 DataPresent=false ErrorMap=map[]",
			"RequestErrReadFailure 0x1300 Consistency=TWO Received=1 BlockFor=2 NumFailures=1 DataPresent=false " +
				"ErrorMap=map[127.0.0.1:1]",
		},
		{
			cqltest.WriteFailure(cqlerr.Quorum, 1, 3, "UNLOGGED_BATCH", cqltest.Reasons{one: 0, two: 4}), write,
			"RequestErrWriteFailure 0x1500 Consistency=QUORUM Received=1 BlockFor=3 NumFailures=2 WriteType=UNLOGGED_BATCH " +
				"ErrorMap=map[]",
			"RequestErrWriteFailure 0x1500 Consistency=QUORUM Received=1 BlockFor=3 NumFailures=2 WriteType=UNLOGGED_BATCH " +
				"ErrorMap=map[127.0.0.1:0 127.0.0.2:4]",
		},
		{
			cqltest.CASWriteUnknown(cqlerr.Serial, 1, 2), write,
			"RequestErrWriteTimeout 0x1100 Consistency=UNKNOWN_CONS_0x8 Received=1 BlockFor=2 WriteType=CAS", // SERIAL
			"RequestErrCASWriteUnknown 0x1700 Consistency=SERIAL Received=1 BlockFor=2",
		},
		{cqltest.Overloaded(), read, "errorFrame 0x1001", "RequestErrOverloaded 0x1001"},
		{cqltest.IsBootstrapping(), read, "errorFrame 0x1002", "RequestErrBootstrapping 0x1002"},
		{cqltest.TruncateError(), read, "errorFrame 0x1003", "RequestErrTruncate 0x1003"},
		{cqltest.ServerError("out of luck"), read, "errorFrame 0x0", ""},
		{cqltest.Fail(cqlerr.Invalidf("not today")), write, "errorFrame 0x2200", "RequestErrInvalid 0x2200"},
		{
			cqltest.Fail(cqlerr.FunctionFailed("f", []string{"int"}, "no")), read,
			"RequestErrFunctionFailure 0x1400 Keyspace=system Function=f ArgTypes=[int]", "",
		},
		{cqltest.Fail(errors.New("any other")), read, "errorFrame 0x0", ""},
		{cqltest.Unavailable(cqltest.SameLevel, 2, 0), read, "RequestErrUnavailable 0x1000 Consistency=LOCAL_ONE Required=2 Alive=0", ""},
		{
			cqltest.WriteTimeout(cqltest.SameLevel, 0, 1, "SIMPLE").AfterApplying(), write,
			"RequestErrWriteTimeout 0x1100 Consistency=LOCAL_ONE Received=0 BlockFor=1 WriteType=SIMPLE", "",
		},
	} {
		if test.v5 == "" {
			test.v5 = test.v4
		}
		rule := s.Faults().Add(cqltest.Fault{Table: "t", Act: test.act})
		err4 := v4.Query(test.statement, 1).Consistency(gocql.LocalOne).Exec()
		err5 := v5.Query(test.statement, 1).Consistency(gocqlv2.LocalOne).Exec()
		if err4 == nil || err5 == nil {
			t.Errorf("%v: the errors are %v and %v", test.act, err4, err5)
			continue
		}
		if got := fields(err4); got != test.v4 {
			t.Errorf("%v on v4:\n%s, want\n%s", test.act, got, test.v4)
		}
		if got := fields(err5); got != test.v5 {
			t.Errorf("%v on v5:\n%s, want\n%s", test.act, got, test.v5)
		}
		if rule.Acted() < 2 {
			t.Errorf("%v has acted %d times", test.act, rule.Acted())
		}
		rule.Remove()
	}
	if err := v5.Query(read, 1).Scan(new(int)); err != nil && !errors.Is(err, gocqlv2.ErrNotFound) {
		t.Errorf("without rules: %v", err)
	}
}

// TestFaultMatches has rules of every kind meet requests: each acts on those that it is about.
func TestFaultMatches(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s)
	keyspace := "t_faultmatches_1"
	s.Exec(t, "USE "+keyspace, "CREATE TABLE t (k int PRIMARY KEY, v int)", "CREATE TABLE u (k int PRIMARY KEY)")
	requests := []struct {
		name string
		run  func() error
	}{
		{"select t", func() error { return session.Query("SELECT * FROM t WHERE k = ?", 1).Exec() }},
		{"insert t", func() error { return session.Query("INSERT INTO t (k, v) VALUES (?, ?)", 1, 2).Exec() }},
		{"update t", func() error { return session.Query("UPDATE t SET v = 3 WHERE k = 1 IF v = 2").Exec() }},
		{"select u", func() error { return session.Query("SELECT * FROM u").Consistency(gocql.All).Exec() }},
		{"batch", func() error {
			b := session.NewBatch(gocql.LoggedBatch)
			b.Query("INSERT INTO t (k) VALUES (5)")
			b.Query("DELETE FROM u WHERE k = 1")
			return session.ExecuteBatch(b)
		}},
		{"truncate u", func() error { return session.Query("TRUNCATE u").Exec() }},
		{"create v", func() error { return session.Query("CREATE TABLE IF NOT EXISTS v (k int PRIMARY KEY)").Exec() }},
		{"system", func() error { return session.Query("SELECT key FROM system.local").Exec() }},
		{"wrong", func() error { return session.Query("SELECT nope FROM t").Exec() }},
	}
	for _, test := range []struct {
		fault cqltest.Fault
		hits  string
	}{
		{cqltest.Fault{}, "select t, insert t, update t, select u, batch, truncate u, create v"},
		{cqltest.Fault{Kind: "select"}, "select t, select u"},
		{cqltest.Fault{Kind: "write"}, "insert t, update t, batch"},
		{cqltest.Fault{Kind: "delete"}, "batch"},
		{cqltest.Fault{Kind: "truncate"}, "truncate u"},
		{cqltest.Fault{Kind: "definition"}, "create v"},
		{cqltest.Fault{Table: "u"}, "select u, batch, truncate u"},
		{cqltest.Fault{Keyspace: keyspace, Kind: "insert"}, "insert t, batch"},
		{cqltest.Fault{Keyspace: "other"}, ""},
		{cqltest.Fault{Keyspace: "system"}, "system"},
		{cqltest.Fault{Text: "v = 3"}, "update t"},
		{cqltest.Fault{Pattern: regexp.MustCompile(`^INSERT .*\(k\)`)}, "batch"},
		{cqltest.Fault{Conditional: true}, "update t"},
		{cqltest.Fault{Consistency: []cqlerr.Consistency{cqlerr.All, cqlerr.Two}}, "select u"},
		{cqltest.Fault{Opcode: "BATCH"}, "batch"},
		{cqltest.Fault{Client: "127.0.0.1", Kind: "truncate"}, "truncate u"},
		{cqltest.Fault{Client: "127.0.0.2"}, ""},
		{cqltest.Fault{Application: "other"}, ""},
		{cqltest.Fault{Match: func(r *server.Inspected) bool { return len(r.Parts) == 2 }}, "batch"},
		{cqltest.Fault{Call: 3}, "update t"},
		{cqltest.Fault{Table: "t", Times: 2}, "select t, insert t"},
		{cqltest.Fault{Delay: time.Millisecond, Act: cqltest.EchoPayload()}, ""},
	} {
		if test.fault.Act == (cqltest.Act{}) {
			test.fault.Act = cqltest.ServerError("injected")
		}
		rule := s.Faults().Add(test.fault)
		var hits []string
		for _, r := range requests {
			err := r.run()
			switch {
			case err != nil && strings.Contains(err.Error(), "injected"):
				hits = append(hits, r.name)
			case (err == nil) == (r.name == "wrong"):
				t.Errorf("%s: %v", r.name, err)
			}
		}
		if got := strings.Join(hits, ", "); got != test.hits {
			t.Errorf("%v meets %s; want %s", rule, got, test.hits)
		}
		if n := len(s.Faults().List()); n != 1 {
			t.Errorf("%d rules are listed", n)
		}
		s.Faults().Clear()
	}
}

// TestFaultChance wants a seed to decide what happens, about as often as the probability says.
func TestFaultChance(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s)
	s.Exec(t, "CREATE TABLE t_faultchance_1.t (k int PRIMARY KEY)")
	fates := func(seed uint64) string {
		rule := s.Faults().Add(cqltest.Fault{Kind: "select", Probability: 0.25, Seed: seed, Act: cqltest.Overloaded()})
		defer rule.Remove()
		var b strings.Builder
		for range 120 {
			b.WriteString(map[bool]string{true: ".", false: "x"}[session.Query("SELECT * FROM t").Exec() == nil])
		}
		if m, n := rule.Matched(), rule.Acted(); m != 120 || n != strings.Count(b.String(), "x") || n < 10 || n > 60 {
			t.Errorf("the rule has met %d requests and acted on %d: %s", m, n, b.String())
		}
		return b.String()
	}
	if a, b, c := fates(1), fates(1), fates(2); a != b || a == c {
		t.Errorf("with seed 1: %s\nagain:       %s\nwith seed 2: %s", a, b, c)
	}
}

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
		return one(t, s, fmt.Sprint("SELECT count(*) FROM t_faulteffects_1.t WHERE k = ", k)) == "1"
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
		rule := s.Faults().Add(cqltest.Fault{Kind: "insert", Times: 1, Act: test.act})
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
	s.Faults().Add(cqltest.Fault{Delay: 50 * time.Millisecond, Times: 1})
	began := time.Now()
	if err := insert(1); err != nil || time.Since(began) < 50*time.Millisecond {
		t.Errorf("a delayed insert took %v, %v", time.Since(began), err)
	}
	s.Faults().Add(cqltest.Fault{Delay: time.Hour})
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
	s.Faults().Add(cqltest.Fault{
		Keyspace: "test", Kind: "write",
		Act: cqltest.WriteFailure(cqltest.SameLevel, 0, 1, "SIMPLE", cqltest.Reasons{netip.MustParseAddr("127.0.0.1"): 0}),
	})
	s.Faults().Add(cqltest.Fault{Act: cqltest.EchoPayload()})
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
