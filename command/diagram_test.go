package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
)

// TestDiagram draws the schema of a file and of a server.
func TestDiagram(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "schema.cql")
	const schema = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE shop;
-- Q1: the orders of a day
CREATE TABLE orders (day date, id int, item text, PRIMARY KEY (day, id)) WITH comment = 'Q2: an order';
CREATE KEYSPACE stock WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
-- Q4: an order by its number

-- Q3: an item
CREATE TABLE stock.items (name text PRIMARY KEY, free counter);
`
	if err := os.WriteFile(script, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	want := `Q1, Q2 ─▶
┌ orders ────────┐
│ day   date  K  │
│ id    int   C↑ │
│ item  text     │
└────────────────┘

Q1  the orders of a day
Q2  an order
Q4  an order by its number (no table)
K partition key · C↑ clustering, ascending
`
	if out := must(t, "diagram", script, "-k", "shop"); out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	if out := must(t, "diagram", script, "--logical"); strings.Contains(out, "date") || !strings.Contains(out, "│ free  ++ │") {
		t.Error(out)
	}
	for name, want := range map[string]string{"a.svg": `data-table="stock.items"`, "a.md": "### orders\n", "a.txt": "keyspace stock\n"} {
		file := filepath.Join(dir, name)
		must(t, "diagram", script, "--out", file)
		if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s, error %v\n%s", name, err, content)
		}
	}
	s := cqltest.RunT(t)
	if code, _, errs := cqld(t, nil, "diagram", s.Addr()); code != exitFailed || errs != "cqld: there is no table to draw\n" {
		t.Errorf("without tables: exit %d, %s", code, errs)
	}
	s.Exec(t, schema)
	if out := must(t, "diagram", s.Addr()); !strings.Contains(out, "Q2 ─▶\n┌ orders ") || strings.Contains(out, "Q1") {
		t.Error(out)
	}
	for _, wrong := range []struct{ file, content, want string }{
		{"missing.cql", "", "missing.cql: no such file or directory\n"},
		{"wrong.cql", "\nCREATE TABLE t (k int);", "wrong.cql:2: "},
	} {
		path := filepath.Join(dir, wrong.file)
		if wrong.content != "" {
			if err := os.WriteFile(path, []byte(wrong.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, errs := cqld(t, nil, "diagram", path); code != exitFailed || !strings.Contains(errs, wrong.want) {
			t.Errorf("%s: exit %d, %s", wrong.file, code, errs)
		}
	}
}
