package define

import (
	"os"
	"strings"
	"testing"

	"github.com/cqld/cqld/planner/scope"
)

// TestRoles has what is said to clients that have not logged in, when they run a statement and when they prepare it.
func TestRoles(t *testing.T) {
	file, err := os.ReadFile("testdata/roles.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, checked := catalog(t), 0
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, run := range []bool{true, false} {
			_, err := plan(scope.New(c, ""), fields[0], Env{Text: fields[0], Run: run})
			if got := "error " + err.Error(); got != fields[i+1] {
				t.Errorf("%s, run %t\ngot:  %s\nwant: %s", fields[0], run, got, fields[i+1])
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("nothing is checked")
	}
}
