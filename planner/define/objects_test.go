package define

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/scope"
)

// TestObjects compares the results of definitions with files. A line that begins with > is a statement in the keyspace
// ks; the lines up to the next one are its warnings and the DESCRIBE of the changed object, or the error. Lines of
// options with their defaults are left out. The errors are those of Cassandra in compat_tests/scripts.
func TestObjects(t *testing.T) {
	files, err := filepath.Glob("testdata/objects/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := catalog(t)
		defaults := defaultLines(c)
		blocks := strings.Split("\n"+strings.TrimRight(string(content), "\n"), "\n> ")
		var out strings.Builder
		out.WriteString(strings.TrimSpace(blocks[0]) + "\n")
		for _, block := range blocks[1:] {
			statement, want, _ := strings.Cut(block, "\n")
			want = strings.TrimSpace(want)
			var got string
			if got, c = objectText(c, statement, defaults); got != want && !*update {
				t.Errorf("%s: %s\ngot:\n%s\nwant:\n%s", file, statement, got, want)
			}
			out.WriteString("\n> " + statement + "\n" + got + "\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// describeKinds has the form of DESCRIBE for each kind of object.
var describeKinds = map[schema.Target]cql.DescribeKind{
	schema.TargetKeyspace: cql.DescribeKeyspace, schema.TargetTable: cql.DescribeTable,
	schema.TargetType: cql.DescribeType, schema.TargetFunction: cql.DescribeFunction,
	schema.TargetAggregate: cql.DescribeAggregate,
}

// objectText runs a statement and returns its result and the catalog after it.
func objectText(c *schema.Catalog, statement string, defaults []string) (string, *schema.Catalog) {
	p, err := plan(scope.New(c, "ks"), statement, Env{})
	if err != nil {
		return errorText(err), c
	}
	var lines []string
	switch p := p.(type) {
	case *Describe:
		rows, err := p.In("ks").Rows(c)
		if err != nil {
			return errorText(err), c
		}
		for _, row := range rows {
			lines = append(lines, string(row[0])+" "+string(row[1])+" "+string(row[2]))
		}
	case Definition:
		next, out, err := p.Apply(c, Run{NewID: newID(c), Time: 1_700_000_000_000_000})
		if err != nil {
			return errorText(err), c
		}
		for _, w := range out.Warnings {
			lines = append(lines, "warning: "+strings.ReplaceAll(w, "\n", `\n`))
		}
		if next == c {
			return strings.Join(append(lines, "unchanged"), "\n"), c
		}
		c = next
		lines = append(lines, changedText(c, out.Answer, defaults)...)
	default:
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n"), c
}

// changedText describes a changed object without default options.
func changedText(c *schema.Catalog, change schema.Change, defaults []string) (lines []string) {
	if change.Kind == schema.Dropped {
		return []string{"dropped"}
	}
	d := &Describe{Kind: describeKinds[change.Target], Keyspace: change.Keyspace, Name: change.Name, Only: true}
	if k := c.Keyspace(change.Keyspace); k.Views[change.Name] != nil {
		d.Kind = cql.DescribeView
	}
	rows, err := d.Rows(c)
	if err != nil {
		return []string{errorText(err)}
	}
	for _, row := range rows {
		for line := range strings.SplitSeq(string(row[3]), "\n") {
			if !slices.Contains(defaults, strings.TrimSuffix(line, ";")) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// defaultLines returns the lines of the DESCRIBE of a table with default options.
func defaultLines(c *schema.Catalog) (lines []string) {
	for line := range strings.SplitSeq(c.Table("ks", "local").CQL(false), "\n") {
		if strings.HasPrefix(line, "    AND ") {
			lines = append(lines, strings.TrimSuffix(line, ";"))
		}
	}
	return lines
}
