package types

import (
	"fmt"
	"strings"
)

// JSONObject is an object: its keys in their order, each with its last value.
type JSONObject struct {
	entries []jsonEntry
	places  map[string]int // in entries; nil as long as there are few
}

// fewEntries is how many entries are looked through one by one.
const fewEntries = 8

// place is where the entry of a key is.
func (o *JSONObject) place(key string) (at int, ok bool) {
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

// jsonEntry is a key with its value, or what is left of one that was taken out.
type jsonEntry struct {
	key   string
	value JSON
	taken bool
}

func (*JSONObject) class() string { return "LinkedHashMap" }

// String is {a=1, b=2}, as Java's LinkedHashMap prints.
func (o *JSONObject) String() string {
	var parts []string
	for _, e := range o.entries {
		if !e.taken {
			parts = append(parts, e.key+"="+printJSON(e.value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// DecodeJSONObject reads a JSON text that should be an object; nil is null. Errors and step are those of DecodeJSON.
func DecodeJSONObject(text string, step func() error) (*JSONObject, error) {
	s := &jsonScanner{text: text, step: step}
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
	case *JSONObject:
		return v, nil
	case JSONString:
		text := strings.TrimFunc(string(v), isJavaSpace)
		if text == "" {
			return nil, s.fail(jsonInvalidFormatError, from, "Cannot coerce empty String (\"\") to element of "+
				"`java.util.LinkedHashMap` (but could if coercion was enabled using `CoercionConfig`)")
		}
		return nil, s.fail(jsonMismatchError, from, "Cannot construct instance of `java.util.LinkedHashMap` (although at "+
			"least one Creator exists): no String-argument constructor/factory method to deserialize from String value "+
			"('%s')", text)
	case JSONInteger:
		return nil, s.notObject(from, "Integer value (token `JsonToken.VALUE_NUMBER_INT`)")
	case JSONDouble:
		return nil, s.notObject(from, "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)")
	case JSONBoolean:
		return nil, s.notObject(from, fmt.Sprintf("Boolean value (token `JsonToken.VALUE_%s`)", strings.ToUpper(v.String())))
	}
	return nil, nil
}

// notObject is the error for another value in the place of an object.
func (s *jsonScanner) notObject(at int, value string) error {
	return s.fail(jsonMismatchError, at, "Cannot deserialize value of type "+
		"`java.util.LinkedHashMap<java.lang.Object,java.lang.Object>` from %s", value)
}

// Take removes a key and returns its value; ok is false if there is no such key.
func (o *JSONObject) Take(key string) (v JSON, ok bool) {
	at, ok := o.place(key)
	if !ok {
		return nil, false
	}
	delete(o.places, key)
	o.entries[at].taken = true
	return o.entries[at].value, true
}

// First is the first key; ok is false if there is none.
func (o *JSONObject) First() (key string, ok bool) {
	for _, e := range o.entries {
		if !e.taken {
			return e.key, true
		}
	}
	return "", false
}

// put sets the value of a key, which keeps its place if it is there already.
func (o *JSONObject) put(key string, v JSON) {
	if at, known := o.place(key); known {
		o.entries[at].value = v
		return
	}
	o.entries = append(o.entries, jsonEntry{key: key, value: v})
	switch n := len(o.entries); {
	case o.places != nil:
		o.places[key] = n - 1
	case n > fewEntries:
		o.places = make(map[string]int, n)
		for i, e := range o.entries {
			if !e.taken {
				o.places[e.key] = i
			}
		}
	}
}

// Fold makes keys the names that they stand for: what is inside double quotes, else the key in lower case. A key that
// changes goes to the end, or takes the place of an equal one.
func (o *JSONObject) Fold() {
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
