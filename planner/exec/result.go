package exec

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
)

// Result is what a statement answers: one of the structs below.
type Result interface{ result() }

// Void is the answer of a statement that returns nothing.
type Void struct{ Warnings []string }

// Rows are result rows, encoded as the protocol carries them.
type Rows struct {
	Columns     []planner.ResultColumn
	Count       int
	Before      [][]byte // parts of the cells of a long result, in front of Cells: who gets them may keep them and Cells
	Cells       []byte   // row by row, each cell as a 4 byte length (-1: null) and its bytes
	PagingState []byte   // nil: no more pages
	Conditional bool     // of a lightweight transaction: always sent with full metadata
	Warnings    []string
}

// SetKeyspace is the answer of USE.
type SetKeyspace struct{ Keyspace string }

// SchemaChange is the answer of a definition that changed something: what the client is told, and the events for
// clients that registered, in their order.
type SchemaChange struct {
	Answer   schema.Change
	Events   []schema.Change
	Warnings []string
}

func (*Void) result()         {}
func (*Rows) result()         {}
func (*SetKeyspace) result()  {}
func (*SchemaChange) result() {}
