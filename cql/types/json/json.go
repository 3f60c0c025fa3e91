// Package json reads JSON texts as Jackson does, the library that Cassandra uses: it accepts the same texts,
// and refuses the others with Jackson's messages. INSERT JSON, from_json and their error texts depend on both.
//
// Decode and DecodeObject return a Value, which cql/types turns into the bytes of a CQL type. An Error has Jackson's
// exception class and message. AppendString and AppendKey write JSON.
package json

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/javafloat"
)

// Value is a String, Boolean, Integer, Double, Array or *Object. nil is null.
type Value interface {
	// Class is the simple name of the Java class that Jackson makes of the value.
	Class() string
	// String prints the value as Java does.
	String() string
}

type (
	// String is a string without quotes and escapes.
	String string

	// Boolean is true or false.
	Boolean bool

	// Integer is a number without point and exponent: its digits, after an optional minus.
	Integer string

	// Double is a number with a point or an exponent.
	Double float64

	// Array is the elements of an array.
	Array []Value
)

// Class is String.
func (String) Class() string { return "String" }

// Class is Boolean.
func (Boolean) Class() string { return "Boolean" }

// Class is Double.
func (Double) Class() string { return "Double" }

// Class is ArrayList.
func (Array) Class() string { return "ArrayList" }

// Class is the smallest class that can hold the number.
func (n Integer) Class() string {
	if _, err := strconv.ParseInt(string(n), 10, 32); err == nil {
		return "Integer"
	}
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return "Long"
	}
	return "BigInteger"
}

// String returns the text without quotes.
func (s String) String() string { return string(s) }

// String returns true or false.
func (b Boolean) String() string { return strconv.FormatBool(bool(b)) }

// String returns the digits.
func (n Integer) String() string { return string(n) }

// String prints as Java's Double.toString does.
func (d Double) String() string { return javafloat.Format(float64(d), 64) }

// String prints [a, b], as Java's ArrayList does.
func (a Array) String() string {
	parts := make([]string, len(a))
	for i, e := range a {
		parts[i] = javaText(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func javaText(v Value) string {
	if v == nil {
		return "null"
	}
	return v.String()
}
