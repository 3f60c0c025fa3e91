package types

import (
	"errors"
	"strconv"
	"strings"
)

// wrongJSON says what a type wanted in the place of v.
func wrongJSON(expected string, v JSON) error {
	return invalidf("Expected %s, but got a %s: %s", expected, v.class(), v)
}

// jsonString reads a value of a type that takes strings only.
func jsonString(t Type, v JSON, expected string) ([]byte, error) {
	s, ok := v.(JSONString)
	if !ok {
		return nil, wrongJSON(expected, v)
	}
	return fromString(t, string(s))
}

// jsonNested is what a type that is made of others reads: of a string the JSON in it.
func jsonNested(v JSON) (JSON, error) {
	s, ok := v.(JSONString)
	if !ok {
		return v, nil
	}
	inner, err := DecodeJSON(string(s), nil)
	var wrong *JSONError
	switch {
	case errors.As(err, &wrong):
		return nil, invalidf("Error decoding JSON string: %s", wrong.Message)
	case inner == nil:
		return nil, invalidf("Expected a value, but got the JSON string 'null'")
	}
	return inner, err
}

// jsonArray is an array, or the one in a string.
func jsonArray(v JSON, expected string) (JSONArray, error) {
	v, err := jsonNested(v)
	if err != nil {
		return nil, err
	}
	a, ok := v.(JSONArray)
	if !ok {
		return nil, wrongJSON(expected, v)
	}
	return a, nil
}

// elements reads the elements of a list or set, which kind says.
func (a JSONArray) elements(elem Type, kind string) (*Packed, error) {
	elems := NewPacked(len(a))
	for _, e := range a {
		if e == nil {
			return nil, invalidf("Invalid null element in %s", kind)
		}
		b, err := elem.ParseJSON(e)
		if err != nil {
			return nil, err
		}
		elems.Add(b)
	}
	return elems, nil
}

// jsonElements reads the elements of a list or set.
func jsonElements(v JSON, elem Type, kind, expected string) (*Packed, error) {
	a, err := jsonArray(v, expected)
	if err != nil {
		return nil, err
	}
	return a.elements(elem, kind)
}

// jsonObject is an object, or the one in a string.
func jsonObject(v JSON) (*JSONObject, error) {
	v, err := jsonNested(v)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*JSONObject)
	if !ok {
		return nil, wrongJSON("a map", v)
	}
	return o, nil
}

// jsonFloat is a number as the nearest double; ok is false for other values.
func jsonFloat(v JSON, bits int) (f float64, ok bool) {
	switch v := v.(type) {
	case JSONDouble:
		return float64(v), true
	case JSONInteger:
		f, _ := strconv.ParseFloat(string(v), bits)
		return f, true
	}
	return 0, false
}

// jsonInteger reads an int or bigint: digits, or a string with them.
func jsonInteger(t Type, v JSON, expected string) ([]byte, error) {
	n, ok := v.(JSONInteger)
	if !ok || n.class() != "Integer" && (t == Int || n.class() != "Long") {
		return jsonString(t, v, expected)
	}
	return fromString(t, string(n))
}

// appendJSONPlain appends a number or boolean; the empty value prints as no text.
func appendJSONPlain(dst []byte, t Type, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return append(dst, t.Format(b)...)
}

// appendJSONQuoted appends the literal of a value as a string; the empty value prints as no text.
func appendJSONQuoted(dst []byte, t Type, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return appendJSONString(dst, unquote(t.Format(b)))
}

// appendJSONNullable appends a part of a value, or null.
func appendJSONNullable(dst []byte, t Type, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	return t.AppendJSON(dst, b)
}

// unquote takes the quotes off a string literal that has none inside.
func unquote(literal string) string { return strings.Trim(literal, "'") }
