package script_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
)

const example = `# What it shows.
# And why.
# recorded from: Cassandra 5.0.8

# A block may say something.
exec
CREATE TABLE t (
  k int PRIMARY KEY,
  v text);
INSERT INTO t (k, v) VALUES (1, ';');
Begin batch
  INSERT INTO t (k, v) VALUES (2, 'x');
  DELETE FROM t WHERE k = 1
apply batch;
# a comment of CQL
SELECT v FROM t; -- not the end
SELECT v FROM t;
----
ok
ok
ok
error syntax: line 2:17 extraneous input

query
SELECT * FROM t;
----
k int | v text
2 | 'x'
warning of some kind
`

func TestParse(t *testing.T) {
	s := parse(t, example)
	if want := []string{"# What it shows.", "# And why."}; !reflect.DeepEqual(s.Comment, want) {
		t.Errorf("comment %q", s.Comment)
	}
	if s.Stamp != "Cassandra 5.0.8" {
		t.Errorf("stamp %q", s.Stamp)
	}
	want := []*script.Block{
		{
			Line: 6, Kind: script.Exec, Comment: []string{"# A block may say something."},
			Statements: []string{
				"CREATE TABLE t (\n  k int PRIMARY KEY,\n  v text);",
				"INSERT INTO t (k, v) VALUES (1, ';');",
				"Begin batch\n  INSERT INTO t (k, v) VALUES (2, 'x');\n  DELETE FROM t WHERE k = 1\napply batch;",
				"# a comment of CQL\nSELECT v FROM t; -- not the end\nSELECT v FROM t;",
			},
			Expected: []string{"ok", "ok", "ok", "error syntax: line 2:17 extraneous input"},
		},
		{
			Line: 24, Kind: script.Query,
			Statements: []string{"SELECT * FROM t;"},
			Expected:   []string{"k int | v text", "2 | 'x'", "warning of some kind"},
		},
	}
	if len(s.Blocks) != len(want) {
		t.Fatalf("%d blocks", len(s.Blocks))
	}
	for i, b := range s.Blocks {
		if !reflect.DeepEqual(b, want[i]) {
			t.Errorf("block %d:\n%+v\nwant\n%+v", i, b, want[i])
		}
	}
	if s.String() != example {
		t.Errorf("printed\n%s", s)
	}
}

// TestUnrecorded prints a script without recorded answers.
func TestUnrecorded(t *testing.T) {
	s := parse(t, "# Shows.\n\n\nquery\nSELECT * FROM t;\n\nexec\nDROP TABLE t;")
	if got := s.String(); got != "# Shows.\n\nquery\nSELECT * FROM t;\n----\n\nexec\nDROP TABLE t;\n----\n" {
		t.Errorf("printed\n%s", got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"# Shows.\n\n# nothing\n":                          "line 3: a comment without a block",
		"# Shows.\n\nrun\nDROP TABLE t;":                   `line 3: a block begins with exec, each or query, not "run"`,
		"# Shows.\n\nexec\nDROP TABLE t\n----\nok":         "line 3: a statement that no semicolon ends",
		"# Shows.\n\nexec\n\nDROP TABLE t;":                "line 3: a statement that no semicolon ends",
		"exec\nBEGIN BATCH\nDELETE FROM t WHERE k = 1;\n":  "line 1: a statement that no semicolon ends",
		"query\nSELECT k FROM t;\nSELECT v FROM t;\n----":  "line 1: a query block has one statement",
		"exec\nDROP TABLE t;\n----\nok\n\nok\nok\n":        `line 6: a block begins with exec, each or query, not "ok"`,
		"exec\nDROP TABLE t;\n----\n\nokay\n----\nok\nok":  `line 5: a block begins with exec, each or query, not "okay"`,
		"exec\nDROP TABLE t;\nDROP TABLE u;\nDROP\n\nexec": "line 1: a statement that no semicolon ends",
	} {
		if _, err := script.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestTail(t *testing.T) {
	s := parse(t, "exec\nA;\n\nquery\nB;\n\nexec\nC;\n\nquery\nD;\n\nquery\nE;")
	if tail := s.Tail(); len(tail) != 2 || tail[0].Statements[0] != "D;" || tail[1].Statements[0] != "E;" {
		t.Errorf("tail %v", tail)
	}
	if tail := parse(t, "query\nA;").Tail(); len(tail) != 1 {
		t.Errorf("tail %v", tail)
	}
	if tail := parse(t, "query\nA;\n\nexec\nB;").Tail(); len(tail) != 0 {
		t.Errorf("tail %v", tail)
	}
}

// TestScriptsArePrintedAsTheyAre reads every script and prints it: recording again changes nothing else.
func TestScriptsArePrintedAsTheyAre(t *testing.T) {
	count := 0
	err := filepath.WalkDir("../scripts", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		s := parse(t, string(content))
		if got := s.String(); got != string(content) {
			t.Errorf("%s is printed as\n%s", path, got)
		}
		if len(s.Comment) == 0 || !strings.HasPrefix(s.Comment[0], "# ") {
			t.Errorf("%s has no comment at its top", path)
		}
		return nil
	})
	if err != nil || count == 0 {
		t.Errorf("%d scripts: %v", count, err)
	}
}

func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}
