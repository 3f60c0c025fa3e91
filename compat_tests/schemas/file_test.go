package schemas

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// schema is one schema of a file.
type schema struct {
	name       string // of its keyspace, as CQL writes it
	internals  bool
	pending    string // the feature that cqld does not support
	notFedBack string // why Cassandra refuses its own text
	statements []string
	described  string
}

// file is a data file: the comments at its top and the schemas.
type file struct {
	path, head string
	schemas    []*schema
}

// readFiles reads testdata.
func readFiles(t *testing.T) (all []*file) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split("\n"+string(content), "\n== ")
		f := &file{path: path, head: strings.TrimPrefix(parts[0], "\n")}
		for _, part := range parts[1:] {
			f.schemas = append(f.schemas, parse(part))
		}
		all = append(all, f)
	}
	return all
}

// parse reads the text after the sign of a schema.
func parse(text string) *schema {
	title, text, _ := strings.Cut(text, "\n")
	body, described, _ := strings.Cut(text+"\n", "\n----\n")
	s := &schema{described: strings.TrimSpace(described)}
	s.name, s.internals = strings.CutSuffix(title, " internals")
	for {
		line, rest, _ := strings.Cut(body, "\n")
		if text, ok := strings.CutPrefix(line, "pending: "); ok {
			s.pending = text
		} else if text, ok := strings.CutPrefix(line, "not fed back: "); ok {
			s.notFedBack = text
		} else {
			break
		}
		body = rest
	}
	for _, statement := range strings.SplitAfter(strings.TrimSpace(body)+"\n", ";\n") {
		if statement != "" {
			s.statements = append(s.statements, strings.TrimSpace(statement))
		}
	}
	return s
}

// String is the schema as in its file.
func (s *schema) String() string {
	var b strings.Builder
	b.WriteString("== " + s.name)
	if s.internals {
		b.WriteString(" internals")
	}
	b.WriteString("\n")
	if s.pending != "" {
		b.WriteString("pending: " + s.pending + "\n")
	}
	if s.notFedBack != "" {
		b.WriteString("not fed back: " + s.notFedBack + "\n")
	}
	return b.String() + strings.Join(s.statements, "\n") + "\n----\n" + s.described + "\n"
}

// canBeFed reports whether the schema can be made of the output of DESCRIBE. A comment is not to be used, it
// says.
func (s *schema) canBeFed() bool { return s.notFedBack == "" && !strings.Contains(s.described, "\n/*") }

// write writes the file with the recorded texts.
func (f *file) write(release string) error {
	var b strings.Builder
	for line := range strings.Lines(f.head) {
		if !strings.HasPrefix(line, "# recorded from: ") {
			b.WriteString(line)
		}
	}
	text := strings.TrimSpace(b.String()) + "\n# recorded from: Cassandra " + release + "\n"
	for _, s := range f.schemas {
		text += "\n" + s.String()
	}
	return os.WriteFile(f.path, []byte(text), 0o644)
}

// differences are the first lines in which two texts differ.
func differences(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf("line %d is missing: %s", i+1, w[i])
		case i >= len(w):
			return fmt.Sprintf("line %d is too much: %s", i+1, g[i])
		case g[i] != w[i]:
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return ""
}
