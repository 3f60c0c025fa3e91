package cql

// BatchKind is the word between BEGIN and BATCH.
type BatchKind uint8

// The kinds, numbered as the protocol's BATCH message numbers them.
const (
	LoggedBatch BatchKind = iota
	UnloggedBatch
	CounterBatch
)

// Batch applies several modifications together.
//
//	BEGIN [UNLOGGED | COUNTER] BATCH [USING options] statements APPLY BATCH
type Batch struct {
	Span
	Kind       BatchKind
	Using      Using
	Statements []Statement // Insert, Update or Delete
}

func (*Batch) statement() {}
