package transcripts

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/functions"
	"github.com/cqld/cqld/protocol"
)

var (
	addr   = flag.String("addr", "", "run the sessions against the server at this address")
	record = flag.Bool("record", false, "write what the Cassandra at -addr answers into the sessions")
)

// inspect, if set, sees all answers. A test of compat_tests/drivers runs these tests with -overlay, which adds a file
// that asks another codec to read them.
var inspect func(h protocol.Header, body []byte, m protocol.Response) error

// TestSessions runs every session in each of its versions: against -addr, or in memory.
func TestSessions(t *testing.T) {
	to := *addr
	own := to == "" && !*record
	if own {
		to = cqltest.RunT(t, functions.Enable(), cqltest.WithStrictReplicas()).Addr()
	}
	release, err := script.CassandraRelease(t.Context(), to)
	if *record && err != nil {
		t.Fatal("sessions are recorded from Cassandra only: ", err)
	}
	real := err == nil
	t.Run("files", func(t *testing.T) {
		for _, path := range sessionPaths(t) {
			t.Run(name(path), func(t *testing.T) {
				s, to := readSession(t, path), to
				if own || !describes(s) {
					t.Parallel()
				}
				if own {
					to = cqltest.RunT(t, functions.Enable(), cqltest.WithStrictReplicas()).Addr()
				}
				got := runSession(t, to, name(path), s, real)
				if *record {
					s.Stamp = "Cassandra " + release
					write(t, path, s, got)
				} else {
					report(t, path, s, compare(s, got, real))
				}
			})
		}
	})
}

// describes reports whether a session has pages of DESCRIBE, which end when another session changes the schema of the
// server.
func describes(s *Session) bool {
	return slices.ContainsFunc(s.Steps, func(st *Step) bool { return strings.Contains(st.Text, "DESCRIBE") })
}

// write writes a session with other answers, unless a step could not be run.
func write(t *testing.T, path string, s *Session, got []Answers) {
	t.Helper()
	if t.Failed() {
		return
	}
	for i, st := range s.Steps {
		st.Expected = got[i]
	}
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sessionPaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("sessions/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no sessions: ", err)
	}
	return paths
}

func name(path string) string { return strings.TrimSuffix(filepath.Base(path), ".txt") }

// readSession reads a session, whose file must be as it is printed.
func readSession(t *testing.T, path string) *Session {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if !*record && s.String() != string(text) {
		t.Errorf("%s is not written as it is recorded", path)
	}
	return s
}

// markedPatience is how long to wait for an answer that cqld gives differently, and perhaps not at all. A
// statement is always answered.
const markedPatience = 100 * time.Millisecond

func mayBeSilent(st *Step) bool {
	switch st.Verb {
	case "QUERY", "PREPARE", "EXECUTE", "BATCH":
		return false
	}
	return true
}

// runSession runs a session in all its versions and returns the answers of each step.
func runSession(t *testing.T, addr, name string, s *Session, real bool) []Answers {
	t.Helper()
	got := make([]Answers, len(s.Steps))
	for i := range got {
		got[i] = Answers{}
	}
	for _, v := range s.Versions {
		r, err := Open(t.Context(), addr, fmt.Sprintf("tr_%s_v%d", name, v), s, v)
		if err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		r.Inspect = inspect
		patience := r.Patience
		for i, st := range s.Steps {
			r.Patience = patience
			if st.Differs != "" && !real && mayBeSilent(st) {
				r.Patience = markedPatience
			}
			lines, err := r.Run(t.Context(), st)
			switch {
			case err == nil:
				got[i][v] = lines
			case *record:
				t.Errorf("line %d, v%d: %s %s: %v", st.Line, v, st.Conn, st.Verb, err)
			default: // perhaps another step did not give a value it needs
				got[i][v] = []string{err.Error()}
			}
		}
		if err := r.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	return got
}

// difference is a step that was not answered as it should.
type difference struct {
	step *Step
	text string
}

// compare returns the steps whose answers are not the recorded ones. For cqld, a step that is marked as different is
// returned only when its answer is the recorded one after all.
func compare(s *Session, got []Answers, real bool) (all []difference) {
	for i, st := range s.Steps {
		want, have := strings.Join(st.Expected.lines(), "\n"), strings.Join(got[i].lines(), "\n")
		switch {
		case want != have && (real || st.Differs == ""):
			all = append(all, difference{st, "want\n" + want + "\ngot\n" + have})
		case want == have && !real && st.Differs != "":
			all = append(all, difference{st, "it is answered as recorded: the mark must go"})
		}
	}
	return all
}

func report(t *testing.T, path string, s *Session, all []difference) {
	t.Helper()
	if s.Stamp == "" {
		t.Errorf("%s has not been recorded", path)
	}
	for _, d := range all {
		t.Errorf("%s:%d: %s %s %s\n%s", path, d.step.Line, d.step.Conn, d.step.Verb, d.step.Text, d.text)
	}
}
