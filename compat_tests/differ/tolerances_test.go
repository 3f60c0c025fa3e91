package main

import (
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// TestToleratedConditions wants what is allowed of conditional writes not to be allowed of anything else.
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
