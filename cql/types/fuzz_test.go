package types

import (
	"bytes"
	"testing"
)

// fuzzType chooses a type by number.
func fuzzType(n uint8) Type {
	ts := []Type{
		ASCII, BigInt, Blob, Boolean, Counter, Date, Decimal, Double, Duration, Empty, Float, Inet, Int, SmallInt,
		Text, Time, Timestamp, TimeUUID, TinyInt, UUID, VarInt,
		&List{Elem: Decimal, Frozen: true},
		&Set{Elem: Text, Frozen: true},
		&Map{Key: VarInt, Value: &Tuple{Elems: []Type{Text, Float}}, Frozen: true},
		&Tuple{Elems: []Type{Int, Text, Boolean, Timestamp, Duration, Inet}},
		userTypeUT,
		&Vector{Elem: Float, Dim: 3},
		&Vector{Elem: &List{Elem: Text, Frozen: true}, Dim: 2},
	}
	return ts[int(n)%len(ts)]
}

// Whatever decodes has a key, and its key decodes to the same again.
func FuzzDecodeKey(f *testing.F) {
	for n := range uint8(28) {
		f.Add(n, []byte{1, 2, 3, 0, 0, 0, 0, 0, 0, 0}, false)
		f.Add(n, []byte{0xFE, 0xFD, 0, 0xFF, 0xFF, 0xFF, 0xFF}, true)
	}
	f.Fuzz(func(t *testing.T, n uint8, key []byte, desc bool) {
		typ := fuzzType(n)
		value, rest, err := typ.DecodeKey(nil, key, desc)
		if err != nil {
			return
		}
		if len(rest) > len(key) || len(value) > 1<<20+64*len(key) {
			t.Fatalf("%d bytes of value, %d of rest", len(value), len(rest))
		}
		if typ.Validate(value) != nil {
			return // keys of damaged storage
		}
		again, rest, err := typ.DecodeKey(nil, typ.AppendKey(nil, value, desc), desc)
		if err != nil || len(rest) > 0 || !bytes.Equal(again, value) && typ.Compare(again, value) != 0 {
			t.Fatalf("%s: %x became %x, %x, %v", typ, value, again, rest, err)
		}
	})
}

// What may be bound can be compared, formatted, stored and normalized.
func FuzzValidate(f *testing.F) {
	for n := range uint8(28) {
		f.Add(n, []byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1})
		f.Add(n, []byte{0xFF, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		typ := fuzzType(n)
		if ValidateBound(typ, b) != nil {
			return
		}
		if typ.Compare(b, b) != 0 {
			t.Fatalf("%s: %x is not itself", typ, b)
		}
		typ.Format(b)
		got, rest, err := typ.DecodeKey(nil, typ.AppendKey(nil, b, false), false)
		if err != nil || len(rest) > 0 || typ.Compare(got, b) != 0 {
			t.Fatalf("%s: %x became %x, %x, %v", typ, b, got, rest, err)
		}
		if err := ValidateBound(typ, Normalize(typ, b)); err != nil {
			t.Fatalf("%s: %x normalized: %v", typ, b, err)
		}
	})
}

// What parses is valid.
func FuzzParseLiteral(f *testing.F) {
	for n := range uint8(28) {
		for kind, text := range []string{
			"2020-01-01 01:02:03.4 Europe/Berlin", "-12", "1.5e10", "true", "0x00ff",
			"50554d6e-29bb-11e5-b345-feff819cdc9f", "1y2mo3d4h",
		} {
			f.Add(n, uint8(kind), text)
		}
	}
	f.Fuzz(func(t *testing.T, n, kind uint8, text string) {
		if len(text) > 200 {
			return
		}
		typ, k := fuzzType(n), LiteralKind(kind%7)
		b, err := typ.ParseLiteral(k, text)
		if err != nil {
			return
		}
		if b == nil || len(b) > 1000 {
			t.Fatalf("%s: %q became %d bytes", typ, text, len(b))
		}
		if _, tuple := typ.(*Tuple); tuple || typ == Text {
			return // bytes in hex and text that is not UTF-8 are not checked by the parser
		}
		if err := typ.Validate(b); err != nil {
			t.Fatalf("%s: %q became %x: %v", typ, text, b, err)
		}
	})
}

// Class names of any text are refused or have a name themselves.
func FuzzFromClassName(f *testing.F) {
	f.Add("org.apache.cassandra.db.marshal.ListType(org.apache.cassandra.db.marshal.Int32Type)")
	f.Add("UserType(ks,7574,61:Int32Type)")
	f.Add("VectorType(FloatType , 3)")
	f.Fuzz(func(t *testing.T, class string) {
		typ, err := FromClassName(class)
		if err != nil {
			return
		}
		if again, err := FromClassName(typ.ClassName()); err != nil || !Equal(again, typ) {
			t.Fatalf("%q: %s became %v, %v", class, typ.ClassName(), again, err)
		}
	})
}
