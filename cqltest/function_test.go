package cqltest_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol/client"
)

// level is a named number type, as applications define them.
type level int

func (l level) String() string { return "level " + fmt.Sprint(int(l)) }

// withItems is a server with a table and no functions.
var withItems = cqltest.Template(func(t testing.TB, srv *cqltest.Server) {
	srv.Exec(t, createShop, "CREATE TYPE shop.size (w int, h int)",
		"CREATE TABLE shop.items (id int PRIMARY KEY, price bigint, note text)",
		"INSERT INTO shop.items (id, price, note) VALUES (1, 10, 'a')", "INSERT INTO shop.items (id, note) VALUES (2, 'b')",
		"INSERT INTO shop.items (id, price, note) VALUES (3, 7, 'c')")
})

// same makes a function that returns its argument.
func same[T any]() any { return func(v T) T { return v } }

func TestFunctionTypes(t *testing.T) {
	srv := withItems.RunT(t)
	for i, c := range []struct {
		fn      any
		types   []string
		cqlType string
		literal string // which the function returns
	}{
		{fn: same[bool](), cqlType: "boolean", literal: "true"},
		{fn: same[int8](), cqlType: "tinyint", literal: "-128"},
		{fn: same[int16](), cqlType: "smallint", literal: "-32768"},
		{fn: same[int32](), cqlType: "int", literal: "-2147483648"},
		{fn: same[int](), cqlType: "int", literal: "2147483647"},
		{fn: same[int64](), cqlType: "bigint", literal: "-9223372036854775808"},
		{fn: same[level](), cqlType: "int", literal: "5"},
		{fn: same[float32](), cqlType: "float", literal: "1.5"},
		{fn: same[float64](), cqlType: "double", literal: "0.1"},
		{fn: same[string](), cqlType: "text", literal: "'tea'"},
		{fn: same[[]byte](), cqlType: "blob", literal: "0x00ff"},
		{fn: same[[16]byte](), cqlType: "uuid", literal: "11111111-2222-4333-8444-555555555555"},
		{fn: same[time.Time](), cqlType: "timestamp", literal: "'2024-02-29T08:00:00.001Z'"},
		{fn: same[*time.Time](), cqlType: "timestamp", literal: "'2024-02-29T08:00:00.001Z'"},
		{fn: same[time.Duration](), cqlType: "time", literal: "'08:30:00.000000001'"},
		{fn: same[*big.Int](), cqlType: "varint", literal: "123456789012345678901234567890"},
		{fn: same[net.IP](), cqlType: "inet", literal: "'127.0.0.1'"},
		{fn: same[netip.Addr](), cqlType: "inet", literal: "'0:0:0:0:0:0:0:1'"},
		{fn: same[[]int64](), cqlType: "list<bigint>", literal: "[3, 1]"},
		{fn: same[map[string]struct{}](), cqlType: "set<text>", literal: "{'a', 'b'}"},
		{fn: same[map[string][]int](), cqlType: "map<text, frozen<list<int>>>", literal: "{'a': [1, 2], 'b': []}"},
		{
			fn: same[map[[16]byte]map[int8]struct{}](), cqlType: "map<uuid, frozen<set<tinyint>>>",
			literal: "{11111111-2222-4333-8444-555555555555: {1, 2}}",
		},
		{fn: same[string](), types: []string{"decimal", "decimal"}, literal: "1.50"},
		{fn: same[string](), types: []string{"duration", "duration"}, literal: "1mo2d"},
		{fn: same[time.Time](), types: []string{"date", "date"}, literal: "'2024-02-29'"},
		{fn: same[[]int](), types: []string{"set<int>", "set<int>"}, literal: "{1, 2}"},
		{fn: same[any](), types: []string{"size", "size"}, literal: "{w: 1, h: 2}"},
		{fn: same[any](), types: []string{"tuple<int, text>", "tuple<int, text>"}, literal: "(1, 'a')"},
	} {
		name := fmt.Sprint("f", i)
		srv.Function("shop", name, c.fn, c.types...)
		if c.types == nil {
			got := srv.Query(t, "SELECT argument_types, return_type FROM system_schema.functions "+
				"WHERE keyspace_name = 'shop' AND function_name = ?", name).String()
			if want := fmt.Sprintf("['%s'], '%[1]s'", c.cqlType); got != want {
				t.Errorf("%T has the types %s, want %s", c.fn, got, want)
			}
		}
		if got := srv.Query(t, "SELECT shop."+name+"("+c.literal+") FROM shop.items WHERE id = 1").String(); got != c.literal {
			t.Errorf("%T of %s: %s", c.fn, c.literal, got)
		}
	}
}

// Functions are called wherever users' functions are, overloads are told from each other, and the last definition
// applies, in prepared statements too.
func TestFunctionCalls(t *testing.T) {
	srv := withItems.RunT(t, functions.Enable())
	srv.Function("shop", "plus", func(a, b int) int { return a + b })
	srv.Function("shop", "plus", func(a, b string) string { return a + b })
	srv.Function("shop", "answer", func() int { return 42 })
	srv.Exec(t, "INSERT INTO shop.items (id, note) VALUES (shop.plus(2, 2), shop.plus('x', 'y'))")
	for query, want := range map[string]string{
		"SELECT shop.plus(id, 1), shop.plus(note, '!') FROM shop.items WHERE id = shop.plus(2, 2)": "5, 'xy!'",
		"SELECT shop.plus(shop.plus(id, id), shop.answer()) FROM shop.items WHERE id = 1":          "44",
	} {
		if got := srv.Query(t, query).String(); got != want {
			t.Errorf("%s answers %s", query, got)
		}
	}
	// Arguments are bound, so it is prepared.
	const prepared = "SELECT shop.plus(id, ?) FROM shop.items WHERE id = 1"
	for _, by := range []int{1, 2} {
		srv.Function("shop", "plus", func(a, b int) int { return a + by*b })
		if got := srv.Query(t, prepared, 10).Values[0][0]; got != 1+by*10 {
			t.Errorf("1 plus %d times 10 is %v", by, got)
		}
	}
	srv.Exec(t, "CREATE OR REPLACE FUNCTION shop.plus (a int, b int) RETURNS NULL ON NULL INPUT RETURNS int "+
		"LANGUAGE java AS 'return 0;'")
	if got := srv.Query(t, prepared, 10).Values[0][0]; got != 0 {
		t.Errorf("the function in Java answers %v", got)
	}
	srv.Function("shop", "plus", func(a, b int) int { return a + b })
	srv.Exec(t, "DROP FUNCTION shop.plus(int, int)")
	srv.QueryErr(t, prepared, 10)
	srv.Exec(t, "DROP KEYSPACE shop")
}

func TestFunctionNulls(t *testing.T) {
	srv := withItems.RunT(t)
	srv.Function("shop", "twice", func(v int64) int64 { return 2 * v })
	srv.Function("shop", "orzero", func(v *int64, more []int) int64 {
		if v == nil {
			return int64(-1 - len(more))
		}
		return *v
	})
	srv.Function("shop", "odd", func(v int) *int {
		if v%2 == 0 {
			return nil
		}
		return &v
	})
	const query = "SELECT shop.twice(price), shop.orzero(price, null), shop.odd(id) FROM shop.items WHERE id IN (1, 2)"
	if got := srv.Query(t, query).String(); got != "20, 10, 1\nnull, -1, null" {
		t.Errorf("the rows are\n%s", got)
	}
	got := srv.Query(t, "SELECT called_on_null_input FROM system_schema.functions WHERE keyspace_name = 'shop'").String()
	if got != "false\ntrue\nfalse" {
		t.Errorf("called on null: %s", got)
	}
}

// Aggregates have functions in both languages, and skip nulls as in Cassandra.
func TestFunctionAggregates(t *testing.T) {
	srv := withItems.RunT(t, functions.Enable())
	srv.Function("shop", "collect", func(all []int64, v int64) []int64 { return append(all, v) })
	srv.Function("shop", "median", func(all []int64) (int64, error) {
		if len(all) == 0 {
			return 0, errors.New("there is no median")
		}
		return all[len(all)/2], nil
	})
	srv.Function("shop", "longest", func(max, v *int64) *int64 {
		if v != nil && (max == nil || *v > *max) {
			return v
		}
		return max
	})
	srv.Exec(t, "CREATE FUNCTION shop.size (l list<bigint>) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return l.size();'",
		"CREATE AGGREGATE shop.medianof (bigint) SFUNC collect STYPE list<bigint> FINALFUNC median INITCOND []",
		"CREATE AGGREGATE shop.sizeof (bigint) SFUNC collect STYPE list<bigint> FINALFUNC size INITCOND []",
		"CREATE AGGREGATE shop.listof (bigint) SFUNC collect STYPE list<bigint> INITCOND []",
		"CREATE AGGREGATE shop.maxof (bigint) SFUNC longest STYPE bigint")
	const query = "SELECT shop.medianof(price), shop.sizeof(price), shop.listof(price), shop.maxof(price) FROM shop.items"
	if got := srv.Query(t, query).String(); got != "7, 2, [10, 7], 10" {
		t.Errorf("the aggregates are %s", got)
	}
	wantFailure(t, srv.QueryErr(t, "SELECT shop.medianof(price) FROM shop.items WHERE id = 9"), "median",
		"there is no median", "list<bigint>")
	if err := srv.QueryErr(t, "DROP FUNCTION shop.collect"); !strings.Contains(err.Error(), "still referenced by aggregates") {
		t.Error(err)
	}
}

// wantFailure wants FUNCTION_FAILURE with a text.
func wantFailure(t *testing.T, err error, name, text string, args ...string) {
	t.Helper()
	var e *cqlerr.Error
	if !errors.As(err, &e) || e.Code != cqlerr.FunctionFailure || !strings.Contains(e.Message, text) {
		t.Errorf("the error is %v", err)
		return
	}
	d := e.Detail.(cqlerr.FunctionDetail)
	if d.Keyspace != "shop" || d.Function != name || strings.Join(d.ArgTypes, ", ") != strings.Join(args, ", ") {
		t.Errorf("the error is of %+v", d)
	}
}

func TestFunctionFailures(t *testing.T) {
	srv := withItems.RunT(t)
	srv.Function("shop", "refuse", func(a int, b []string) (int, error) { return 1, errors.New("no discount") })
	srv.Function("shop", "panics", func(a int) int { return []int{}[a] })
	srv.Function("shop", "ends", func(a int) int { runtime.Goexit(); return a })
	srv.Function("shop", "large", func(a int) int { return 3_000_000_000 })
	srv.Function("shop", "invalid", func(a int) string { return "\xff" })
	srv.Function("shop", "narrow", func(a int8) int8 { return a }, "int", "int")
	for call, failure := range map[string][]string{
		"refuse(1, ['a'])": {"refuse", "no discount", "int", "list<text>"},
		"panics(0)":        {"panics", "index out of range", "int"},
		"ends(0)":          {"ends", "the function ended its goroutine", "int"},
		"large(0)":         {"large", "3000000000", "int"},
		"invalid(0)":       {"invalid", "String didn't validate", "int"},
		"narrow(128)":      {"narrow", "a Go int8 cannot hold 128", "int"},
	} {
		err := srv.QueryErr(t, "SELECT shop."+call+" FROM shop.items WHERE id = 1")
		wantFailure(t, err, failure[0], failure[1], failure[2:]...)
	}
}

// The test may define functions although clients have to log in and may define none.
func TestFunctionWithoutPermission(t *testing.T) {
	srv := withItems.RunT(t, cqltest.WithAuth())
	srv.Function("shop", "twice", func(v int) int { return 2 * v })
	if got := srv.Query(t, "SELECT shop.twice(id) FROM shop.items WHERE id = 3").String(); got != "6" {
		t.Errorf("twice 3 is %s", got)
	}
}

// Aggregates of functions in Go need no option: as in Cassandra, only functions are refused where they are disabled.
func TestFunctionsAreDisabled(t *testing.T) {
	srv := withItems.RunT(t)
	srv.Function("shop", "larger", func(a, b *int64) *int64 {
		if a == nil || b != nil && *a < *b {
			return b
		}
		return a
	})
	srv.Exec(t, "CREATE AGGREGATE shop.largest (bigint) SFUNC larger STYPE bigint")
	if got := srv.Query(t, "SELECT shop.largest(price) FROM shop.items").String(); got != "10" {
		t.Errorf("the largest price is %s", got)
	}
	const create = "CREATE FUNCTION shop.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'"
	err := srv.QueryErr(t, create)
	if !strings.Contains(err.Error(), "User-defined functions are disabled in cassandra.yaml - set "+
		"user_defined_functions_enabled=true to enable") {
		t.Errorf("CREATE FUNCTION answers %v", err)
	}
}

// A snapshot with functions in Java is opened where they are disabled. Only calls of them fail.
func TestFunctionsOfSnapshotAreDisabled(t *testing.T) {
	srv := withItems.RunT(t, functions.Enable())
	srv.Exec(t, "CREATE FUNCTION shop.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'")
	fork := srv.Snapshot().Fork(t, cqltest.WithSettings(map[string]string{"user_defined_functions_enabled": "false"}))
	fork.Exec(t, "INSERT INTO shop.items (id, price) VALUES (4, 11)")
	err := fork.QueryErr(t, "SELECT shop.f(id) FROM shop.items WHERE id = 4")
	if !strings.Contains(err.Error(), "User-defined functions are disabled") {
		t.Errorf("a call answers %v", err)
	}
	if got := fork.Query(t, "SELECT price FROM shop.items WHERE id = 4").String(); got != "11" {
		t.Errorf("the price is %s", got)
	}
	fork.Exec(t, "DROP FUNCTION shop.f")
}

// Functions that cannot be defined are refused with the reason.
func TestFunctionRefusals(t *testing.T) {
	srv := withItems.RunT(t)
	for want, of := range map[string]struct {
		fn    any
		types []string
	}{
		"a int is no function":                       {fn: 1},
		"must have one result":                       {fn: func(int) {}},
		"one and an error":                           {fn: func(int) (int, int) { return 0, 0 }},
		"any number of arguments":                    {fn: func(...int) int { return 0 }},
		"parameter 2: a Go chan int has no CQL type": {fn: func(int, chan int) int { return 0 }},
		"the result: a Go struct {} has no CQL type": {fn: func(int) struct{} { return struct{}{} }},
		"parameter 1: a Go interface {} has no":      {fn: func(any) int { return 0 }},
		"parameter 2 is a int, which cannot be null": {fn: func(*int, int) int { return 0 }},
		"a Go **int has no CQL type":                 {fn: func(***int) int { return 0 }},
		"1 CQL types are given":                      {fn: func(int) int { return 0 }, types: []string{"int"}},
		"parameter 1: a Go int is no text":           {fn: func(int) int { return 0 }, types: []string{"text", "int"}},
		"the result: a Go int is no text":            {fn: func(int) int { return 0 }, types: []string{"int", "text"}},
		"Unknown type shop.nothing":                  {fn: func(int) int { return 0 }, types: []string{"nothing", "int"}},
	} {
		if got := refusal(func() { srv.Function("shop", "f", of.fn, of.types...) }); !strings.Contains(got, want) ||
			!strings.HasPrefix(got, "cqltest: function shop.f: ") {
			t.Errorf("%T is refused with %q, want %q", of.fn, got, want)
		}
	}
	if got := refusal(func() { srv.Function("none", "f", same[int]()) }); !strings.Contains(got, "Keyspace 'none' doesn't exist") {
		t.Errorf("without a keyspace: %q", got)
	}
	if got := srv.Query(t, "SELECT * FROM system_schema.functions").String(); got != "" {
		t.Errorf("there are functions:\n%s", got)
	}
}

// refusal is the text of the panic of fn.
func refusal(fn func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	fn()
	return ""
}

// Snapshots and forks have the functions of their time. A dump has a statement in their place that fails when called.
func TestFunctionSnapshots(t *testing.T) {
	srv := withItems.RunT(t)
	define := func(srv *cqltest.Server, v int) { srv.Function("shop", "f", func() int { return v }) }
	call := func(srv *cqltest.Server) string {
		t.Helper()
		return srv.Query(t, "SELECT shop.f() FROM shop.items WHERE id = ?", 1).String()
	}
	define(srv, 1)
	first := srv.Snapshot()
	define(srv, 2)
	fork := first.Fork(t)
	if a, b := call(srv), call(fork); a != "2" || b != "1" {
		t.Errorf("the server answers %s, the fork %s", a, b)
	}
	define(fork, 3)
	srv.Restore(first)
	if a, b := call(srv), call(fork); a != "1" || b != "3" {
		t.Errorf("the restored server answers %s, the fork %s", a, b)
	}

	copied := cqltest.RunT(t, functions.Enable())
	copied.Exec(t, srv.Dump(t))
	wantFailure(t, copied.QueryErr(t, "SELECT shop.f() FROM shop.items WHERE id = 1"), "f",
		"java.lang.UnsupportedOperationException: the Go function "+
			"github.com/cqld/cqld/cqltest_test.TestFunctionSnapshots.")
	if diff := srv.Diff(t, copied); diff != "" {
		t.Errorf("the dump differs:\n%s", diff)
	}
	define(copied, 4)
	if got := call(copied); got != "4" {
		t.Errorf("the copy answers %s", got)
	}
}

// BenchmarkFunctions reads 100,000 rows with and without a function over a column, and a row at a time beside a
// function that does not end.
func BenchmarkFunctions(b *testing.B) {
	srv := cqltest.RunT(b, functions.Enable())
	srv.Exec(b, createShop, "CREATE TABLE shop.t (k int, c int, v int, PRIMARY KEY (k, c))",
		"CREATE FUNCTION shop.plus (a int, b int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;'",
		"CREATE FUNCTION shop.endless (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'while (true) a++;'")
	for k := range 1000 {
		var batch strings.Builder
		batch.WriteString("BEGIN UNLOGGED BATCH ")
		for c := range 100 {
			fmt.Fprintf(&batch, "INSERT INTO shop.t (k, c, v) VALUES (%d, %d, %d); ", k, c, c)
		}
		srv.Exec(b, batch.String()+"APPLY BATCH")
	}
	srv.Function("shop", "in_go", func(a, b int) int { return a + b })
	query := func(conn *client.Conn, text string) (*client.Result, error) {
		return conn.Query(context.Background(), text, nil, nil)
	}
	conn, err := client.Dial(context.Background(), srv.Addr(), client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	for _, column := range []string{"v", "shop.plus(v, 1)", "shop.in_go(v, 1)"} {
		b.Run(column, func(b *testing.B) {
			for b.Loop() {
				if r, err := query(conn, "SELECT "+column+" FROM shop.t"); err != nil || len(r.Rows) != 100_000 {
					b.Fatal(r, err)
				}
			}
		})
	}
	b.Run("reads beside an endless loop", func(b *testing.B) {
		ended := make(chan error, 1)
		go func() { ended <- srv.QueryErr(b, "SELECT shop.endless(v) FROM shop.t WHERE k = 1 AND c = 1") }()
		var took []time.Duration
		for running := true; running; {
			began := time.Now()
			if _, err := query(conn, "SELECT v FROM shop.t WHERE k = 2 AND c = 2"); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
			select {
			case <-ended:
				running = false
			default:
			}
		}
		slices.Sort(took)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	})
}
