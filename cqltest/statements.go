package cqltest

import (
	"maps"
	"slices"
	"testing"

	"github.com/cqld/cqld/server/control"
)

// Statement is a statement that a client has run.
type Statement = control.Statement

// WithStatements records statements from the start.
func WithStatements() Option { return func(c *config) { c.record = true } }

// Record has statements recorded from now on, and forgets those that were. It costs the server a goroutine for each
// request, so nothing is recorded unless the test has called Record, or WithStatements is given.
func (s *Server) Record() {
	s.controls.Record.Start(0)
}

// Statements are the statements that clients have run since Record or Reset, in the order in which they were answered.
// What drivers read of the server's own tables is not among them, nor what Exec and Load run.
func (s *Server) Statements() []Statement { return s.controls.Record.Statements() }

// Reset forgets the recorded statements.
func (s *Server) Reset() { s.controls.Record.Forget() }

// StatementCounts returns how many statements were run on each table since Record or Reset, by keyspace.table. Those
// that only prepare do not count.
func (s *Server) StatementCounts() map[string]int {
	counts := map[string]int{}
	for _, st := range s.Statements() {
		if st.Table != "" && st.Opcode != "PREPARE" {
			counts[st.Keyspace+"."+st.Table]++
		}
	}
	return counts
}

// AssertNoFullScan fails the test for each recorded SELECT that has read all partitions of a table. Statements have to
// be recorded.
func (s *Server) AssertNoFullScan(t testing.TB) {
	t.Helper()
	s.assert(t, "reads all partitions", func(st Statement) bool { return st.Scanned })
}

// AssertPrepared fails the test for each recorded SELECT, INSERT, UPDATE and DELETE that was not prepared. Statements
// have to be recorded.
func (s *Server) AssertPrepared(t testing.TB) {
	t.Helper()
	s.assert(t, "is not prepared", func(st Statement) bool {
		return !st.Prepared && st.Opcode != "PREPARE" && st.Table != "" && st.Kind != "truncate"
	})
}

// assert fails the test for each text whose statement is wrong.
func (s *Server) assert(t testing.TB, what string, wrong func(Statement) bool) {
	t.Helper()
	if !s.controls.Record.IsOn() {
		t.Fatal("no statements are recorded: the test has to call Record first")
	}
	texts := map[string]int{}
	for _, st := range s.Statements() {
		if wrong(st) {
			texts[st.Text]++
		}
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		t.Errorf("%s (%d times): %s", what, texts[text], text)
	}
}
