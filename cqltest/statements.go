package cqltest

import (
	"maps"
	"slices"
	"testing"

	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/server/control"
)

// Statement is a statement that a client has run: its text, kind and table, how many rows, tombstones and partitions
// it has read, and the error that the client got.
type Statement = control.Statement

// WithStatements records statements from the start.
func WithStatements() Option { return func(c *inside.Config) { c.Record = true } }

// Record starts a new record of statements. It costs the server a goroutine for each request, so nothing is recorded
// unless the test has called Record, or WithStatements is given.
func (s *Server) Record() { s.controls.Record.Start(0) }

// Statements are the statements that clients have run since Record or Reset, in the order in which they were answered:
// without the reads of the server's own tables, and without Exec, Query and LoadDir.
func (s *Server) Statements() []Statement { return s.controls.Record.Statements() }

// Reset forgets the recorded statements.
func (s *Server) Reset() { s.controls.Record.Forget() }

// StatementCounts returns how many statements were run on each table since Record or Reset, by keyspace.table. A
// PREPARE does not count.
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
func (s *Server) assert(t testing.TB, problem string, wrong func(Statement) bool) {
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
		t.Errorf("%s (%d times): %s", problem, texts[text], text)
	}
}
