package cqltest_test

import (
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
)

// stringer is a type of a library that prints what it is, such as a decimal.
type stringer struct{ text string }

func (s *stringer) String() string { return s.text }

// TestQueryValues binds values of Go to every type, and reads them back as Go's and as CQL's.
func TestQueryValues(t *testing.T) {
	s := cqltest.RunT(t)
	s.Exec(t, createShop, "USE shop", "CREATE TYPE point (x int, y text)")
	const uuid = "50554d6e-29bb-11e5-b345-feff819cdc9f"
	at := time.Date(2024, 2, 29, 8, 30, 15, 123e6, time.UTC)
	one, huge := 1, new(big.Int).Lsh(big.NewInt(1), 70)
	type name string
	for i, test := range []struct {
		column string
		bound  []any // that all give the same
		want   any
		text   string
	}{
		{"tinyint", []any{-5, int8(-5), "-5"}, -5, "-5"},
		{"smallint", []any{300, uint16(300)}, 300, "300"},
		{"int", []any{1, int64(1), &one, uint8(1)}, 1, "1"},
		{"bigint", []any{1 << 40, int64(1 << 40)}, 1 << 40, "1099511627776"},
		{"varint", []any{huge, huge.String()}, huge, huge.String()},
		{"decimal", []any{"-1.50", &stringer{"-1.50"}}, "-1.50", "-1.50"},
		{"decimal", []any{2.25, float32(2.25)}, "2.25", "2.25"},
		{"float", []any{float32(1.5), 1.5}, float32(1.5), "1.5"},
		{"double", []any{1.25, 1.25}, 1.25, "1.25"},
		{"double", []any{3}, 3.0, "3.0"},
		{"boolean", []any{true}, true, "true"},
		{"text", []any{"it's", name("it's")}, "it's", "'it''s'"},
		{"text", []any{""}, "", "''"},
		{"ascii", []any{"a"}, "a", "'a'"},
		{"blob", []any{[]byte{0, 255}, [2]byte{0, 255}}, []byte{0, 255}, "0x00ff"},
		{"uuid", []any{uuid, [16]byte{0x50, 0x55, 0x4d, 0x6e, 0x29, 0xbb, 0x11, 0xe5, 0xb3, 0x45, 0xfe, 0xff, 0x81, 0x9c, 0xdc, 0x9f}}, uuid, uuid},
		{"timeuuid", []any{uuid}, uuid, uuid},
		{"timestamp", []any{at, at.In(time.FixedZone("", 3600)), at.UnixMilli(), "2024-02-29T08:30:15.123Z"}, at, "'2024-02-29T08:30:15.123Z'"},
		{"date", []any{at, "2024-02-29"}, at.Truncate(24 * time.Hour), "'2024-02-29'"},
		{"time", []any{90 * time.Second, "00:01:30"}, 90 * time.Second, "'00:01:30.000000000'"},
		{"duration", []any{90 * time.Second, "1m30s"}, "1m30s", "1m30s"},
		{"inet", []any{netip.MustParseAddr("10.0.0.1"), net.IPv4(10, 0, 0, 1), "10.0.0.1"}, netip.MustParseAddr("10.0.0.1"), "'10.0.0.1'"},
		{"list<int>", []any{[]int{2, 1}, []any{2, 1}, [2]int64{2, 1}}, []any{2, 1}, "[2, 1]"},
		{"set<text>", []any{[]string{"b", "a", "b"}}, []any{"a", "b"}, "{'a', 'b'}"},
		{"map<text, int>", []any{map[string]int{"b": 2, "a": 1}}, map[any]any{"a": 1, "b": 2}, "{'a': 1, 'b': 2}"},
		{"map<blob, int>", []any{map[string]any{}}, nil, "null"},
		{"map<frozen<list<int>>, int>", []any{map[[1]int]int{{7}: 1}}, map[any]any{"[7]": 1}, "{[7]: 1}"},
		{"tuple<int, text>", []any{[]any{1, nil}}, []any{1, nil}, "(1, null)"},
		{"frozen<point>", []any{map[string]any{"y": "why"}}, map[string]any{"x": nil, "y": "why"}, "{x: null, y: 'why'}"},
		{"vector<float, 2>", []any{[]float32{1, 2.5}}, []any{float32(1), float32(2.5)}, "[1.0, 2.5]"},
		{"int", []any{nil, (*int)(nil)}, nil, "null"},
	} {
		table := fmt.Sprintf("v%d", i)
		s.Exec(t, "CREATE TABLE "+table+" (k int PRIMARY KEY, v "+test.column+")")
		for _, v := range test.bound {
			s.Query(t, "INSERT INTO "+table+" (k, v) VALUES (?, ?)", 1, v)
			got := s.Query(t, "SELECT v FROM "+table)
			if len(got.Values) != 1 || !reflect.DeepEqual(got.Values[0][0], test.want) {
				t.Errorf("%s %T %v is read as %#v, want %#v", test.column, v, v, got.Values, test.want)
			}
			if got.String() != test.text {
				t.Errorf("%s %T %v prints as %s, want %s", test.column, v, v, got, test.text)
			}
		}
	}
	s.Exec(t, "CREATE TABLE n (k int PRIMARY KEY, n counter)")
	s.Query(t, "UPDATE n SET n = n + ? WHERE k = 1", 5)
	if got := s.Query(t, "SELECT k, n FROM n"); got.Values[0][1] != 5 || strings.Join(got.Columns, " ") != "k n" || got.String() != "1, 5" {
		t.Errorf("the counter is %v %s", got.Columns, got)
	}
}

// TestQueryErrors wants wrong arguments and refused statements to fail the test, and QueryErr to return what the
// server says.
func TestQueryErrors(t *testing.T) {
	s := cqltest.RunT(t)
	s.Exec(t, createShop, "USE shop", "CREATE TYPE point (x int)", `CREATE TABLE t (k int PRIMARY KEY, i tinyint, s text, b blob,
		l list<int>, m map<text, int>, p point, v vector<int, 2>, u uuid)`)
	if got := s.Query(t, "SELECT * FROM t"); got.String() != "" || len(got.Columns) != 9 || got.Values != nil {
		t.Errorf("an empty table is %q, %v", got, got.Columns)
	}
	update := func(column string) string { return "UPDATE t SET " + column + " = ? WHERE k = 1" }
	for _, test := range []struct {
		statement string
		args      []any
		want      string
	}{
		{"SELECT nope FROM t", nil, "Undefined column name nope"},
		{"SELECT * FROM t WHERE k = ?", []any{1, 2}, "2 arguments for 1 markers"},
		{"SELECT * FROM t WHERE k = ?", []any{"one"}, "argument 1, for k: "},
		{update("i"), []any{1000}, "argument 1, for i: "},
		{update("i"), []any{1.5}, "a Go float64 is no tinyint"},
		{update("s"), []any{5}, "5 is no text"},
		{update("b"), []any{"text"}, "a Go string is no blob"},
		{update("l"), []any{5}, "a Go int is no list<int>"},
		{update("l"), []any{[]any{nil}}, "a collection has no null"},
		{update("m"), []any{[]int{1}}, "a Go []int is no map<text, int>"},
		{update("p"), []any{map[string]any{"z": 1}}, "has fields that point has not"},
		{update("v"), []any{[]int{1}}, "1 elements are no vector<int, 2>"},
		{update("u"), []any{"no uuid"}, "argument 1, for u: "},
	} {
		f := &failures{TB: t}
		func() {
			defer func() { _ = recover() }()
			s.Query(f, test.statement, test.args...)
		}()
		if got := strings.Join(f.all, "\n"); !strings.Contains(got, test.want) {
			t.Errorf("%s %v: %q, want %q", test.statement, test.args, got, test.want)
		}
	}
	if err := s.QueryErr(t, "SELECT * FROM t WHERE s = ?", "x"); !strings.Contains(err.Error(), "ALLOW FILTERING") {
		t.Errorf("the error is %v", err)
	}
	f := &failures{TB: t}
	func() {
		defer func() { _ = recover() }()
		s.QueryErr(f, "SELECT * FROM t")
	}()
	if len(f.all) != 1 || !strings.Contains(f.all[0], "want an error") {
		t.Errorf("QueryErr of what succeeds: %q", f.all)
	}
}
