package cqlfiles

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// pack packs a text with gzip.
func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFolder reads scripts in the order of their names, packed ones too, and leaves others and folders alone.
func TestFolder(t *testing.T) {
	scripts, skipped, err := ReadFolder(fstest.MapFS{
		"20.cql":      {Data: []byte("\ufeffSELECT 2;")},
		"10.cql.gz":   {Data: pack(t, "SELECT 1;")},
		"30.sh":       {Data: []byte("exit 1")},
		"old/x.cql":   {Data: []byte("SELECT 0;")},
		"notes.gz":    {Data: []byte("not packed")},
		"x.cql/y.cql": {Data: []byte("SELECT 0;")},
		"pipe.cql":    {Mode: fs.ModeNamedPipe},
	}, "dir")
	want := []File{{"dir/10.cql.gz", "SELECT 1;"}, {"dir/20.cql", "SELECT 2;"}}
	if err != nil || !reflect.DeepEqual(scripts, want) {
		t.Errorf("%q, error %v, want %q", scripts, err, want)
	}
	if want := []string{"30.sh", "notes.gz", "old", "pipe.cql", "x.cql"}; !reflect.DeepEqual(skipped, want) {
		t.Errorf("skipped are %q, want %q", skipped, want)
	}
	_, _, err = ReadFolder(fstest.MapFS{"a.cql.gz": {Data: []byte("not packed")}}, "dir")
	if err == nil || err.Error() != "dir/a.cql.gz: "+gzip.ErrHeader.Error() {
		t.Errorf("a file that is not packed: %v", err)
	}
}

// TestSchemaFirst has an export's files: data of a keyspace may sort before the schema.
func TestSchemaFirst(t *testing.T) {
	for _, schema := range []string{"schema.cql", "schema.cql.gz"} {
		text := []byte("SELECT 1;")
		if strings.HasSuffix(schema, ".gz") {
			text = pack(t, "SELECT 1;")
		}
		scripts, _, err := ReadFolder(fstest.MapFS{"a.cql": {}, schema: {Data: text}, "b.cql": {}, "zoo.cql": {}}, "dir")
		var names []string
		for _, s := range scripts {
			names = append(names, s.Name)
		}
		want := []string{"dir/" + schema, "dir/a.cql", "dir/b.cql", "dir/zoo.cql"}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, error %v, want %q", names, err, want)
		}
	}
}

// A small compressed file may have any number of bytes.
func TestLongScripts(t *testing.T) {
	const limit = 1000
	files := fstest.MapFS{
		"a.cql":    {Data: bytes.Repeat([]byte(" "), limit/2)},
		"b.cql.gz": {Data: pack(t, strings.Repeat(" ", limit/2))},
	}
	if scripts, _, err := readFolder(files, "dir", limit); err != nil || len(scripts) != 2 {
		t.Errorf("%d scripts, error %v", len(scripts), err)
	}
	files["b.cql.gz"].Data = pack(t, strings.Repeat(" ", limit/2+1))
	_, _, err := readFolder(files, "dir", limit)
	if !errors.Is(err, errTooLong) || !strings.HasPrefix(err.Error(), "dir/b.cql.gz: ") {
		t.Errorf("scripts that are too long together: %v", err)
	}
	if _, err := read(endless{}, "a.cql", limit); !errors.Is(err, errTooLong) {
		t.Errorf("a script without end: %v", err)
	}
}

// endless is a file of spaces.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// TestRun stops at the first error, which has the file and the line.
func TestRun(t *testing.T) {
	f := File{Name: "a.cql", Text: "-- first\nINSERT 1;\n\n/* second */ INSERT\n 2 -- no semicolon"}
	failed := errors.New("no")
	var ran []string
	err := f.Run(func(text string) error {
		if ran = append(ran, text); len(ran) == 2 {
			return failed
		}
		return nil
	})
	if want := []string{"INSERT 1\n", "INSERT\n 2 -- no semicolon\n"}; !reflect.DeepEqual(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if err == nil || err.Error() != "a.cql:4: no" || !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	err = File{Text: "SELECT 1;"}.Run(func(string) error { return failed })
	if err == nil || err.Error() != "SELECT 1: no" {
		t.Errorf("without a name the error is %v", err)
	}
}

// The error of a statement does not show its password.
func TestErrorsHavePlacesAndNoPasswords(t *testing.T) {
	for name, want := range map[string]string{
		"":        "CREATE ROLE r WITH PASSWORD *******: refused",
		"1.cql":   "1.cql:1: refused",
		"a/b.cql": "a/b.cql:1: refused",
	} {
		statements := File{Name: name, Text: "CREATE ROLE r WITH PASSWORD = 'hunter2';\n"}.Statements()
		if got := statements[0].Error(errors.New("refused")).Error(); got != want {
			t.Errorf("%q", got)
		}
	}
}
