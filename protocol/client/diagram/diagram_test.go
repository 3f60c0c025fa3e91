package diagram

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

var update = flag.Bool("update", false, "rewrite the diagrams in testdata")

// queryOf returns a function that queries a server.
func queryOf(t *testing.T, addr string) model.Query {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return func(ctx context.Context, statement string) (*client.Result, error) {
		return conn.Query(ctx, statement, nil, nil)
	}
}

// TestDiagrams draws the models in testdata, read from a server.
func TestDiagrams(t *testing.T) {
	s := cqltest.RunT(t)
	query := queryOf(t, s.Addr())
	for name, keyspaces := range map[string][]string{
		"hotel": {"hotel"}, "reservation": {"reservation"}, "order": {"shop"}, "supermarket": {"customer", "order_delivery"},
	} {
		path := filepath.Join("testdata", name)
		script, err := os.ReadFile(path + ".cql")
		if err != nil {
			t.Fatal(err)
		}
		s.Exec(t, string(script))
		read := func(o Options) *Diagram {
			d, err := Read(t.Context(), query, keyspaces, func(tables []*model.Table) []Pattern {
				return InFile(string(script), tables)
			}, false, o)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		golden(t, path+".svg", SVG, read(Options{}))
		golden(t, path+".txt", Text, read(Options{}))
		golden(t, path+".md", Markdown, read(Options{}))
		golden(t, path+"-logical.svg", SVG, read(Options{Logical: true}))
		golden(t, path+"-logical.txt", Text, read(Options{Logical: true}))
	}
}

// golden compares a diagram with a file.
func golden(t *testing.T, path string, draw func(io.Writer, *Diagram) error, d *Diagram) {
	t.Helper()
	var b strings.Builder
	if err := draw(&b, d); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || b.String() != string(want) {
		t.Errorf("%s has changed (go test -run TestDiagrams -update rewrites it): %v\n%s", path, err, b.String())
	}
}
