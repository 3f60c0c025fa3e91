package types

import (
	"strconv"
	"strings"
)

// JSON is a value read from a JSON text: JSONString, JSONBoolean, JSONInteger, JSONDouble, JSONArray or *JSONObject.
// nil is null. Cassandra reads JSON into Java's objects and shows them in its error texts as Java does.
type JSON interface {
	// class is the simple name of the Java class.
	class() string
	// String is the value as Java prints it.
	String() string
}

// The values without a type of Go that would say enough.
type (
	// JSONString is a string without quotes and escapes.
	JSONString string

	// JSONBoolean is true or false.
	JSONBoolean bool

	// JSONInteger is the digits of a number without point and exponent, a minus perhaps before them.
	JSONInteger string

	// JSONDouble is a number with a point or an exponent, rounded to what a double can hold.
	JSONDouble float64

	// JSONArray has the elements of an array.
	JSONArray []JSON
)

func (JSONString) class() string  { return "String" }
func (JSONBoolean) class() string { return "Boolean" }
func (JSONDouble) class() string  { return "Double" }
func (JSONArray) class() string   { return "ArrayList" }

func (n JSONInteger) class() string {
	if _, err := strconv.ParseInt(string(n), 10, 32); err == nil {
		return "Integer"
	}
	if _, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return "Long"
	}
	return "BigInteger"
}

// String is the text without quotes.
func (s JSONString) String() string { return string(s) }

// String is true or false.
func (b JSONBoolean) String() string { return strconv.FormatBool(bool(b)) }

// String is the digits as they were written.
func (n JSONInteger) String() string { return string(n) }

// String is what Java's Double.toString gives.
func (d JSONDouble) String() string { return formatJavaFloat(float64(d), 64) }

// String is [a, b], as Java's ArrayList prints.
func (a JSONArray) String() string {
	parts := make([]string, len(a))
	for i, e := range a {
		parts[i] = printJSON(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// printJSON is v as Java prints it.
func printJSON(v JSON) string {
	if v == nil {
		return "null"
	}
	return v.String()
}
