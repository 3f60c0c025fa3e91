package define

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// TestTypeSizes makes types that grow until they are refused. What is not refused can be stored and read.
func TestTypeSizes(t *testing.T) {
	for name, test := range map[string]struct {
		fields string // of the type number %[2]d that is made of number %[1]d
		want   int    // types that can be made
	}{
		"twice as large": {"CREATE TYPE ks.t%[2]d (a frozen<t%[1]d>, b tuple<t%[1]d, int>)", 10},
		"deeper":         {"CREATE TYPE ks.t%[2]d (" + deep(40) + ")", 5},
	} {
		c := catalog(t)
		made := 0
		apply := func(statement string) error {
			stmt, _, err := parser.Parse(statement)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Make(stmt, scope.New(c, ""), Env{})
			if err != nil {
				t.Fatal(err)
			}
			next, _, err := p.(Definition).Apply(c, Run{NewID: [16]byte{1}})
			if err == nil {
				c = next
			}
			return err
		}
		err := apply("CREATE TYPE ks.t0 (x int)")
		for ; err == nil; made++ {
			err = apply(fmt.Sprintf(test.fields, made, made+1))
		}
		if made != test.want || !strings.Contains(err.Error(), "A type may consist of") {
			t.Errorf("%s: %d types, then %v", name, made, err)
		}
		const function = "CREATE FUNCTION ks.f%s (a %s) CALLED ON NULL INPUT RETURNS %s LANGUAGE java AS 'return null;'"
		largest := fmt.Sprintf("t%d", made-1)
		if err := apply(fmt.Sprintf(function, "1", "int", largest)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, types := range [][]any{
			{"2", "tuple<" + deepType(198, "frozen<"+largest+">") + ">", "int"},
			{"3", "int", "list<" + deepType(200, "int") + ">"},
		} {
			err := apply(fmt.Sprintf(function, types...))
			if err == nil || !strings.Contains(err.Error(), "A type may consist of") {
				t.Errorf("%s: function %s: %v", name, types[0], err)
			}
		}
		if apply("ALTER TYPE ks.t0 ADD y "+strings.Repeat("frozen<list<", 60)+"int"+strings.Repeat(">>", 60)) == nil {
			t.Errorf("%s: the first can be made larger", name)
		}
		if _, err := schema.Decode(schema.Encode(c)); err != nil {
			t.Errorf("%s: %.200s", name, err)
		}
	}
	if count, depth := types.Size(types.Int); count != 1 || depth != 1 {
		t.Errorf("int has size %d, %d", count, depth)
	}
}

// deep is a field of lists inside each other around another type.
func deep(n int) string { return "a " + deepType(n, "frozen<t%[1]d>") }

// deepType is n lists inside each other around a type.
func deepType(n int, inside string) string {
	return strings.Repeat("frozen<list<", n) + inside + strings.Repeat(">>", n)
}
