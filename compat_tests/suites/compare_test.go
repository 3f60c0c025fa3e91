package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outcomesOf makes outcomes of "test result" pairs.
func outcomesOf(pairs ...string) []outcome {
	var all []outcome
	for _, p := range pairs {
		test, r, _ := strings.Cut(p, " ")
		all = append(all, outcome{test: test, result: result(r)})
	}
	return all
}

// gocqlV4 is a comparison with a test of each kind.
func gocqlV4() comparison {
	return compare(suite{name: "gocql-v4", version: "v1.7.0", protocol: "v4"},
		outcomesOf("A passed", "B failed", "C failed", "D passed", "E skipped", "F skipped", "R failed", "R passed"),
		outcomesOf("A passed", "B passed", "C failed", "D failed", "E skipped", "F passed", "G passed", "R passed"))
}

func testsOf(list []difference) string {
	var names []string
	for _, d := range list {
		names = append(names, d.test)
	}
	return strings.Join(names, " ")
}

func TestCompare(t *testing.T) {
	c := gocqlV4()
	if c.ran != 7 || c.passed != 2 || c.passedReal != 5 {
		t.Errorf("ran %d, passed %d here and %d there", c.ran, c.passed, c.passedReal)
	}
	if got := testsOf(c.here) + "; " + testsOf(c.both) + "; " + testsOf(c.there); got != "B F G R; C; D" {
		t.Errorf("differences %s", got)
	}
	if c.here[2].message != unfinished {
		t.Errorf("a test that one server does not tell of: %q", c.here[2].message)
	}
}

// TestCauses explains the known differences, lists the others, and finds the causes that explain nothing.
func TestCauses(t *testing.T) {
	folder := t.TempDir()
	content := `# why
gocql-v4 | cqld | B | needs user-defined types
gocql-v4 | cqld | A | this one passes
gocql* | cassandra | C* | never worked | not even once

gocql* | cqld | F | needs ALTER
pytest* | cqld | X | of a suite that is not there
apache-* | cqld | A | of suites that did not run
`
	if err := os.WriteFile(filepath.Join(folder, "go.txt"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	why, err := readCauses(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := gocqlV4()
	err = why.explain(&c)
	if err == nil {
		t.Fatal("D, G and R have no cause")
	}
	var unexplained []string
	for line := range strings.Lines(err.Error()) {
		unexplained = append(unexplained, strings.Split(line, " | ")[2][:1])
	}
	if got := strings.Join(unexplained, ""); got != "GRD" {
		t.Errorf("unexplained: %s: %v", got, err)
	}
	if c.both[0].cause != "never worked | not even once" {
		t.Errorf("cause of C: %q", c.both[0].cause)
	}
	v3 := c
	v3.suite.name = "gocql-v3"
	stale := why.stale([]comparison{c, v3})
	if len(stale) != 2 || !strings.Contains(stale[0], "| A:") || !strings.Contains(stale[1], "| X:") {
		t.Errorf("stale: %q", stale)
	}
}

func TestCausesRefused(t *testing.T) {
	for _, line := range []string{"gocql-v4 | TestA | no server", "gocql-v4 | nobody | TestA | cause"} {
		if c, err := parseCause(line); err == nil {
			t.Errorf("%s: %v", line, c)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"TestA", "TestA", true},
		{"TestA", "TestAB", false},
		{"Test*", "TestAB", true},
		{"*.ATest.*[v5]", "a.ATest.test[v4][v5]", true},
		{"*.ATest.*[v5]", "a.ATest.test[v5][v4]", false},
		{"a*b*c", "abcb", false},
	} {
		if fits(c.pattern, c.name) != c.want {
			t.Errorf("fits(%q, %q) is not %v", c.pattern, c.name, c.want)
		}
	}
}

// TestPage writes a suite into a page that already speaks of it and of another.
func TestPage(t *testing.T) {
	page := "# Prose\n" + pageBegin + tableHead +
		"| gocql-v4 | v1.6.0 | v4 | 9 | 9 | 9 |\n| gocqlx | v3.0.4 | v4 | 5 | 4 | 5 |\n" +
		"\n### gocql-v4\n\nold\n\n### gocqlx\n\nkept\n\n- kept too\n\n" + pageEnd + "more\n"
	c := gocqlV4()
	c.here[0].cause, c.here[1].cause, c.here[3].cause = "needs B", "needs it all", "needs it all"
	got, err := updated(page, "5.0.8", []comparison{c})
	if err != nil {
		t.Fatal(err)
	}
	want := "# Prose\n" + pageBegin + "\nrecorded from: Cassandra 5.0.8\n\n" + tableHead +
		"| gocql-v4 | v1.7.0 | v4 | 7 | 2 | 5 |\n| gocqlx | v3.0.4 | v4 | 5 | 4 | 5 |\n" + `
### gocql-v4

Cassandra passes, cqld does not:

- needs it all: ` + "`F`, `R`" + `
- needs B: ` + "`B`" + `
- **unexplained**: ` + "`G`" + `

Neither passes, and why Cassandra does not:

- **unexplained**: ` + "`C`" + `

cqld passes, Cassandra does not:

- **unexplained**: ` + "`D`" + `

### gocqlx

kept

- kept too

` + pageEnd + "more\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again, err := updated(got, "5.0.8", []comparison{c}); err != nil || again != got {
		t.Errorf("written again it is another page: %v\n%s", err, again)
	}
	if _, err := updated("# No lines\n", "5.0.8", nil); err == nil {
		t.Error("a page without the lines is written")
	}
}
