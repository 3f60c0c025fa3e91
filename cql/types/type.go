// Package types has the CQL data types and their values, a file for each type.
//
// A value is kept as the bytes the protocol carries, from the wire to the store and back: a Type knows
// how to check, order, print and parse such bytes. Nothing here knows columns, statements or frames.
//
// Start with Type, then the table of native types in native.go, then the collections.
package types

// Value is one serialized value, as bound to a marker or kept in a cell.
type Value struct {
	Bytes []byte // nil is null; an empty slice is the empty value that most types allow
	Unset bool   // bound as "not set": the column is left alone
}

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.Bytes == nil && !v.Unset }

// Type is a CQL data type. Types are immutable and shared; native ones are package variables.
type Type interface {
	// String is the type as system_schema shows it: int, frozen<list<text>>.
	String() string

	// ClassName is Cassandra's name of the type, as clients read it in custom types and as result
	// metadata ids are computed from: org.apache.cassandra.db.marshal.Int32Type.
	ClassName() string

	// Validate reports why b, which is not nil, is not a value of the type: a ValueError.
	Validate(b []byte) error

	// Compare orders two valid values as Cassandra orders clustering columns of the type. An empty
	// value comes before all others.
	Compare(a, b []byte) int

	// AppendKey appends an encoding of b whose byte order is Compare's, or the opposite when desc is
	// set. No encoding is a prefix of another, so that encodings can be put one behind the other.
	AppendKey(dst, b []byte, desc bool) []byte

	// DecodeKey appends to dst the value at the beginning of key, as AppendKey encoded it, and returns
	// what follows it in key.
	DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error)

	// LossyKey reports whether two values may have the same key but different bytes (decimals 1.0 and
	// 1.00): the bytes must then be kept beside the key.
	LossyKey() bool

	// ParseLiteral turns a literal of the language into a value. It returns ErrKind if the type takes no
	// literal of that kind, else a ValueError.
	ParseLiteral(kind LiteralKind, text string) ([]byte, error)

	// Format prints a value as a CQL literal.
	Format(b []byte) string

	// ParseJSON reads a value from JSON, as INSERT JSON and from_json do; v is not nil. Its error is a ValueError.
	ParseJSON(v JSON) ([]byte, error)

	// AppendJSON appends a value as SELECT JSON and to_json print it.
	AppendJSON(dst, b []byte) []byte

	// FixedLength is the number of bytes of every value, or 0 if they differ: vectors of fixed-length
	// elements are written without lengths. date, time, smallint and tinyint count as varying.
	FixedLength() int
}

// LiteralKind is the shape of a literal as the lexer saw it.
type LiteralKind uint8

// The kinds, with Cassandra's names in LiteralKind.String: it prints them in error texts.
const (
	StringLiteral LiteralKind = iota
	IntegerLiteral
	FloatLiteral
	BooleanLiteral
	HexLiteral
	UUIDLiteral
	DurationLiteral
)

// literalKindNames are Cassandra's names of the kinds.
var literalKindNames = [...]string{"STRING", "INTEGER", "FLOAT", "BOOLEAN", "HEX", "UUID", "DURATION"}

// String is Cassandra's name of the kind, in upper case.
func (k LiteralKind) String() string { return literalKindNames[k] }
