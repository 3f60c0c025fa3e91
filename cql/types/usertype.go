package types

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// UserType is a type made by CREATE TYPE. A value has the form of a tuple's; values written before a
// field was added lack it.
type UserType struct {
	compound
	Keyspace, Name string
	Fields         []Field
	Frozen         bool
}

// Field is a field of a user type.
type Field struct {
	Name string
	Type Type
}

// Field returns the index of the field of that name, or -1.
func (t *UserType) Field(name string) int {
	return slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
}

// withFrozen returns the type, frozen or not.
func (t *UserType) withFrozen(frozen bool) *UserType {
	if t.Frozen == frozen {
		return t
	}
	return &UserType{Keyspace: t.Keyspace, Name: t.Name, Fields: t.Fields, Frozen: frozen}
}

// String is the name without its keyspace, inside frozen<> if the type is frozen.
func (t *UserType) String() string { return frozenName(quote.Name(t.Name), t.Frozen) }

// ClassName is UserType(keyspace,name,field:type), all names in hexadecimal but the keyspace.
func (t *UserType) ClassName() string { return className(t, false) }

// LossyKey is true for the reason given at Tuple.
func (*UserType) LossyKey() bool { return true }

// Validate is like a tuple's. Its errors name the field. For a value that is not nested Cassandra prefixes its
// exception class and returns a server error.
func (t *UserType) Validate(b []byte) error {
	for i, f := range t.Fields {
		if len(b) == 0 {
			return nil
		}
		if len(b) < 4 {
			return invalidf("Not enough bytes to read size of %dth field %s", i, f.Name)
		}
		e, rest, ok := readElement(b)
		if !ok {
			return invalidf("Not enough bytes to read %dth field %s", i, f.Name)
		}
		if e != nil {
			if err := f.Type.Validate(e); err != nil {
				return invalidf("Failure validating the %dth field %s; %s", i, f.Name, err)
			}
		}
		b = rest
	}
	if len(b) > 0 {
		return invalidf("Invalid remaining data after end of UDT value")
	}
	return nil
}

// tuple is the tuple of the types of the fields.
func (t *UserType) tuple() *Tuple {
	elems := make([]Type, len(t.Fields))
	for i, f := range t.Fields {
		elems[i] = f.Type
	}
	return &Tuple{Elems: elems}
}

// Compare orders by the fields in turn, null first.
func (t *UserType) Compare(a, b []byte) int { return t.tuple().Compare(a, b) }

// AppendKey is a tuple's.
func (t *UserType) AppendKey(dst, b []byte, desc bool) []byte {
	return t.tuple().AppendKey(dst, b, desc)
}

// DecodeKey returns the value with all its fields, null where they were missing.
func (t *UserType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return t.tuple().DecodeKey(dst, key, desc)
}

// Format prints {a: 1, b: 2} without the fields that are missing.
func (t *UserType) Format(b []byte) string {
	var parts []string
	for _, f := range t.Fields {
		e, rest, ok := readElement(b)
		if !ok {
			break
		}
		parts = append(parts, quote.Name(f.Name)+": "+formatNullable(f.Type, e))
		b = rest
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// ParseJSON takes an object, or a string with one in it. Its keys are names as in Fold; fields without one are null.
func (t *UserType) ParseJSON(v json.Value) ([]byte, error) {
	o, err := jsonObject(v)
	if err != nil {
		return nil, err
	}
	o.Fold()
	fields := make([][]byte, len(t.Fields))
	for i, f := range t.Fields {
		e, _ := o.Take(f.Name)
		if e == nil {
			continue
		}
		if fields[i], err = f.Type.ParseJSON(e); err != nil {
			return nil, err
		}
	}
	for name := range o.All() {
		return nil, invalidf("Unknown field '%s' in value of user defined type %s", name, t.Name)
	}
	return NewTuple(fields), nil
}

// AppendJSON prints an object with all fields.
func (t *UserType) AppendJSON(dst, b []byte) []byte { return printParts(dst, t, b) }
