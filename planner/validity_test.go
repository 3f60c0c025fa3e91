package planner

import (
	"testing"

	"github.com/cqld/cqld/planner/define"
)

// TestValidity changes the schema behind plans.
func TestValidity(t *testing.T) {
	for change, want := range map[string]Validity{
		"CREATE TABLE other (k int PRIMARY KEY)":  Valid,
		"ALTER TABLE t WITH comment = 'x'":        Outdated,
		"ALTER TABLE t WITH gc_grace_seconds = 1": Invalid,
		"ALTER TABLE t ADD w int":                 Invalid,
		"CREATE INDEX ON t (v)":                   Invalid,
		"DROP TABLE t":                            Invalid,
	} {
		env := Env{Catalog: catalog(t), Keyspace: "ks"}
		planText(&env, "CREATE TABLE t (k int PRIMARY KEY, v int)")
		read, err := prepare(env, "SELECT v FROM t WHERE k = 1")
		if err != nil {
			t.Fatal(err)
		}
		definition, err := prepare(env, change)
		if err != nil {
			t.Fatal(change, err)
		}
		changed, _, err := definition.Plan.(define.Definition).Apply(env.Catalog, define.Run{NewID: [16]byte{9}})
		if err != nil {
			t.Fatal(change, err)
		}
		if got := read.Validity(env.Catalog); got != Valid {
			t.Errorf("before %s: %v, want %v", change, got, Valid)
		}
		if got := read.Validity(changed); got != want {
			t.Errorf("after %s: %v, want %v", change, got, want)
		}
		if got := definition.Validity(changed); got != Outdated {
			t.Errorf("%s itself: %v, want %v", change, got, Outdated)
		}
	}
}
