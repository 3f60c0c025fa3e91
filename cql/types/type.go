// Package types has the CQL data types and their values.
//
// A value is kept as the bytes the protocol carries, from the wire to the store and back: a Type validates, orders,
// prints and parses such bytes. Columns, statements and frames are unknown here.
//
// Read Type first, then the table of native types in native.go, integer.go as an example of them, and the collections
// (collection.go, list.go, map.go). key.go encodes values so that bytes.Compare orders them. JSON values come from
// package json.
package types

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/types/json"
)

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

	// Validate returns a ValueError if b, which is not nil, is not a value of the type.
	Validate(b []byte) error

	// Compare orders two valid values as Cassandra orders clustering columns of the type. An empty
	// value comes before all others.
	Compare(a, b []byte) int

	// AppendKey appends an encoding of b whose byte order is that of Compare, or the opposite if desc. No encoding is
	// a prefix of another, so encodings can be concatenated.
	AppendKey(dst, b []byte, desc bool) []byte

	// DecodeKey appends to dst the value that AppendKey encoded at the beginning of key, and returns the rest of key.
	DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error)

	// LossyKey reports whether two values may have the same key but different bytes (decimals 1.0 and
	// 1.00): the bytes must then be kept beside the key.
	LossyKey() bool

	// ParseLiteral turns a literal of the language into a value. It returns ErrKind if the type takes no
	// literal of that kind, else a ValueError.
	ParseLiteral(kind LiteralKind, text string) ([]byte, error)

	// Format prints a value as a CQL literal.
	Format(b []byte) string

	// ParseJSON reads a value from json.Value, as INSERT JSON and from_json do; v is not nil. Its error is a ValueError.
	ParseJSON(v json.Value) ([]byte, error)

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

// ErrKind means that a type does not take literals of a kind: an integer for a text, for example. The caller knows
// the column and writes the message.
var ErrKind = errors.New("types: the type takes no literal of this kind")

// errKey means that AppendKey did not produce a key: the storage is damaged.
var errKey = errors.New("types: malformed key")

// ValueError says why bytes or a text are not a value of a type. Clients receive it as an invalid request. The
// message is Cassandra's, or ours where Cassandra returns a raw Java exception.
type ValueError struct {
	Message string

	// Request means that Cassandra sends this message to the client unchanged, without a prefix about the value.
	Request bool
}

// Error returns the message.
func (e *ValueError) Error() string { return e.Message }

// invalidf returns a ValueError.
func invalidf(format string, args ...any) error {
	return &ValueError{Message: fmt.Sprintf(format, args...)}
}
