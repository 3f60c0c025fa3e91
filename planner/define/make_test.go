package define

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	_ "github.com/cqld/cqld/cql/java"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/scope"
)

var update = flag.Bool("update", false, "write what statements are planned as into testdata")

// TestPlans compares plans with a file. A line that begins with > is a statement; what follows is its plan or the
// error. Definitions are applied, for the statements behind them.
func TestPlans(t *testing.T) {
	const file = "testdata/definitions.txt"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := catalog(t)
	blocks := strings.Split("\n"+string(content), "\n> ")
	var out strings.Builder
	out.WriteString(strings.TrimPrefix(blocks[0], "\n"))
	for _, block := range blocks[1:] {
		statement, want, _ := strings.Cut(block, "\n")
		want = strings.TrimRight(want, "\n")
		var got string
		if got, c = planText(c, statement); got != want && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", statement, got, want)
		}
		out.WriteString("\n> " + statement + "\n" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// planText is a plan with what is told when it is applied, or the error, and the catalog afterwards.
func planText(c *schema.Catalog, statement string) (string, *schema.Catalog) {
	s := scope.New(c, "ks")
	p, err := plan(s, statement, Env{})
	if err != nil {
		return errorText(err), c
	}
	lines := []string{p.String()}
	if !s.Qualified {
		lines = append(lines, "unqualified")
	}
	if d, ok := p.(Definition); ok {
		next, out, err := d.Apply(c, Run{NewID: newID(c)})
		if err != nil {
			return errorText(err), c
		}
		c = next
		for _, e := range out.Events {
			name := e.Name
			if e.Args != nil {
				name += "(" + strings.Join(e.Args, "; ") + ")"
			}
			lines = append(lines, "event "+strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Kind, e.Target, e.Keyspace, name)))
		}
	}
	return strings.Join(lines, "\n  "), c
}

// plan parses and plans a statement.
func plan(s *scope.Scope, statement string, env Env) (Plan, error) {
	stmt, _, err := parser.Parse(statement)
	if err != nil {
		return nil, err
	}
	return Make(stmt, s, env)
}

// newID is an id that no table of a catalog has.
func newID(c *schema.Catalog) [16]byte {
	tables := 0
	for _, k := range c.Keyspaces() {
		tables += len(k.TablesAndViews())
	}
	return [16]byte{2, byte(tables)}
}

// errorText is an error with its code.
func errorText(err error) string {
	if e, ok := cqlerr.As(err); ok {
		return fmt.Sprintf("error %04x: %s", uint32(e.Code), e.Message)
	}
	return "internal error: " + err.Error()
}

// catalog has the keyspace ks with the table local, and a keyspace of the server's own.
func catalog(t testing.TB) *schema.Catalog {
	t.Helper()
	k, _, err := schema.NewKeyspace("ks", []schema.Property{
		{Name: "replication", Map: map[string]string{"class": "SimpleStrategy"}},
	}, schema.Placement{Datacenter: "datacenter1"})
	if err != nil {
		t.Fatal(err)
	}
	c := schema.New(&schema.Keyspace{Name: "system", Tables: map[string]*schema.Table{}}).WithKeyspace(k)
	p, err := plan(scope.New(c, "ks"), "CREATE TABLE local (key text PRIMARY KEY)", Env{})
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = p.(Definition).Apply(c, Run{NewID: [16]byte{1}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// The bodies of all functions have a limit, because they stay in memory.
func TestManyBodies(t *testing.T) {
	c := catalog(t)
	text := ""
	for i := range 20 {
		statement := fmt.Sprintf("CREATE FUNCTION ks.f%d (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java "+
			"AS 'return a; //%s'", i, strings.Repeat("x", 200_000))
		if text, c = planText(c, statement); strings.Contains(text, "error") {
			break
		}
	}
	const want = "The bodies of all functions may have up to 2097152 bytes"
	if n := len(c.Keyspace("ks").Functions); n != 10 || !strings.Contains(text, want) {
		t.Errorf("after %d functions: %s", n, text)
	}
}
