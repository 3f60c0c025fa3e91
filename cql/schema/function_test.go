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
	for _, f := range []*schema.Function{
		{
			Name: "f", ArgNames: []string{"x"}, Args: []types.Type{types.Int}, Returns: types.Int, Language: "java",
			Body: "return 1;",
		},
		{
			Name: "B", ArgNames: []string{}, Args: []types.Type{}, Returns: list, CalledOnNull: true, Language: "java",
			Body: "x",
		},
		{
			Name: "f", ArgNames: []string{"s", "V"}, Args: []types.Type{list, types.Text}, Returns: list, Language: "java",
			Body: "y",
		},
		{Name: "e", ArgNames: []string{"l"}, Args: []types.Type{list}, Returns: types.Text, Language: "java", Body: "z"},
	} {
		f.Keyspace = "a"
		c = c.WithFunction(f)
	}
	return c.WithAggregate(&schema.Aggregate{
		Keyspace: "a", Name: "g", Args: []types.Type{types.Text}, Returns: types.Text, StateFunction: "f", StateType: list,
		FinalFunction: "e", Initial: types.NewList(nil),
	}).WithAggregate(&schema.Aggregate{
		Keyspace: "a", Name: "h", Args: []types.Type{}, Returns: types.Int, StateFunction: "f", StateType: types.Int,
	})
}

func functionNames(k *schema.Keyspace) string {
	var names []string
	for _, f := range k.Functions {
		names = append(names, f.QuotedSignature())
	}
	for _, a := range k.Aggregates {
		names = append(names, a.QuotedSignature())
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
	moved := c.WithFunction(&b).WithFunction(&f)
	if moved.Version() != c.Version() {
		t.Error("the order counts in the version")
	}
	const then = `f(list<frozen<a>>, text); f(int); e(list<frozen<a>>); "B"(); g(text); h()`
	if got := functionNames(moved.Keyspace("a")); got != then {
		t.Error(got)
	}
	f.Body = "other"
	if c.WithFunction(&f).Version() == c.Version() || c.WithoutFunction(&f).Version() == c.Version() {
		t.Error("a changed function has no other version")
	}
	if got := functionNames(c.WithoutFunction(&b).WithoutAggregate(k.Aggregates[0]).Keyspace("a")); got !=
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
