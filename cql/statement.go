package cql

// Statement is one statement of the language. The kinds are the structs that have a statement method.
type Statement interface {
	statement()
	String() string // the statement as CQL
	Position() Span // in the text that was parsed
}

// Span is where a node stands in the text: byte offsets, the end exclusive.
type Span struct{ Start, End int }

// Position returns the span itself; embedding Span gives every node this method.
func (s Span) Position() Span { return s }
