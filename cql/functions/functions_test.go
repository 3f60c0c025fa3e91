package functions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// testEnv is the surroundings of the examples: a certain time, and nothing random.
func testEnv() *Env {
	return &Env{
		Now:      time.Date(2020, 1, 2, 3, 4, 5, 678_901_234, time.UTC),
		UUID:     func() [16]byte { return types.RandomUUID([16]byte([]byte(strings.Repeat("\x01", 16)))) },
		TimeUUID: func() [16]byte { return types.MinTimeUUID(1577934245678) },
	}
}

// expression reads the small part of the language that examples are written in: calls, literals with and
// without a type in parentheses before them, null.
type expression struct{ rest string }

// literalKinds are tried in turn; a string is told by its quote.
var literalKinds = []types.LiteralKind{
	types.BooleanLiteral, types.HexLiteral, types.UUIDLiteral, types.IntegerLiteral, types.FloatLiteral,
	types.DurationLiteral,
}

// eval computes the expression for a type that is wanted, or nil if any will do.
func (e *expression) eval() (fit func(types.Type) ([]byte, bool), typ types.Type, err error) {
	var hint types.Type
	if strings.HasPrefix(e.rest, "(") {
		name, rest, _ := strings.Cut(e.rest[1:], ")")
		hint, _ = types.Native(name)
		e.rest = rest
	}
	if strings.HasPrefix(e.rest, "'") {
		text, rest, _ := strings.Cut(e.rest[1:], "'")
		e.rest = rest
		return literal(types.StringLiteral, text, hint), hint, nil
	}
	n := strings.IndexAny(e.rest, "(),")
	if n < 0 {
		n = len(e.rest)
	}
	word := e.rest[:n]
	e.rest = e.rest[n:]
	switch {
	case strings.HasPrefix(e.rest, "("):
		v, f, err := e.call(word)
		if err != nil {
			return nil, nil, err
		}
		return func(types.Type) ([]byte, bool) { return v.Bytes, true }, f.Returns, nil
	case word == "null":
		return func(types.Type) ([]byte, bool) { return nil, true }, hint, nil
	}
	for _, kind := range literalKinds {
		for _, t := range []types.Type{types.Boolean, types.Blob, types.UUID, types.VarInt, types.Double, types.Duration} {
			if _, err := t.ParseLiteral(kind, word); err == nil {
				if kind == types.BooleanLiteral && word != "true" && word != "false" {
					continue
				}
				if kind == types.HexLiteral && !strings.HasPrefix(word, "0x") {
					continue
				}
				if kind == types.FloatLiteral && !strings.Contains(word, ".") {
					continue
				}
				return literal(kind, word, hint), hint, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("what is %q?", word)
}

func literal(kind types.LiteralKind, text string, hint types.Type) func(types.Type) ([]byte, bool) {
	return func(t types.Type) ([]byte, bool) {
		if hint != nil {
			t = hint
		}
		b, err := t.ParseLiteral(kind, text)
		return b, err == nil
	}
}

// call evaluates name(...), the name being read.
func (e *expression) call(name string) (types.Value, *Function, error) {
	e.rest = strings.TrimPrefix(e.rest, "(")
	var args []Arg
	var fits []func(types.Type) ([]byte, bool)
	for !strings.HasPrefix(e.rest, ")") {
		fit, typ, err := e.eval()
		if err != nil {
			return types.Value{}, nil, err
		}
		arg := Arg{Type: typ}
		if typ == nil {
			arg.Fits = func(t types.Type) Fit {
				if _, ok := fit(t); ok {
					return WeakFit
				}
				return NoFit
			}
		}
		args, fits = append(args, arg), append(fits, fit)
		e.rest = strings.TrimPrefix(e.rest, ", ")
	}
	e.rest = e.rest[1:]
	f, err := ResolveArgs(name, args, nil)
	if err != nil {
		return types.Value{}, nil, err
	}
	c := &Call{Env: testEnv()}
	for i, t := range f.Args {
		b, _ := fits[i](t)
		c.Args = append(c.Args, types.Value{Bytes: b})
	}
	v, err := f.Call(c)
	return v, f, err
}

func TestExamples(t *testing.T) {
	for _, f := range All() {
		if f.Name != strings.ToLower(f.Name) && f.Name != "countRows" || f.Doc == "" || f.Returns == nil ||
			(f.Call == nil) == (f.Init == nil) {
			t.Errorf("%s is not declared well", f)
		}
		for _, example := range f.Examples {
			e := expression{rest: example.Call}
			name, _, _ := strings.Cut(e.rest, "(")
			e.rest = e.rest[len(name):]
			v, g, err := e.call(name)
			if err != nil {
				t.Errorf("%s: %v", example.Call, err)
				continue
			}
			if g != f && example.Call[:len(f.Name)] == f.Name && !strings.Contains(example.Call, "null") {
				t.Errorf("%s is an example of %s but calls %s", example.Call, f, g)
			}
			got := "null"
			if v.Bytes != nil {
				got = g.Returns.Format(v.Bytes)
			}
			if got != example.Result {
				t.Errorf("%s: got %s, want %s", example.Call, got, example.Result)
			}
		}
	}
}

// Every native type but blob converts to blob and back, under all its names.
func TestEveryTypeConverts(t *testing.T) {
	names := []string{"varchar", "empty"}
	for _, typ := range types.Natives() {
		if typ != types.Blob {
			names = append(names, typ.String())
		}
	}
	for _, name := range names {
		for _, f := range []string{name + "_as_blob", name + "asblob", "blob_as_" + name, "blobas" + name} {
			if !Known(f) {
				t.Errorf("no %s", f)
			}
		}
	}
	for _, f := range []string{"blob_as_blob", "dateof", "nope", "countrows"} {
		if Known(f) {
			t.Errorf("there should be no %s", f)
		}
	}
}

// The texts were recorded from Cassandra 5.0; the order of signatures is ours.
func TestResolveErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		args []Arg
		want string
	}{
		{"nope", nil, "Unknown function 'nope'"},
		{
			"now",
			[]Arg{{Text: "i", Type: types.Int}},
			"Invalid number of arguments in call to function system.now: 0 required but 1 provided",
		},
		{
			"to_date",
			[]Arg{{Text: "i", Type: types.Int}},
			"Invalid call to function to_date, none of its type signatures match (known type signatures: " +
				"system.to_date : (timestamp) -> date, system.to_date : (timeuuid) -> date)",
		},
		{
			"to_date",
			[]Arg{{Text: "NULL"}},
			"Ambiguous call to function to_date (can be matched by following signatures: " +
				"system.to_date : (timestamp) -> date, system.to_date : (timeuuid) -> date): " +
				"use type casts to disambiguate",
		},
		{
			"min_timeuuid",
			[]Arg{{Text: "i", Type: types.Int}},
			"Type error: i cannot be passed as argument 0 of function system.min_timeuuid of type timestamp",
		},
		{
			"sum",
			[]Arg{{Text: "ts", Type: types.Timestamp}},
			"Ambiguous call to function sum (can be matched by following signatures: " +
				"system.sum : (bigint) -> bigint, system.sum : (varint) -> varint): use type casts to disambiguate",
		},
		{
			"count", nil,
			"Invalid number of arguments in call to function system.count: 1 required but 0 provided",
		},
		{"max", nil, "Invalid number of arguments for function system.max(any)"},
		{
			"max",
			[]Arg{{Text: "NULL"}},
			"Cannot infer type of argument NULL in call to function system.max(any): use type casts to disambiguate",
		},
	} {
		f, err := ResolveArgs(test.name, test.args, nil)
		if err == nil {
			t.Errorf("%s became %s", test.name, f)
		} else if err.Error() != test.want {
			t.Errorf("%s: got %s, want %s", test.name, err, test.want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, test := range []struct {
		name string
		arg  types.Type
		want string
	}{
		{"to_date", types.TimeUUID, "system.to_date : (timeuuid) -> date"},
		{"sum", types.Int, "system.sum : (int) -> int"},
		{"uuid_as_blob", types.TimeUUID, "system.uuid_as_blob : (uuid) -> blob"},
		{"blob_as_int", types.Text, "system.blob_as_int : (blob) -> int"},
		{"min", types.Text, "system.min : (text) -> text"},
		{"count", nil, "system.count : (blob) -> bigint"},
	} {
		f, err := Resolve(test.name, []types.Type{test.arg})
		if err != nil || f.String() != test.want {
			t.Errorf("%s: got %v, %v; want %s", test.name, f, err, test.want)
		}
	}
	f, err := Resolve("min", []types.Type{types.TimeUUID})
	if err != nil || f.Returns != types.LegacyTimeUUID {
		t.Errorf("min of timeuuid: got %v, %v", f, err)
	}
}

// Where Cassandra refuses bytes, so do we, in its words.
func TestBlobRefused(t *testing.T) {
	f, err := Resolve("blobasint", []types.Type{types.Blob})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Call(&Call{Args: []types.Value{{Bytes: []byte{5}}}})
	want := "In call to function system.blobasint, value 0x05 is not a valid binary representation for type int"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestToken(t *testing.T) {
	f := Token([]types.Type{types.Int, types.Text})
	v, err := f.Call(&Call{Args: []types.Value{{Bytes: []byte{0, 0, 0, 1}}, {Bytes: []byte("abc")}}})
	if err != nil || types.DecodeBigInt(v.Bytes) != 8771735466527499816 {
		t.Errorf("got %x, %v", v.Bytes, err)
	}
	if v, err := f.Call(&Call{Args: []types.Value{{Bytes: []byte{0, 0, 0, 1}}, {}}}); err != nil || v.Bytes != nil {
		t.Errorf("of null: got %x, %v", v.Bytes, err)
	}
}
