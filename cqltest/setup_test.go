package cqltest

import (
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cqld/cqld/protocol/client/cqlfiles"
)

const createShop = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

// TestExec runs several statements of one text, also after the server has lost the connection's keyspace.
func TestExec(t *testing.T) {
	s := RunT(t)
	s.Exec(t, createShop+`;
		-- a comment; with a semicolon
		CREATE TABLE shop.t (k int PRIMARY KEY, v text); USE shop;
		BEGIN BATCH INSERT INTO t (k, v) VALUES (1, 'a;b'); INSERT INTO t (k) VALUES (2); APPLY BATCH`,
		"INSERT INTO t (k) VALUES (3) -- the last one")
	if n := len(s.Query(t, "SELECT * FROM shop.t").Values); n != 3 {
		t.Errorf("%d rows", n)
	}
	if err := s.load(cqlfiles.File{Text: "SELECT 1"}); err == nil {
		t.Error("no error for what does not parse")
	}
	s.Exec(t, "INSERT INTO t (k) VALUES (4)")
	if host, port := s.Host(), s.Port(); host != "127.0.0.1" || port == 0 {
		t.Errorf("host %s, port %d", host, port)
	}
}

// TestLoad runs the files of a folder in their order, packed ones too, and says where it has stopped.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if strings.HasSuffix(name, ".gz") {
			packed := gzip.NewWriter(f)
			_, err = packed.Write([]byte(text))
			if err == nil {
				err = packed.Close()
			}
		} else {
			_, err = f.WriteString(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("1_keyspace.cql", createShop+";")
	write("2_table.cql.gz", "CREATE TABLE shop.t (k int PRIMARY KEY);")
	write("3_rows.cql", "INSERT INTO shop.t (k) VALUES (1);\nINSERT INTO shop.t (k) VALUES (2);\n")
	write("README.md", "This is not CQL.")
	s := RunT(t)
	s.LoadDir(t, dir)
	if n := len(s.Query(t, "SELECT * FROM shop.t").Values); n != 2 {
		t.Errorf("%d rows", n)
	}

	write("4_wrong.cql", "INSERT INTO shop.t (k) VALUES (3);\n\nINSERT INTO shop.t (k)\n  VALUES ('four');\nINSERT INTO shop.t (k) VALUES (5);")
	err := RunT(t).loadFS(os.DirFS(dir), dir)
	if want := filepath.ToSlash(dir) + "/4_wrong.cql:3: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v, want it to begin with %s", err, want)
	}
	if err := RunT(t).loadFS(fstest.MapFS{"a.txt": {}}, "x"); err == nil {
		t.Error("no error for a folder without scripts")
	}
	if err := RunT(t).loadFS(fstest.MapFS{"a.cql.gz": {Data: []byte("not packed")}}, ""); err == nil {
		t.Error("no error for a file that is not packed")
	}
}

// TestNothingIsLeft wants a stopped server to leave no goroutine.
func TestNothingIsLeft(t *testing.T) {
	RunT(t).Exec(t, createShop) // what the first server starts for good
	before := runtime.NumGoroutine()
	for range 10 {
		s := RunT(t)
		s.Exec(t, createShop)
		if err := s.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
