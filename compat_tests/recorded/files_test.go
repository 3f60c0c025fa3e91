package recorded

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
)

var (
	addr   = flag.String("addr", "", "ask the Cassandra at this address everything again")
	record = flag.Bool("record", false, "write what the Cassandra at -addr answers into the files")
)

// recorder returns a file with the answers of a Cassandra in the place of those it has.
type recorder func(c *cassandra, file string) string

// files are the recorded files, by their path in the module.
var files = map[string]recorder{
	"cql/functions/testdata/arithmetic.txt":      statements,
	"cql/functions/testdata/casts.txt":           statements,
	"cql/functions/testdata/examples.txt":        statements,
	"cql/parser/testdata/corpus.txt":             verdicts,
	"cql/schema/testdata/describe.jsonl":         userDescriptions,
	"cql/schema/testdata/keyspace_options.jsonl": keyspaceOptions,
	"cql/schema/testdata/table_options.jsonl":    tableOptions,
	"cql/types/testdata/json_printed.txt":        jsonPrinted,
	"cql/types/json/testdata/texts.txt":          jsonTexts,
	"cql/types/testdata/json_values.txt":         jsonValues,
	"cql/types/testdata/literals.txt":            literals,
	"cql/types/testdata/utf8.txt":                utf8,
	"cql/types/testdata/validate.txt":            validate,
	"planner/exec/testdata/levels.txt":           levels,
	"planner/exec/testdata/pages.txt":            pages,
	"planner/expr/testdata/expressions.txt":      statements,
	"planner/define/testdata/roles.txt":          roles,
	"store/system/testdata/definitions.json":     definitions,
	"store/system/testdata/describe.jsonl":       systemDescriptions,
	"store/system/testdata/user_tables.json":     userTables,
}

const root = "../.."

// stamp matches the name of the server that a file was recorded from, as text or as JSON.
var stamp = regexp.MustCompile(`(recorded from"?: "?)Cassandra 5\.0\.\d+`)

// TestStamps checks that every file names once, at its top, the server it was recorded from.
func TestStamps(t *testing.T) {
	for path := range files {
		content := read(t, path)
		if at := stamp.FindAllStringIndex(content, -1); len(at) != 1 || at[0][0] > 400 {
			t.Errorf("%s: it has %d stamps, want one at its top", path, len(at))
		}
	}
}

// recordedElsewhere are the recorded files that other programs record: TestRingLevels of cqltest the answers of a ring,
// and compat_tests/drivers/cqlsh/scripts.py what cqlsh prints.
var recordedElsewhere = []string{
	"cqltest/testdata/ring_levels.txt",
	"protocol/client/shell/testdata/copy.txt",
	"protocol/client/shell/testdata/session.txt",
	"protocol/client/shell/testdata/types.txt",
}

// TestComplete looks for recorded files without a recorder. The files of compat_tests are recorded by the packages that
// they belong to.
func TestComplete(t *testing.T) {
	said := []byte("recorded from")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		name := strings.TrimPrefix(path, root+"/")
		switch {
		case d.IsDir() && (name == "compat_tests" || d.Name()[0] == '.' && path != root):
			return fs.SkipDir
		case d.IsDir() || !strings.Contains(name, "/testdata/") || files[name] != nil:
			return nil
		case slices.Contains(recordedElsewhere, name):
			return nil
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, said) {
			t.Errorf("%s says that it was recorded, and no recorder knows it", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFiles asks everything again and compares or records.
func TestFiles(t *testing.T) {
	if *addr == "" {
		t.Skip("needs -addr of a Cassandra")
	}
	release := ""
	if *record {
		var err error
		if release, err = script.CassandraRelease(t.Context(), *addr); err != nil {
			t.Fatalf("-record wants -addr of a real Cassandra: %v", err)
		}
	}
	var paths []string
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			old := read(t, path)
			again := files[path](connect(t, *addr), old)
			if t.Failed() {
				return
			}
			if !*record {
				compare(t, path, old, again)
				return
			}
			if !stamp.MatchString(again) {
				t.Fatal("its top does not say: recorded from: Cassandra 5.0.0")
			}
			again = stamp.ReplaceAllString(again, "${1}Cassandra "+release)
			if err := os.WriteFile(filepath.Join(root, path), []byte(again), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// compare shows the first dozen of the lines that differ.
func compare(t *testing.T, path, old, again string) {
	t.Helper()
	a, b := strings.Split(old, "\n"), strings.Split(again, "\n")
	shown := 0
	for i := range max(len(a), len(b)) {
		was, is := "", ""
		if i < len(a) {
			was = a[i]
		}
		if i < len(b) {
			is = b[i]
		}
		if was == is {
			continue
		}
		if shown++; shown > 12 {
			t.Errorf("and more")
			return
		}
		t.Errorf("%s:%d\nrecorded %s\nanswers  %s", path, i+1, was, is)
	}
}
