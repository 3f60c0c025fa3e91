package cqltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/inside"
)

// Statement is a statement that a client has run: its text, kind and table, how many rows, tombstones and partitions
// it has read, and the error that the client got.
type Statement struct {
	Opcode      string // QUERY, EXECUTE or BATCH; PREPARE is recorded too
	Kind        string // select, insert, update, delete, truncate, use, describe or definition; batch: of several tables
	Text        string // of a BATCH: all statements, with semicolons between them
	Keyspace    string
	Table       string
	Prepared    bool // all of it was prepared
	Consistency Consistency

	Keys       []string // partitions that were read by their keys or written to: the values, with commas between them
	Returned   int      // rows in the answer
	RowsRead   int      // before filters
	Tombstones int      // read
	Scanned    bool     // it has read all partitions: no key, token range or index restricted it

	Number int64 // counted from 1 since the server was started
	Client string
	Node   int // the number of the node that coordinated it; 1: the server has no ring
	Took   time.Duration
	Err    error // that the client got; nil: it succeeded
}

// String is the statement on one line, with what it has read.
func (s Statement) String() string {
	rows := "rows"
	if s.RowsRead == 1 {
		rows = "row"
	}
	text := fmt.Sprintf("%s %s: %d %s read, %d returned",
		s.Opcode, strings.Join(strings.Fields(s.Text), " "), s.RowsRead, rows, s.Returned)
	if s.Scanned {
		text += ", all partitions"
	}
	if s.Err != nil {
		text += ", " + s.Err.Error()
	}
	return text
}

// WithStatements records statements from the start.
func WithStatements() Option { return func(c *inside.Config) { c.Record = true } }

// Record starts a new record of statements. It costs the server a goroutine for each request, so nothing is recorded
// unless the test has called Record, or WithStatements is given.
func (s *Server) Record() { s.controls.Record.Start(0) }

// Statements are the statements that clients have run since Record or Reset, in the order in which they were answered:
// without the reads of the server's own tables, and without Exec, Query and LoadDir.
func (s *Server) Statements() (all []Statement) {
	for _, r := range s.controls.Record.Statements() {
		all = append(all, Statement{
			Opcode: r.Opcode, Kind: r.Kind, Text: r.Text, Keyspace: r.Keyspace, Table: r.Table, Prepared: r.Prepared,
			Consistency: Consistency(r.Consistency), Keys: r.Keys, Returned: r.Returned, RowsRead: r.RowsRead,
			Tombstones: r.Tombstones, Scanned: r.Scanned, Number: r.Number, Client: r.Client, Node: r.Node, Took: r.Took,
			Err: r.Err,
		})
	}
	return all
}

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
	if !s.controls.Record.IsStarted() {
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
