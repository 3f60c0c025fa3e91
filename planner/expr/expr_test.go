package expr

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// term parses one term.
func term(t *testing.T, text string) cql.Term {
	t.Helper()
	s, _, err := parser.Parse("INSERT INTO t (c) VALUES (" + text + ")")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.(*cql.Insert).Values[0]
}

var (
	intList = &types.List{Elem: types.Int, Frozen: true}
	textSet = &types.Set{Elem: types.Text, Frozen: true}
	intText = &types.Map{Key: types.Int, Value: types.Text, Frozen: true}
	pair    = &types.Tuple{Elems: []types.Type{types.Int, types.Text}}
	floats  = &types.Vector{Elem: types.Float, Dim: 2}
)

// natives are names in tests: types are native, and there are no users' functions.
type natives struct{}

func (natives) TypeOf(_ string, n cql.TypeName) (types.Type, error) {
	t, _ := types.Native(n.Name)
	return t, nil
}

func (natives) FunctionsOf(string, cql.QualifiedName) []*functions.Function { return nil }

// checker is one for a statement without a table.
func checker() *Checker { return &Checker{Scope: Scope{Names: natives{}}, Info: &Info{}} }

// TestCheck checks terms for a column c; the texts are Cassandra's.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		text string
		to   types.Type
		want string // the expression, or the error
	}{
		{"5", types.Int, "5"},
		{"5", types.BigInt, "5"},
		{"null", types.Int, "null"},
		{"'x'", types.Text, "'x'"},
		{"'it''s'", types.Text, "'it''s'"},
		{"'x'", types.Int, `Invalid STRING constant (x) for "c" of type int`},
		{"5", types.Text, `Invalid INTEGER constant (5) for "c" of type text`},
		{"1.5", types.Int, `Invalid FLOAT constant (1.5) for "c" of type int`},
		{"true", types.Int, `Invalid BOOLEAN constant (true) for "c" of type int`},
		{"0xff", types.Int, `Invalid HEX constant (0xff) for "c" of type int`},
		{"0xff", types.Blob, "0xff"},
		{"3000000000", types.Int, "Unable to make int from '3000000000'"},
		{"?", types.Int, "?0"},
		{"[1, 2]", intList, "[1, 2]"},
		{"[]", intList, "[]"},
		{"[1, 'x']", intList, "Invalid list literal for c: value 'x' is not of type int"},
		{"[1, null]", intList, "null is not supported inside collections"},
		{"[?]", intList, "Invalid list literal for c: bind variables are not supported inside collection literals"},
		{"[1]", types.Int, "Unexpected receiver type 'int'; only list and vector are expected"},
		{"{'b', 'a', 'b'}", textSet, "{'a', 'b'}"},
		{"{1}", textSet, "Invalid set literal for c: value 1 is not of type text"},
		{"{1}", types.Int, "Invalid set literal for c of type int"},
		{"{}", intText, "{}"},
		{"{2: 'b', 1: 'a'}", intText, "{1: 'a', 2: 'b'}"},
		{"{'x': 'b'}", intText, "Invalid map literal for c: key 'x' is not of type int"},
		{"{1: 2}", intText, "Invalid map literal for c: value 2 is not of type text"},
		{"{1: 2}", types.Int, "Invalid map literal for c of type int"},
		{"(1, 'x')", pair, "(1, 'x')"},
		{"(1)", types.Int, "1"},
		{"(1, 2)", types.Int, "Invalid tuple type literal for c of type int"},
		{"('x', 'x')", pair, "Invalid tuple literal for c: component 0 is not of type int"},
		{"(1, 'x', 2)", pair, "Invalid tuple literal for c: too many elements. Type frozen<tuple<int, text>> expects 2 but got 3"},
		{"(?, 'x')", pair, "frozen<tuple<int, text>>(?0, 'x')"},
		{"[1, 2.5]", floats, "[1.0, 2.5]"},
		{"[?, 2.5]", floats, "vector<float, 2>(?0, 2.5)"},
		{"[1]", floats, "Invalid vector literal for c of type vector<float, 2>; expected 2 elements, but given 1"},
		{"[1, null]", floats, "null is not supported inside vectors"},
		{"now()", types.TimeUUID, "system.now()"},
		{"now()", types.UUID, "system.now()"},
		{"system.uuid()", types.UUID, "system.uuid()"},
		{"uuid()", types.Int, "Type error: cannot assign result of function system.uuid (type uuid) to c (type int)"},
		{"nope()", types.Int, "Unknown function nope called"},
		{"now(1)", types.TimeUUID, "Invalid number of arguments in call to function system.now: 0 required but 1 provided"},
		{"count(1)", types.BigInt, "Aggregation function are not supported in the where clause"},
		{"{f: 1}", types.Int, "Invalid user type literal for c of type int"},
		{"CAST(1.5 AS int)", types.Int, "1"},
		{"CAST((int)? AS text)", types.Text, "system.cast_as_text(?0)"},
		{"CAST(1 AS blob)", types.Blob, "Unknown function system.cast_as_blob called"},
		{"1 + 1", types.Int, "2"},
		{"1 + 1 + 1 + 1", types.BigInt, "4"},
		{"100 + 100 + 1", types.Int, "201"},
		{"7 / 2", types.Double, "3.5"},
		{"(bigint)? % 7", types.BigInt, "system._modulo(?0, 7)"},
		{"? + 1", types.Int, "Ambiguous '+' operation with args ? and 1: use type hint to disambiguate, example '(int) ?'"},
		{"1 + 1.5", types.Int, "the '+' operation is not supported between 1 and 1.5"},
		{"-'x'", types.Int, "Invalid call to function system._negate, none of its type signatures match (known type " +
			"signatures: system.\"_negate\" : (decimal) -> decimal, system.\"_negate\" : (varint) -> varint, " +
			"system.\"_negate\" : (double) -> double, system.\"_negate\" : (bigint) -> bigint, " +
			"system.\"_negate\" : (counter) -> counter, system.\"_negate\" : (float) -> float, " +
			"system.\"_negate\" : (int) -> int, system.\"_negate\" : (smallint) -> smallint, " +
			"system.\"_negate\" : (tinyint) -> tinyint)"},
		{"(int) 1", types.Int, "1"},
		{"(text) 1", types.Int, "Cannot cast value 1 to type text"},
		{"(bigint) 1", types.Int, "Cannot assign value (bigint)1 to c of type int"},
	} {
		e, err := checker().Check(term(t, test.text), Receiver{Keyspace: "ks", Table: "t", Name: "c", Type: test.to})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = e.String()
			if e.Type() == nil {
				t.Errorf("%s has no type", test.text)
			}
		}
		if got != test.want {
			t.Errorf("%s as %s\ngot:  %s\nwant: %s", test.text, test.to, got, test.want)
		}
	}
}

// userTypes are names in a test: all are of one user type.
type userTypes struct{ natives }

func (userTypes) TypeOf(string, cql.TypeName) (types.Type, error) {
	return &types.UserType{Keyspace: "ks", Name: "u", Fields: []types.Field{{Name: "a", Type: types.Int}}}, nil
}

// TestTreeStays checks a term twice: what was found out the first time stands in its Info alone.
func TestTreeStays(t *testing.T) {
	hint := term(t, "(u) {a: 1}")
	written := hint.String()
	for range 2 {
		c := &Checker{Scope: Scope{Names: userTypes{}, Keyspace: "ks"}, Info: &Info{}}
		if got := c.Text(hint); got != "(u){a: 1}" {
			t.Errorf("before: %s", got)
		}
		_, err := c.Check(hint, Receiver{Name: "c", Type: types.Int})
		if want := "Cannot assign value (ks.u){a: 1} to c of type int"; err == nil || err.Error() != want {
			t.Errorf("got: %v\nwant: %s", err, want)
		}
	}
	if hint.String() != written {
		t.Errorf("the tree is %s", hint)
	}
}

// TestMarkers looks at what markers are named after.
func TestMarkers(t *testing.T) {
	c := checker()
	r := Receiver{Keyspace: "ks", Table: "t", Name: "c", Type: pair}
	if _, err := c.Check(term(t, "(?, :word)"), r); err != nil {
		t.Fatal(err)
	}
	want := []Receiver{
		{Keyspace: "ks", Table: "t", Name: "c[0]", Type: types.Int},
		{Keyspace: "ks", Table: "t", Name: "word", Type: types.Text},
	}
	if len(c.Markers) != 2 || c.Markers[0] != want[0] || c.Markers[1] != want[1] {
		t.Errorf("%+v", c.Markers)
	}
}

// TestBoundMarker evaluates markers with values that fit and values that do not.
func TestBoundMarker(t *testing.T) {
	marker := func(t types.Type) *Marker {
		return checker().mark(&cql.Marker{}, Receiver{Type: t})
	}
	eval := func(m *Marker, v types.Value) (types.Value, error) {
		return m.Eval(&Context{Values: []types.Value{v}})
	}
	if _, err := eval(marker(types.Int), types.Value{Bytes: []byte{1}}); err == nil || err.Error() != "Expected 4 or 0 byte int (1)" {
		t.Error(err)
	}
	if v, err := eval(marker(types.Int), types.Value{Unset: true}); err != nil || !v.Unset {
		t.Error(v, err)
	}
	unsorted := types.NewList([][]byte{[]byte("b"), []byte("a"), []byte("b")})
	sorted := types.NewSet(textSet, [][]byte{[]byte("a"), []byte("b")})
	if v, err := eval(marker(textSet), types.Value{Bytes: unsorted}); err != nil || !bytes.Equal(v.Bytes, sorted) {
		t.Errorf("%x %v", v.Bytes, err)
	}
}

// TestCells evaluates what a selection shows of a cell.
func TestCells(t *testing.T) {
	c := &schema.Column{Name: "v", Type: types.Int, Index: 0}
	x := &Context{Row: [][]byte{{0, 0, 0, 1}}, Now: 100, Cell: func(int) Cell { return Cell{Timestamp: 7, ExpiresAt: 130} }}
	if v, _ := (&Stamp{Name: "writetime", Of: &Column{Column: c}}).Eval(x); binary.BigEndian.Uint64(v.Bytes) != 7 {
		t.Error(v)
	}
	if v, _ := (&Stamp{Name: "ttl", Of: &Column{Column: c}}).Eval(x); binary.BigEndian.Uint32(v.Bytes) != 30 {
		t.Error(v)
	}
	if v, _ := (&Column{Column: c}).Eval(x); !bytes.Equal(v.Bytes, x.Row[0]) {
		t.Error(v)
	}
	x.Row[0] = nil
	for _, e := range []Expr{&Stamp{Name: "writetime", Of: &Column{Column: c}}, &Stamp{Name: "ttl", Of: &Column{Column: c}}, &Column{Column: c}} {
		if v, err := e.Eval(x); err != nil || !v.IsNull() {
			t.Errorf("%s of null: %v %v", e, v, err)
		}
	}
}

// TestCheckDeep checks a literal inside a literal inside a literal: the work must not double with each.
func TestCheckDeep(t *testing.T) {
	const depth = 64
	tuple, list := types.Type(types.Int), types.Type(types.Int)
	for range depth {
		tuple = &types.Tuple{Elems: []types.Type{tuple}}
		list = &types.List{Elem: list, Frozen: true}
	}
	for _, test := range []struct {
		text string
		to   types.Type
	}{
		{strings.Repeat("(", depth) + "1" + strings.Repeat(")", depth), tuple},
		{strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth), list},
	} {
		if _, err := checker().Check(term(t, test.text), Receiver{Name: "c", Type: test.to}); err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
	}
}

// TestVolatile evaluates now() anew each time, and token of constants once when it is bound.
func TestVolatile(t *testing.T) {
	key := schema.NewTable(schema.Table{Keyspace: "ks", Name: "t", Columns: []*schema.Column{{Name: "k", Type: types.Int}}})
	c := checker()
	c.About(key)
	e, err := c.Check(term(t, "token(1)"), Receiver{Name: "partition key token", Type: types.BigInt})
	if err != nil {
		t.Fatal(err)
	}
	if e.String() != "-4069959284402364209" {
		t.Error(e)
	}
	calls := byte(0)
	env := &Env{Now: time.Unix(0, 0), TimeUUID: func() [16]byte { calls++; return [16]byte{0: calls, 6: 0x10, 8: 0x80} }}
	now, err := c.Check(term(t, "now()"), Receiver{Name: "c", Type: types.TimeUUID})
	if err != nil {
		t.Fatal(err)
	}
	for want := byte(1); want <= 2; want++ {
		if v, err := now.Eval(&Context{Env: env}); err != nil || v.Bytes[0] != want {
			t.Error(v, err)
		}
	}
}

func TestCountRows(t *testing.T) {
	a := &Aggregate{}
	n := a.Start()
	for range 3 {
		if _, err := n.Add(&Context{}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := n.Result(nil)
	if err != nil || binary.BigEndian.Uint64(v.Bytes) != 3 {
		t.Error(v, err)
	}
	if got, _ := a.Eval(&Context{Results: []types.Value{v}}); !bytes.Equal(got.Bytes, v.Bytes) {
		t.Error(got)
	}
}
