package json

import (
	"fmt"
	"iter"
	"strings"
)

// Object is an object: its keys in the order of their first occurrence, each with its last value.
type Object struct {
	entries []entry
	places  map[string]int // index in entries; nil up to maxScanned entries
}

// maxScanned is the largest number of entries that are searched one by one.
const maxScanned = 8

// place returns the index of a key's entry.
func (o *Object) place(key string) (at int, ok bool) {
	if o.places != nil {
		at, ok = o.places[key]
		return at, ok
	}
	for i, e := range o.entries {
		if !e.taken && e.key == key {
			return i, true
		}
	}
	return 0, false
}

type entry struct {
	key   string
	value Value
	taken bool
}

// Class is LinkedHashMap.
func (*Object) Class() string { return "LinkedHashMap" }

// String prints {a=1, b=2}, as Java's LinkedHashMap does.
func (o *Object) String() string {
	var parts []string
	for key, v := range o.All() {
		parts = append(parts, key+"="+javaText(v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// All yields the keys and values that were not taken.
func (o *Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, e := range o.entries {
			if !e.taken && !yield(e.key, e.value) {
				return
			}
		}
	}
}

// DecodeObject is Decode for a text that must be an object or null, which it returns as nil.
func DecodeObject(text string, step func() error) (*Object, error) {
	s := &scanner{text: text, step: step}
	c, err := s.begin()
	if err != nil {
		return nil, err
	}
	from := s.at - 1
	if c == '[' {
		return nil, s.notObject(from, "Array value (token `JsonToken.START_ARRAY`)")
	}
	v, err := s.value(c)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *Object:
		return v, nil
	case String:
		text := strings.TrimFunc(string(v), func(r rune) bool { return r <= ' ' }) // as Java's trim does
		if text == "" {
			return nil, s.fail(formatError, from, "Cannot coerce empty String (\"\") to element of "+
				"`java.util.LinkedHashMap` (but could if coercion was enabled using `CoercionConfig`)")
		}
		return nil, s.fail(mismatchError, from, "Cannot construct instance of `java.util.LinkedHashMap` (although at "+
			"least one Creator exists): no String-argument constructor/factory method to deserialize from String value "+
			"('%s')", text)
	case Integer:
		return nil, s.notObject(from, "Integer value (token `JsonToken.VALUE_NUMBER_INT`)")
	case Double:
		return nil, s.notObject(from, "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)")
	case Boolean:
		return nil, s.notObject(from, fmt.Sprintf("Boolean value (token `JsonToken.VALUE_%s`)", strings.ToUpper(v.String())))
	}
	return nil, nil
}

func (s *scanner) notObject(at int, value string) error {
	return s.fail(mismatchError, at, "Cannot deserialize value of type "+
		"`java.util.LinkedHashMap<java.lang.Object,java.lang.Object>` from %s", value)
}

// Take removes a key and returns its value; ok is false if there is no such key.
func (o *Object) Take(key string) (v Value, ok bool) {
	at, ok := o.place(key)
	if !ok {
		return nil, false
	}
	delete(o.places, key)
	o.entries[at].taken = true
	return o.entries[at].value, true
}

// put sets the value of a key. A known key keeps its position.
func (o *Object) put(key string, v Value) {
	if at, known := o.place(key); known {
		o.entries[at].value = v
		return
	}
	o.entries = append(o.entries, entry{key: key, value: v})
	switch n := len(o.entries); {
	case o.places != nil:
		o.places[key] = n - 1
	case n > maxScanned:
		o.places = make(map[string]int, n)
		for i, e := range o.entries {
			if !e.taken {
				o.places[e.key] = i
			}
		}
	}
}

// Fold replaces keys by CQL names: the text inside double quotes, else the key in lower case. A key that changes moves
// to the end, or replaces the value of an equal one.
func (o *Object) Fold() {
	for _, e := range o.entries {
		name := strings.ToLower(e.key)
		if len(e.key) > 1 && e.key[0] == '"' && e.key[len(e.key)-1] == '"' {
			name = e.key[1 : len(e.key)-1]
		}
		if name == e.key {
			continue
		}
		if v, there := o.Take(e.key); there {
			o.put(name, v)
		}
	}
}
