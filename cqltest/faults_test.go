package cqltest_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// TestFaultMatches has rules of every kind meet requests: each acts on those that it is about.
func TestFaultMatches(t *testing.T) {
	s := cqltest.RunT(t)
	keyspace := s.Keyspace(t)
	s.Exec(t, "USE "+keyspace, "CREATE TABLE t (k int PRIMARY KEY, v int)", "CREATE TABLE u (k int PRIMARY KEY)")
	c := dial(t, s, client.Options{})
	query := func(text string, level protocol.Consistency) func() error {
		return func() error {
			_, err := c.Query(t.Context(), text, nil, &client.QueryOptions{Consistency: level})
			return err
		}
	}
	prepared := func(text string, values ...int32) func() error {
		p, err := c.Prepare(t.Context(), text, keyspace)
		if err != nil {
			t.Fatal(err)
		}
		var bound []types.Value
		for _, v := range values {
			bound = append(bound, types.Value{Bytes: types.EncodeInt(v)})
		}
		return func() error {
			_, err := c.Execute(t.Context(), p, bound, nil)
			return err
		}
	}
	if err := query("USE "+keyspace, cqlerr.One)(); err != nil {
		t.Fatal(err)
	}
	requests := []struct {
		name string
		run  func() error
	}{
		{"select t", prepared("SELECT * FROM t WHERE k = ?", 1)},
		{"insert t", prepared("INSERT INTO t (k, v) VALUES (?, ?)", 1, 2)},
		{"update t", prepared("UPDATE t SET v = 3 WHERE k = 1 IF v = 2")},
		{"select u", query("SELECT * FROM u", cqlerr.All)},
		{"batch", func() error {
			_, err := c.Do(t.Context(), &protocol.Batch{Children: []protocol.BatchChild{
				{Query: "INSERT INTO t (k) VALUES (5)"}, {Query: "DELETE FROM u WHERE k = 1"},
			}, Parameters: protocol.QueryParameters{Consistency: cqlerr.One}})
			return err
		}},
		{"truncate u", query("TRUNCATE u", cqlerr.One)},
		{"create v", query("CREATE TABLE IF NOT EXISTS v (k int PRIMARY KEY)", cqlerr.One)},
		{"system", query("SELECT key FROM system.local", cqlerr.One)},
		{"wrong", query("SELECT nope FROM t", cqlerr.One)},
	}
	for _, test := range []struct {
		fault cqltest.Fault
		hits  string
	}{
		{cqltest.Fault{}, "select t, insert t, update t, select u, batch, truncate u, create v, wrong"},
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
		{cqltest.Fault{Consistency: []cqltest.Consistency{cqltest.All, cqltest.Two}}, "select u"},
		{cqltest.Fault{Opcode: "BATCH"}, "batch"},
		{cqltest.Fault{Client: "127.0.0.1", Kind: "truncate"}, "truncate u"},
		{cqltest.Fault{Client: "127.0.0.2"}, ""},
		{cqltest.Fault{Application: "other"}, ""},
		{cqltest.Fault{Match: func(r *cqltest.Request) bool { return len(r.Parts) == 2 }}, "batch"},
		{cqltest.Fault{Call: 3}, "update t"},
		{cqltest.Fault{Table: "t", Times: 2}, "select t, insert t"},
		{cqltest.Fault{Delay: time.Millisecond, Act: cqltest.EchoPayload()}, ""},
	} {
		if test.fault.Act == (cqltest.Act{}) {
			test.fault.Act = cqltest.ServerError("injected")
		}
		rule := s.Faults().Add(t, test.fault)
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
	keyspace := s.Keyspace(t)
	s.Exec(t, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY)")
	c := dial(t, s, client.Options{})
	fates := func(seed uint64) string {
		rule := s.Faults().Add(t, cqltest.Fault{Kind: "select", Probability: 0.25, Seed: seed, Act: cqltest.Overloaded()})
		defer rule.Remove()
		var b strings.Builder
		for range 120 {
			_, err := c.Query(t.Context(), "SELECT * FROM "+keyspace+".t", nil, nil)
			b.WriteString(map[bool]string{true: ".", false: "x"}[err == nil])
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

// TestFaultsThatNeverAct wants rules to be refused that no request can meet, or that do nothing.
func TestFaultsThatNeverAct(t *testing.T) {
	s := cqltest.RunT(t)
	act := cqltest.Overloaded()
	for want, fault := range map[string]cqltest.Fault{
		"neither an act nor a delay":                       {},
		`kind is "slect": did you mean "select"?`:          {Kind: "slect", Act: act},
		`kind is "INSERT": did you mean "insert"?`:         {Kind: "INSERT", Act: act},
		`kind is "merge into": want one of select, insert`: {Kind: "merge into", Act: act},
		`opcode is "EXCUTE": did you mean "EXECUTE"?`:      {Opcode: "EXCUTE", Act: act},
		"there is no consistency level 99":                 {Consistency: []cqltest.Consistency{99}, Act: act},
		"probability is 20":                                {Probability: 20, Act: act},
		"times -1":                                         {Times: -1, Act: act},
		"delay is -1s":                                     {Delay: -time.Second},
		`the write type is "SIMPEL": did you mean "S`:      {Act: cqltest.WriteTimeout(cqltest.One, 0, 1, "SIMPEL")},
	} {
		f := &failures{TB: t}
		func() {
			defer func() { _ = recover() }()
			s.Faults().Add(f, fault)
		}()
		if got := strings.Join(f.all, "\n"); !strings.Contains(got, "would never act: ") || !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", fault, got, want)
		}
	}
	if n := len(s.Faults().List()); n != 0 {
		t.Errorf("%d rules are in force", n)
	}
}

// TestInterceptorActs has an interceptor fail requests of clients before a fault would, and sees what they are.
func TestInterceptorActs(t *testing.T) {
	var seen []string // by one client
	s := cqltest.RunT(t, cqltest.WithInterceptor(func(_ context.Context, r *cqltest.Request) cqltest.Act {
		seen = append(seen, r.Opcode+" "+r.Parts[0].Kind+" "+r.Consistency.String())
		if r.Parts[0].Kind == "insert" {
			return cqltest.Unavailable(cqltest.SameLevel, 2, 1).AfterApplying()
		}
		return cqltest.Act{}
	}))
	keyspace := s.Keyspace(t)
	s.Exec(t, "CREATE TABLE "+keyspace+".t (k int PRIMARY KEY)")
	s.Faults().Add(t, cqltest.Fault{Kind: "insert", Act: cqltest.Overloaded()})
	c := dial(t, s, client.Options{})
	_, err := c.Query(t.Context(), "INSERT INTO "+keyspace+".t (k) VALUES (1)", nil, &client.QueryOptions{Consistency: cqlerr.All})
	if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.Unavailable || !strings.Contains(e.Message, "ALL") {
		t.Errorf("the error is %v", err)
	}
	r, err := c.Query(t.Context(), "SELECT * FROM "+keyspace+".t", nil, nil)
	if err != nil || len(r.Rows) != 1 {
		t.Errorf("%v, %v: want the row that was applied", r, err)
	}
	if got := strings.Join(seen, ", "); got != "QUERY insert ALL, QUERY select ONE" {
		t.Errorf("the interceptor has seen %s", got)
	}
}
