package script

import (
	"reflect"
	"strings"
	"testing"
)

// answers are a block and its answers unbound, bound and with parts bound.
var answers = []struct {
	block       string
	expectation [3][]string
}{
	{
		"exec\nA;\nB;\nC;\n----\nok\n---- bound\n2 refused syntax\n2 ok\n2 warning w\n3 error no\n---- parts\n2 ok\n",
		[3][]string{
			{"ok"},
			{"ok", "refused syntax", "ok", "warning w", "error no"},
			{"ok", "ok", "error no"},
		},
	},
	{
		"exec\nA;\nB;\n----\nok\nwarning w\nerror no\n---- bound\n1 ok\n2 ok\n",
		[3][]string{{"ok", "warning w", "error no"}, {"ok"}, {"ok"}},
	},
	{
		"query\nA;\n----\na int\n1\n---- bound\na int\n---- parts\nerror no\n",
		[3][]string{{"a int", "1"}, {"a int"}, {"error no"}},
	},
	{"query\nA;\n----\na int\n1\n", [3][]string{{"a int", "1"}, {"a int", "1"}, {"a int", "1"}}},
	{"# unbound: why\nexec\nA;\n----\nok\n", [3][]string{{"ok"}, {"ok"}, {"ok"}}},
}

// TestAnswers reads the answers of blocks and records them again.
func TestAnswers(t *testing.T) {
	for _, a := range answers {
		s, err := Parse("\n" + a.block)
		if err != nil {
			t.Fatal(err)
		}
		b := s.Blocks[0]
		again := *b
		again.Expected, again.Bound, again.Parts = nil, nil, nil
		for binding, want := range a.expectation {
			if got := b.expected(Binding(binding)); !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nbinding %d answers %q, want %q", a.block, binding, got, want)
			}
			again.expect(Binding(binding), want)
		}
		if got := (&Script{Blocks: []*Block{&again}}).String(); strings.TrimPrefix(got, "\n") != a.block {
			t.Errorf("recorded\n%s\nwant\n%s", got, a.block)
		}
	}
}

// TestFaults compares answers with one in which a Java exception came out.
func TestFaults(t *testing.T) {
	exec := &Block{Kind: Exec, Statements: []string{"A;", "B;"}}
	query := &Block{Kind: Query, Statements: []string{"A;"}}
	for _, c := range []struct {
		block     *Block
		got, want []string
		same      bool
	}{
		{exec, []string{"ok"}, []string{"ok", "fault"}, true},
		{exec, []string{"ok", "refused no", "ok"}, []string{"ok", "fault"}, true},
		{exec, []string{"ok", "error invalid: no"}, []string{"ok", "fault"}, true},
		{exec, []string{"ok", "error server: no"}, []string{"ok", "fault"}, false},
		{exec, []string{"error invalid: no", "ok"}, []string{"ok", "fault"}, false},
		{exec, []string{"ok"}, []string{"ok", "error invalid: no"}, false},
		{query, []string{"a int", "1"}, []string{"fault"}, true},
		{query, []string{"error server: no"}, []string{"fault"}, false},
	} {
		if same := reflect.DeepEqual(c.block.forgive(c.got, c.want), c.want); same != c.same {
			t.Errorf("%q for %q: same %v", c.got, c.want, same)
		}
	}
}

func TestWithoutChance(t *testing.T) {
	const bounds, failure = "java.lang.ArrayIndexOutOfBoundsException", "received 0 responses and 1 failures: UNKNOWN from "
	for message, want := range map[string]string{
		bounds + ": Index 2 out of bounds for length 2": bounds,
		bounds: bounds,
		"reason: NullPointerException Cannot invoke \"x()\"\nas it is null": "reason: NullPointerException",
		"java.lang.NumberFormatException: For input string":                 "java.lang.NumberFormatException: For input string",
		failure + "/127.0.0.1:7000":                                         failure + "/{node}",
		failure + "localhost/127.0.0.1:7000":                                failure + "/{node}",
		"Undefined column name x in table ks.t":                             "Undefined column name x in table ks.t",
	} {
		if got := withoutChance(message); got != want {
			t.Errorf("%s is shown as %s, want %s", message, got, want)
		}
	}
}

// TestSortSignatures gives both texts in an order that a node may have.
func TestSortSignatures(t *testing.T) {
	for text, want := range map[string]string{
		"Invalid call to function f, none of its type signatures match (known type signatures: " +
			"ks.f : (text) -> int, ks.f : (int, map<int, text>) -> int, ks.f : () -> int)": //
		"Invalid call to function f, none of its type signatures match (known type signatures: " +
			"ks.f : () -> int, ks.f : (int, map<int, text>) -> int, ks.f : (text) -> int)",
		"Ambiguous call to function f (can be matched by following signatures: ks.f : (text) -> int, ks.f : (int) -> int)" +
			": use type casts to disambiguate": //
		"Ambiguous call to function f (can be matched by following signatures: ks.f : (int) -> int, ks.f : (text) -> int)" +
			": use type casts to disambiguate",
		"Undefined column name b, a in table t": "Undefined column name b, a in table t",
	} {
		if got := sortSignatures(text); got != want {
			t.Errorf("%s\ngives\n%s", text, got)
		}
	}
}
