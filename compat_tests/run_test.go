package compat_tests

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol"
)

var (
	addr   = flag.String("addr", "", "run the scripts against the server at this address")
	record = flag.Bool("record", false, "write what the Cassandra at -addr answers into the scripts")
	every  = flag.Bool("every", false, "bind values in every version of the protocol and with pages of every size")
	ours   = flag.Bool("record-ours", false, "write what cqld answers into the scripts of differences")
)

const (
	usualPage = 5000
	smallPage = 1
)

// modes are the ways every script is run in: with -every all combinations of a version, a page's size and a way to
// prepare and bind values; else five of them, in which each version has pages of both sizes, and statements as text and
// prepared.
func modes() []script.Mode {
	var all []script.Mode
	for _, version := range []protocol.Version{5, 4} {
		for _, page := range []int32{usualPage, smallPage} {
			small := page == smallPage
			for _, m := range []struct {
				prepared bool
				binding  script.Binding
				usual    bool
			}{
				{false, script.Unbound, small == (version == 4)},
				{true, script.Unbound, version == 4 && !small},
				{true, script.Bound, version == 5 && !small},
				{true, script.Parts, version == 5 && small},
			} {
				if m.usual || *every {
					all = append(all, script.Mode{Version: version, Prepared: m.prepared, Binding: m.binding, PageSize: page})
				}
			}
		}
	}
	return all
}

// runsIn reports whether a script is run in a mode: values of the differences are not bound.
func runsIn(path string, m script.Mode) bool {
	return m.Binding == script.Unbound || !isDifference(path)
}

// recordedModes are the two that each way of binding is recorded in: as different as they can be.
func recordedModes() (all [][2]script.Mode) {
	for _, binding := range []script.Binding{script.Unbound, script.Bound, script.Parts} {
		bound := binding != script.Unbound
		all = append(all, [2]script.Mode{
			{Version: 5, Prepared: bound, Binding: binding, PageSize: usualPage},
			{Version: 4, Prepared: true, Binding: binding, PageSize: smallPage},
		})
	}
	return all
}

// TestScripts runs every script in every mode: against -addr, or in memory.
func TestScripts(t *testing.T) {
	to := *addr
	if to == "" {
		to = cqltest.RunT(t, functions.Enable()).Addr()
	}
	release, err := script.CassandraRelease(t.Context(), to)
	if *record && err != nil {
		t.Fatalf("-record wants -addr of a real Cassandra: %v", err)
	}
	if *ours && err == nil {
		t.Fatal("-record-ours wants cqld")
	}
	for _, path := range scriptPaths(t) {
		t.Run(name(path), func(t *testing.T) {
			t.Parallel()
			s := readScript(t, path)
			if release == "" {
				s.ExpectOurs()
			}
			switch {
			case *record:
				s.Stamp = "Cassandra " + release
				recordScript(t, to, path, s)
				return
			case *ours:
				if isDifference(path) {
					recordScript(t, to, path, s)
				}
				return
			}
			for _, m := range modes() {
				if !runsIn(path, m) {
					continue
				}
				t.Run(m.String(), func(t *testing.T) {
					differences, err := s.Compare(t.Context(), to, keyspace(path), m)
					report(t, path, differences)
					if err != nil {
						t.Error(err)
					}
				})
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
		r, err := script.Open(t.Context(), to, keyspace(path), m)
		if err != nil {
			t.Fatal(err)
		}
		s := readScript(t, path)
		s.ExpectOurs()
		report(t, path, r.Compare(t.Context(), s.Blocks))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	disk.kill(t)
	to = disk.start(t)
	for _, path := range scriptPaths(t) {
		r, err := script.Reopen(t.Context(), to, keyspace(path), m)
		if err != nil {
			t.Fatal(err)
		}
		s := readScript(t, path)
		s.ExpectOurs()
		report(t, path, r.Compare(t.Context(), s.Tail()))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// report fails the test for each difference.
func report(t *testing.T, path string, differences []script.Difference) {
	t.Helper()
	for _, d := range differences {
		t.Errorf("%s:%d:\n%s", path, d.Block.Line, d)
	}
}

// recordScript makes a server's answers the expected ones, if they are equal in two modes.
func recordScript(t *testing.T, to, path string, s *script.Script) {
	t.Helper()
	for _, m := range recordedModes() {
		if !runsIn(path, m[0]) {
			continue
		}
		differences, err := s.Record(t.Context(), to, keyspace(path), m[0], m[1])
		if err != nil {
			t.Fatal(err)
		}
		if len(differences) > 0 {
			report(t, path, differences)
			t.Fatalf("not recorded: wanted is the answer as %s, got the answer as %s", m[0], m[1])
		}
	}
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// scriptPaths are the scripts below scripts.
func scriptPaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir("scripts", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == guardrailScripts || path == loginScripts) {
			return fs.SkipDir // they need their own servers
		}
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
	isGuardrail := strings.HasPrefix(name(path), guardrailScripts+"/") // warnings of tombstones, difference 346
	if s.Differs() != isDifference(path) && !isGuardrail && !*record && !*ours {
		t.Errorf("%s: only the scripts of differences and guardrails have answers of ours, and each of differences has", path)
	}
	return s
}

// name is a script's path below scripts without its ending.
func name(path string) string {
	return filepath.ToSlash(strings.TrimSuffix(strings.TrimPrefix(path, "scripts"+string(filepath.Separator)), ".txt"))
}

// keyspace names the keyspace of a script. It is the same in every mode, because the order of rows and the places
// in texts can depend on a name, and no other script's, because scripts run side by side.
func keyspace(path string) string {
	whole := name(path)
	sum := fnv.New32a()
	sum.Write([]byte(whole))
	base := strings.ToLower(whole[strings.LastIndexByte(whole, '/')+1:])
	return fmt.Sprintf("cqlt_%.20s_%08x", base, sum.Sum32())
}
