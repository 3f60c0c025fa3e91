package types

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// longestClass bounds the class names that types are made of here: types nest, and work grows with their depth.
const longestClass = 500

// fuzzType is the type of a class name; ok is false if there is none.
func fuzzType(class string) (t Type, ok bool) {
	if len(class) > longestClass {
		return nil, false
	}
	t, err := FromClassName(class)
	return t, err == nil
}

// addValues seeds a target with values of every type.
func addValues(f *testing.F, add func(class string, a, b []byte)) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, typ := range propertyTypes(f) {
		for range 3 {
			add(typ.ClassName(), randomValue(r, typ.Type), randomValue(r, typ.Type))
		}
	}
}

// roomFor is what n bytes may become at most: no few bytes from outside may take much memory.
func roomFor(n int) int { return 64 + 8*n }

// What may be bound can be compared, formatted, stored and normalized. What may not is refused, and printed all the
// same.
func FuzzValue(f *testing.F) {
	addValues(f, func(class string, a, _ []byte) { f.Add(class, a) })
	f.Fuzz(func(t *testing.T, class string, b []byte) {
		typ, ok := fuzzType(class)
		if !ok {
			return
		}
		if text := typ.Format(b); len(text) > roomFor(len(b))+len(b)*len(class) {
			t.Fatalf("%s: %d bytes print %d", typ, len(b), len(text))
		}
		if ValidateBound(typ, b) != nil {
			return
		}
		if typ.Compare(b, b) != 0 {
			t.Fatalf("%s: %x is not itself", typ, b)
		}
		for _, desc := range []bool{false, true} {
			key := typ.AppendKey(nil, b, desc)
			got, rest, err := typ.DecodeKey(nil, key, desc)
			if err != nil || len(rest) > 0 || typ.Compare(got, b) != 0 {
				t.Fatalf("%s: %x became %x, %x, %v", typ, b, got, rest, err)
			}
			if len(key) > roomFor(len(b)) {
				t.Fatalf("%s: %d bytes have a key of %d", typ, len(b), len(key))
			}
		}
		stored := NormalizeBound(typ, b)
		if err := ValidateBound(typ, stored); err != nil || !bytes.Equal(NormalizeBound(typ, stored), stored) {
			t.Fatalf("%s: %x normalized is %x: %v", typ, b, stored, err)
		}
	})
}

// Two values compare as their keys do.
func FuzzCompare(f *testing.F) {
	addValues(f, func(class string, a, b []byte) { f.Add(class, a, b) })
	f.Fuzz(func(t *testing.T, class string, a, b []byte) {
		typ, ok := fuzzType(class)
		if !ok || ValidateBound(typ, a) != nil || ValidateBound(typ, b) != nil {
			return
		}
		order := sign(typ.Compare(a, b))
		if back := sign(typ.Compare(b, a)); back != -order {
			t.Fatalf("%s: %x, %x compare as %d and %d", typ, a, b, order, back)
		}
		checkOrder(t, typ, a, b, order)
	})
}

// Whatever decodes has a key, and its key decodes to the same again.
func FuzzDecodeKey(f *testing.F) {
	addValues(f, func(class string, a, _ []byte) {
		typ, _ := fuzzType(class)
		for _, desc := range []bool{false, true} {
			f.Add(class, typ.AppendKey(nil, a, desc), desc)
		}
	})
	f.Fuzz(func(t *testing.T, class string, key []byte, desc bool) {
		typ, ok := fuzzType(class)
		if !ok {
			return
		}
		value, rest, err := typ.DecodeKey(nil, key, desc)
		if err != nil {
			return
		}
		if len(rest) > len(key) || len(value) > maxKeyDigits+(64+len(class))*(1+len(key)) {
			t.Fatalf("%s: %d bytes of value, %d of rest", typ, len(value), len(rest))
		}
		if typ.Validate(value) != nil {
			return // keys of damaged storage
		}
		again, rest, err := typ.DecodeKey(nil, typ.AppendKey(nil, value, desc), desc)
		if err != nil || len(rest) > 0 || typ.Compare(again, value) != 0 {
			t.Fatalf("%s: %x became %x, %x, %v", typ, value, again, rest, err)
		}
	})
}

// What parses is valid.
func FuzzParseLiteral(f *testing.F) {
	for _, typ := range propertyTypes(f) {
		for kind, text := range []string{
			"2020-01-01 01:02:03.4 Europe/Berlin", "-12", "1.5e10", "true", "0x00ff",
			"50554d6e-29bb-11e5-b345-feff819cdc9f", "1y2mo3d4h",
		} {
			f.Add(typ.ClassName(), uint8(kind), text)
		}
		for _, v := range typ.values {
			if kind, text, ok := cutLiteral(v.written); ok {
				f.Add(typ.ClassName(), uint8(kind), text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, class string, kind uint8, text string) {
		typ, ok := fuzzType(class)
		if !ok || len(text) > 1000 {
			return
		}
		b, err := typ.ParseLiteral(LiteralKind(kind%uint8(len(literalKindNames))), text)
		if err != nil {
			return
		}
		if b == nil || len(b) > roomFor(len(text)) {
			t.Fatalf("%s: %q became %d bytes", typ, text, len(b))
		}
		typ.Format(b)
		switch typ.(type) {
		case *Tuple, *textType, *Custom:
			return // bytes in hex and text that is not UTF-8 are not checked by the parser
		}
		if err := typ.Validate(b); err != nil {
			t.Fatalf("%s: %q became %x: %v", typ, text, b, err)
		}
	})
}

// Class names of any text are refused or have a name themselves, and types come back from theirs.
func FuzzFromClassName(f *testing.F) {
	f.Add("UserType(ks,7574,61:Int32Type)")
	f.Add("VectorType(FloatType , 3)")
	for _, typ := range propertyTypes(f) {
		f.Add(typ.ClassName())
		f.Add(ExactClassName(typ.Type))
	}
	f.Fuzz(func(t *testing.T, class string) {
		typ, ok := fuzzType(class)
		if !ok {
			return
		}
		if again, err := FromClassName(typ.ClassName()); err != nil || !Equal(again, typ) {
			t.Fatalf("%q: %s became %v, %v", class, typ.ClassName(), again, err)
		}
		if again, err := FromClassName(ExactClassName(typ)); err != nil || !Equal(again, typ) {
			t.Fatalf("%q: %s became %v, %v", class, ExactClassName(typ), again, err)
		}
		for _, t := range []Type{Freeze(typ), FreezeParts(typ)} {
			_ = t.String()
		}
	})
}

// Partition keys of several columns are refused or have as many values as columns, none longer than the key.
func FuzzSplitCompositeKey(f *testing.F) {
	f.Add(AppendCompositeKey(AppendCompositeKey(nil, []byte("a")), nil), uint8(2))
	f.Add([]byte{0, 1, 2}, uint8(1))
	f.Fuzz(func(t *testing.T, key []byte, n uint8) {
		columns := int(n%8) + 1
		values, err := SplitCompositeKey(key, columns)
		if err != nil {
			return
		}
		size := 0
		for _, v := range values {
			size += len(v)
		}
		if len(values) != columns || size > len(key) {
			t.Fatalf("%x has %d values of %d bytes", key, len(values), size)
		}
	})
}
