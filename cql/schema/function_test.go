package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// withFunctions has functions and aggregates in keyspace a.
func withFunctions(t *testing.T) *schema.Catalog {
	t.Helper()
	c := withTypes(t)
	a := c.Type("a", "a")
	list := &types.List{Elem: types.Freeze(a)}
	callable := func(name string, returns types.Type, args ...types.Type) schema.Callable {
		return schema.Callable{Keyspace: "a", Name: name, Args: args, Returns: returns}
	}
	for _, f := range []*schema.Function{
		{
			Callable: callable("f", types.Int, types.Int), ArgNames: []string{"x"}, Language: "java", Body: "return 1;",
		},
		{Callable: callable("B", list), ArgNames: []string{}, CalledOnNull: true, Language: "java", Body: "x"},
		{
			Callable: callable("f", list, list, types.Text), ArgNames: []string{"s", "V"}, Language: "java", Body: "y",
		},
		{Callable: callable("e", types.Text, list), ArgNames: []string{"l"}, Language: "java", Body: "z"},
	} {
		c = c.WithRoutine(f)
	}
	return c.WithRoutine(&schema.Aggregate{
		Callable: callable("g", types.Text, types.Text), StateFunction: "f", StateType: list, FinalFunction: "e",
		Initial: types.NewList(nil),
	}).WithRoutine(&schema.Aggregate{Callable: callable("h", types.Int), StateFunction: "f", StateType: types.Int})
}

func functionNames(k *schema.Keyspace) string {
	var names []string
	for _, r := range k.Routines() {
		names = append(names, r.Base().QuotedSignature())
	}
	return strings.Join(names, "; ")
}

// Functions stand where the first of their name was made; one that is replaced moves behind the others.
func TestFunctionOrder(t *testing.T) {
	c := withFunctions(t)
	const want = `f(int); f(list<frozen<a>>, text); "B"(); e(list<frozen<a>>); g(text); h()`
	if got := functionNames(c.Keyspace("a")); got != want {
		t.Error(got)
	}
	k := c.Keyspace("a")
	b := *k.Function("B", nil)
	f := *k.Function("f", []types.Type{types.Int})
	moved := c.WithRoutine(&b).WithRoutine(&f)
	if moved.Version() != c.Version() {
		t.Error("the order counts in the version")
	}
	const then = `f(list<frozen<a>>, text); f(int); e(list<frozen<a>>); "B"(); g(text); h()`
	if got := functionNames(moved.Keyspace("a")); got != then {
		t.Error(got)
	}
	f.Body = "other"
	if c.WithRoutine(&f).Version() == c.Version() || c.WithoutRoutine(&f).Version() == c.Version() {
		t.Error("a changed function has no other version")
	}
	if got := functionNames(c.WithoutRoutine(&b).WithoutRoutine(k.Aggregates[0]).Keyspace("a")); got !=
		`f(int); f(list<frozen<a>>, text); e(list<frozen<a>>); h()` {
		t.Error(got)
	}
}

// An aggregate is made of the functions whose arguments are the state and its own.
func TestAggregateCalls(t *testing.T) {
	k := withFunctions(t).Keyspace("a")
	var calls []string
	for _, a := range k.Aggregates {
		for _, f := range k.Functions {
			if a.Calls(f) {
				calls = append(calls, a.Name+" "+f.Signature())
			}
		}
	}
	if got := strings.Join(calls, "; "); got != "g f(list<frozen<a>>, text); g e(list<frozen<a>>); h f(int)" {
		t.Error(got)
	}
}

// Functions follow a changed type, and survive an encoding.
func TestEncodeFunctions(t *testing.T) {
	c := withFunctions(t)
	changed := *c.Type("a", "a")
	changed.Fields = append(changed.Fields[:1:1], types.Field{Name: "y", Type: types.Text})
	c = c.WithType(&changed)
	if class := types.ExactClassName(c.Keyspace("a").Aggregates[0].StateType); !strings.Contains(class, ",79:") {
		t.Errorf("the state has the old type: %s", class)
	}
	encoded := schema.Encode(c)
	again := decode(t, encoded)
	if again.Version() != c.Version() || !reflect.DeepEqual(schema.Encode(again), encoded) {
		t.Error("functions change in an encoding")
	}
	a, b := c.Keyspace("a"), again.Keyspace("a")
	for i, f := range a.Functions {
		if f.CQL() != b.Functions[i].CQL() {
			t.Errorf("%s becomes %s", f.CQL(), b.Functions[i].CQL())
		}
	}
	for i, g := range a.Aggregates {
		if g.CQL() != b.Aggregates[i].CQL() || (g.Initial == nil) != (b.Aggregates[i].Initial == nil) {
			t.Errorf("%s becomes %s", g.CQL(), b.Aggregates[i].CQL())
		}
	}
}
