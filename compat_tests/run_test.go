package compat_tests

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/cqltest"
)

var (
	addr   = flag.String("addr", "", "run the scripts against the server at this address")
	record = flag.Bool("record", false, "write what the Cassandra at -addr answers into the scripts")
)

const (
	usualPage = 5000
	smallPage = 1
)

// modes are the ways every script is run in. The first is the one that is recorded.
func modes() []script.Mode {
	var all []script.Mode
	for _, version := range []protocol.Version{5, 4} {
		for _, prepared := range []bool{false, true} {
			for _, page := range []int32{usualPage, smallPage} {
				all = append(all, script.Mode{Version: version, Prepared: prepared, PageSize: page})
			}
		}
	}
	return all
}

// TestScripts runs every script in every mode: against -addr, or in memory.
func TestScripts(t *testing.T) {
	to := *addr
	if to == "" {
		to = cqltest.RunT(t).Addr()
	}
	if *record {
		recordScripts(t)
		return
	}
	for _, path := range scriptPaths(t) {
		s := readScript(t, path)
		t.Run(name(path), func(t *testing.T) {
			for _, m := range modes() {
				t.Run(m.String(), func(t *testing.T) { runScript(t, to, path, s, m) })
			}
		})
	}
}

// TestReopened runs every script on disk, kills the server, starts another one on the same folder and asks
// the queries at the end of every script again.
func TestReopened(t *testing.T) {
	if *addr != "" {
		t.Skip("needs a server of its own")
	}
	m := modes()[0]
	disk := newDiskServer(t)
	to := disk.start(t)
	for _, path := range scriptPaths(t) {
		s := readScript(t, path)
		r, err := script.Open(t.Context(), to, keyspace(path, m), m)
		if err != nil {
			t.Fatal(err)
		}
		runBlocks(t, r, path, s.Blocks)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	disk.kill(t)
	to = disk.start(t)
	for _, path := range scriptPaths(t) {
		r, err := script.Reopen(t.Context(), to, keyspace(path, m), m)
		if err != nil {
			t.Fatal(err)
		}
		runBlocks(t, r, path, readScript(t, path).Tail())
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// runScript runs a script in a keyspace of its own.
func runScript(t *testing.T, to, path string, s *script.Script, m script.Mode) {
	t.Helper()
	r, err := script.Open(t.Context(), to, keyspace(path, m), m)
	if err != nil {
		t.Fatal(err)
	}
	runBlocks(t, r, path, s.Blocks)
	if err := r.Drop(context.Background()); err != nil {
		t.Error(err)
	}
}

func runBlocks(t *testing.T, r *script.Runner, path string, blocks []*script.Block) {
	t.Helper()
	for _, b := range blocks {
		got := r.Run(t.Context(), b)
		if !slices.Equal(got, b.Expected) {
			t.Errorf("%s:%d:\n%s\nwant\n%s\ngot\n%s", path, b.Line, strings.Join(b.Statements, "\n"),
				differing(b.Expected, got), differing(got, b.Expected))
		}
	}
}

// differing are the lines of a that b has otherwise in their place, at most a dozen.
func differing(a, b []string) string {
	var lines []string
	for i, l := range a {
		if i < len(b) && b[i] == l {
			continue
		}
		if len(lines) == 12 {
			lines = append(lines, "  ...")
			break
		}
		lines = append(lines, fmt.Sprintf("  %3d %s", i+1, l))
	}
	return strings.Join(lines, "\n")
}

// recordScripts writes what a Cassandra answers as the expected text.
func recordScripts(t *testing.T) {
	release, err := script.CassandraRelease(t.Context(), *addr)
	if err != nil {
		t.Fatalf("-record wants -addr of a real Cassandra: %v", err)
	}
	m := modes()[0]
	for _, path := range scriptPaths(t) {
		t.Run(name(path), func(t *testing.T) {
			s := readScript(t, path)
			r, err := script.Open(t.Context(), *addr, keyspace(path, m), m)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range s.Blocks {
				b.Expected = r.Run(t.Context(), b)
			}
			s.Stamp = "Cassandra " + release
			err = errors.Join(r.Drop(t.Context()), os.WriteFile(path, []byte(s.String()), 0o644))
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// scriptPaths are the scripts below scripts.
func scriptPaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir("scripts", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txt") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return paths
}

func readScript(t *testing.T, path string) *script.Script {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse(string(content))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if s.Stamp == "" && !*record {
		t.Fatalf("%s was never recorded from a Cassandra", path)
	}
	return s
}

// name is a script's path below scripts without its ending.
func name(path string) string {
	return filepath.ToSlash(strings.TrimSuffix(strings.TrimPrefix(path, "scripts"+string(filepath.Separator)), ".txt"))
}

// keyspace names the keyspace of one run: the script's name, cut, and the mode.
func keyspace(path string, m script.Mode) string {
	base := name(path)
	base = base[strings.LastIndexByte(base, '/')+1:]
	return strings.ToLower(fmt.Sprintf("cqlt_%.20s_%s", base, m))
}
