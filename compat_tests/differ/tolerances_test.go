package main

import (
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// TestToleratedPages checks that a failure after a page is tolerated only if an empty key may be its cause.
func TestToleratedPages(t *testing.T) {
	for text, want := range map[string]bool{
		"java.lang.NullPointerException": true,
		`java.lang.NullPointerException: Cannot invoke "java.nio.ByteBuffer.position()" because "key" is null`:   true,
		`java.lang.NullPointerException: Cannot invoke "java.nio.ByteBuffer.position()" because "value" is null`: false,
		"java.lang.IllegalStateException": false,
	} {
		failure := &answer{err: &cqlerr.Error{Code: cqlerr.ServerError, Message: text}}
		rows := &answer{response: &protocol.Rows{}}
		if got := tolerated(outcomeOfNextPage, failure, rows) != ""; got != want {
			t.Errorf("%s: tolerated is %v", text, got)
		}
		if tolerated("outcome", failure, rows) != "" || tolerated(outcomeOfNextPage, rows, failure) != "" {
			t.Errorf("%s is tolerated elsewhere", text)
		}
	}
}

// TestToleratedConditions checks that tolerances of conditional writes apply to no other statement.
func TestToleratedConditions(t *testing.T) {
	rows := func(column string) *answer {
		return &answer{response: &protocol.Rows{Metadata: protocol.RowsMetadata{Columns: protocol.NewColumnSpecs([]protocol.ColumnSpec{{Name: column}})}}}
	}
	refusal := func(code cqlerr.Code, text string) *answer {
		return &answer{err: &cqlerr.Error{Code: code, Message: text}}
	}
	null := refusal(cqlerr.Invalid, "Invalid null value for column v")
	failure := refusal(cqlerr.ServerError, "java.lang.NullPointerException")
	for _, c := range []struct {
		name            string
		cassandra, cqld *answer
		want            bool
	}{
		{"a condition that is not reached", null, rows("[applied]"), true},
		{"a condition that Cassandra does not reach", rows("[applied]"), null, true},
		{"other conditions", null, refusal(cqlerr.Invalid, "Invalid comparison with null for operator \">\""), true},
		{"a read", rows("v"), null, false},
		{"a read that Cassandra refuses", null, rows("v"), false},
		{"another text", refusal(cqlerr.Invalid, "Invalid null value in condition for column v"), null, false},
		{"a sum", failure, rows("[applied]"), true},
		{"a read on which Cassandra fails", failure, rows("v"), false},
		{"a write on which Cassandra fails", failure, &answer{response: &protocol.Void{}}, false},
	} {
		if got := tolerated("outcome", c.cassandra, c.cqld) != ""; got != c.want {
			t.Errorf("%s: tolerated is %v", c.name, got)
		}
	}
}
