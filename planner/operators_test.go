package planner

import (
	"strings"
	"testing"
	"time"
)

// TestDeepOperators plans long sums, where every operator has overloads whose arguments have overloads: the choice
// must not be made anew for each of them.
func TestDeepOperators(t *testing.T) {
	const n = 500
	env := Env{Catalog: catalog(t), Keyspace: "ks"}
	planText(&env, "CREATE TABLE deep (k int PRIMARY KEY, v int)")
	for _, text := range []string{
		"SELECT v FROM deep WHERE k = 1" + strings.Repeat(" + 1", n),
		"SELECT v FROM deep WHERE k = " + strings.Repeat("(1 + ", n) + "1" + strings.Repeat(")", n),
		"SELECT k" + strings.Repeat(" + 1", n) + " FROM deep",
		"SELECT " + strings.Repeat("cast(k + ", n) + "1" + strings.Repeat(" as int)", n) + " FROM deep",
	} {
		begin := time.Now()
		if _, err := prepare(env, text); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%.40s took %v", text, took)
		}
	}
}
