package types

import (
	"errors"
	"iter"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// wrongJSON is the error of a type that expected another kind of JSON value.
func wrongJSON(expected string, v json.Value) error {
	return invalidf("Expected %s, but got a %s: %s", expected, v.Class(), v)
}

// jsonString reads a value of a type that accepts strings only.
func jsonString(t Type, v json.Value, expected string) ([]byte, error) {
	s, ok := v.(json.String)
	if !ok {
		return nil, wrongJSON(expected, v)
	}
	return fromString(t, string(s))
}

// jsonNested returns v, or the JSON value inside the string v.
func jsonNested(v json.Value) (json.Value, error) {
	s, ok := v.(json.String)
	if !ok {
		return v, nil
	}
	inner, err := json.Decode(string(s), nil)
	var wrong *json.Error
	switch {
	case errors.As(err, &wrong):
		return nil, invalidf("Error decoding JSON string: %s", wrong.Message)
	case inner == nil:
		return nil, invalidf("Expected a value, but got the JSON string 'null'")
	}
	return inner, err
}

// jsonArray returns the array v, or the one inside the string v.
func jsonArray(v json.Value, expected string) (json.Array, error) {
	v, err := jsonNested(v)
	if err != nil {
		return nil, err
	}
	a, ok := v.(json.Array)
	if !ok {
		return nil, wrongJSON(expected, v)
	}
	return a, nil
}

// jsonElements reads the elements of a list, set or vector; kind goes into error messages.
func jsonElements(a json.Array, elem Type, kind string) (*Packed, error) {
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

// jsonObject returns the object v, or the one inside the string v.
func jsonObject(v json.Value) (*json.Object, error) {
	v, err := jsonNested(v)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*json.Object)
	if !ok {
		return nil, wrongJSON("a map", v)
	}
	return o, nil
}

// appendJSONPlain appends a number or boolean; the empty value prints as an empty string.
func appendJSONPlain(dst []byte, t Type, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return append(dst, t.Format(b)...)
}

// appendJSONQuoted appends the literal of a value as a string.
func appendJSONQuoted(dst []byte, t Type, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return json.AppendString(dst, strings.Trim(t.Format(b), "'"))
}

const (
	// maxPrinted is the size in bytes of the longest number that is printed. 100,000 digits take some milliseconds, and
	// the time grows faster than the length.
	maxPrinted = 41_600

	// printedAtOnce is the number of bytes of a value that are printed between two steps.
	printedAtOnce = 16 << 10
)

// AppendJSONSteps is AppendJSON for values of any size: it calls step between the parts of large ones, stops at its
// error, and refuses numbers that would take long. step may be nil.
func AppendJSONSteps(dst []byte, t Type, b []byte, step func() error) ([]byte, error) {
	if len(b) <= printedAtOnce {
		return t.AppendJSON(dst, b), nil
	}
	p := jsonPrinter{dst: dst, step: step, limited: true}
	if step != nil {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.value(t, b)
	return p.dst, p.err
}

// printParts implements AppendJSON of types with parts.
func printParts(dst []byte, t Type, b []byte) []byte {
	p := jsonPrinter{dst: dst}
	p.value(t, b)
	return p.dst
}

// jsonPrinter prints a value part by part. It stops at the first error.
type jsonPrinter struct {
	dst     []byte
	step    func() error // may be nil
	limited bool         // numbers over maxPrinted are refused
	err     error
	pending int // bytes printed since the last step
}

// value prints a value, which may be null, and reports whether to go on.
func (p *jsonPrinter) value(t Type, b []byte) bool {
	if b == nil {
		p.dst = append(p.dst, "null"...)
		return true
	}
	switch t := t.(type) {
	case *List:
		return p.elements(Elements(b), t.Elem)
	case *Set:
		return p.elements(Elements(b), t.Elem)
	case *Vector:
		return p.elements(VectorElements(t, b), t.Elem)
	case *Map:
		return p.entries(t, b)
	case *Tuple:
		return p.fields('[', ']', b, t.Elems, nil)
	case *UserType:
		return p.fields('{', '}', b, t.tuple().Elems, t.Fields)
	}
	if p.limited && (t == VarInt || t == Decimal) && len(b) > maxPrinted {
		p.err = invalidf("numbers of more than 100000 digits are not printed by cqld")
		return false
	}
	p.dst = t.AppendJSON(p.dst, b)
	if p.pending += len(b) + 1; p.pending > printedAtOnce && p.step != nil {
		p.pending = 0
		p.err = p.step()
	}
	return p.err == nil
}

func (p *jsonPrinter) elements(all iter.Seq[[]byte], elem Type) bool {
	p.dst = append(p.dst, '[')
	separator := ""
	for e := range all {
		p.dst = append(p.dst, separator...)
		if !p.value(elem, e) {
			return false
		}
		separator = ", "
	}
	p.dst = append(p.dst, ']')
	return true
}

// entries prints a map. A key that does not print as a string is put into one.
func (p *jsonPrinter) entries(t *Map, b []byte) bool {
	p.dst = append(p.dst, '{')
	separator := ""
	for k, v := range Entries(b) {
		p.dst = append(p.dst, separator...)
		from := len(p.dst)
		if !p.value(t.Key, k) {
			return false
		}
		if p.dst[from] != '"' {
			key := string(p.dst[from:])
			p.dst = json.AppendString(p.dst[:from], key)
		}
		p.dst = append(p.dst, ": "...)
		if !p.value(t.Value, v) {
			return false
		}
		separator = ", "
	}
	p.dst = append(p.dst, '}')
	return true
}

// fields prints a tuple, or a user type if names is not nil.
func (p *jsonPrinter) fields(open, end byte, b []byte, types []Type, names []Field) bool {
	p.dst = append(p.dst, open)
	for i, e := range TupleFields(b, len(types)) {
		if i > 0 {
			p.dst = append(p.dst, ", "...)
		}
		if names != nil {
			p.dst = append(json.AppendKey(p.dst, names[i].Name), ": "...)
		}
		if !p.value(types[i], e) {
			return false
		}
	}
	p.dst = append(p.dst, end)
	return true
}
