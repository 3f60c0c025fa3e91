package types

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// randomValue makes a valid value, often one near another.
func randomValue(r *rand.Rand, t Type) []byte {
	switch t := t.(type) {
	case *List:
		return NewList(randomValues(r, t.Elem, true))
	case *Set:
		return NewSet(t, randomValues(r, t.Elem, false))
	case *Map:
		keys := randomValues(r, t.Key, false)
		values := make([][]byte, len(keys))
		for i := range values {
			values[i] = randomValue(r, t.Value)
		}
		return NewMap(t, keys, values)
	case *Tuple:
		fields := make([][]byte, r.IntN(len(t.Elems)+1))
		for i := range fields {
			if r.IntN(3) > 0 {
				fields[i] = randomValue(r, t.Elems[i])
			}
		}
		return NewTuple(fields)
	case *UserType:
		return randomValue(r, t.tuple())
	case *Vector:
		elems := make([][]byte, t.Dim)
		for i := range elems {
			for fixed := t.Elem.FixedLength(); ; {
				if elems[i] = randomValue(r, t.Elem); fixed == 0 || len(elems[i]) == fixed {
					break
				}
			}
		}
		return NewVector(t, elems)
	}
	for {
		b := make([]byte, randomLength(r, t))
		for i := range b {
			// Bytes at the edges make neighbours and equal beginnings likely.
			b[i] = [...]byte{0, 0, 1, 0x7F, 0x80, 0xFF, byte(r.Uint32())}[r.IntN(7)]
		}
		switch {
		case t == TimeUUID && len(b) > 6:
			b[6] = b[6]&0x0F | 0x10
		case t == ASCII || t == Text:
			for i := range b {
				b[i] &= 0x7F
			}
		case t == Decimal && len(b) > 4:
			binary.BigEndian.PutUint32(b, uint32(int32(r.IntN(9)-4)))
		}
		if t.Validate(b) == nil {
			return b
		}
	}
}

func randomValues(r *rand.Rand, t Type, nulls bool) [][]byte {
	elems := make([][]byte, r.IntN(4))
	for i := range elems {
		if !nulls || r.IntN(5) > 0 {
			elems[i] = randomValue(r, t)
		}
	}
	return elems
}

// randomLength is a length that values of t have.
func randomLength(r *rand.Rand, t Type) int {
	sizes := map[Type]int{
		BigInt: 8, Counter: 8, Boolean: 1, Date: 4, Double: 8, Float: 4, Int: 4, SmallInt: 2, Time: 8,
		Timestamp: 8, TimeUUID: 16, TinyInt: 1, UUID: 16,
	}
	if n := sizes[t]; n > 0 {
		if r.IntN(20) == 0 && t.Validate([]byte{}) == nil {
			return 0
		}
		return n
	}
	switch t {
	case Inet:
		return [...]int{0, 4, 16}[r.IntN(3)]
	case Empty:
		return 0
	case Duration:
		return 3
	}
	return r.IntN(8)
}

// keyTypes are the types whose keys are checked.
func keyTypes() []Type {
	ts := append(Natives(), Empty)
	for _, t := range testTypes {
		ts = append(ts, t)
	}
	return append(ts,
		&Map{Key: &Set{Elem: VarInt, Frozen: true}, Value: Decimal, Frozen: true},
		&Tuple{Elems: []Type{&List{Elem: Text, Frozen: true}, UUID, Float}},
		&Vector{Elem: &List{Elem: Decimal, Frozen: true}, Dim: 3},
		&Custom{Class: marshalPackage + "CompositeType"},
	)
}

// Keys sort as values compare, in both directions, and none is a prefix of another.
func TestKeyOrder(t *testing.T) {
	const pairs = 100_000
	for _, typ := range keyTypes() {
		t.Run(typ.String(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			values := make([][]byte, 500)
			keys := map[bool][][]byte{false: make([][]byte, len(values)), true: make([][]byte, len(values))}
			for i := range values {
				values[i] = randomValue(r, typ)
				keys[false][i] = typ.AppendKey(nil, values[i], false)
				keys[true][i] = typ.AppendKey(nil, values[i], true)
			}
			for range pairs {
				i, j := r.IntN(len(values)), r.IntN(len(values))
				want := sign(typ.Compare(values[i], values[j]))
				if got := sign(typ.Compare(values[j], values[i])); got != -want {
					t.Fatalf("compare %x, %x is %d, but the other way %d", values[i], values[j], want, got)
				}
				if got := bytes.Compare(keys[false][i], keys[false][j]); got != want {
					t.Fatalf("keys of %x, %x: got %d, want %d", values[i], values[j], got, want)
				}
				if got := bytes.Compare(keys[true][i], keys[true][j]); got != -want {
					t.Fatalf("descending keys of %x, %x: got %d, want %d", values[i], values[j], got, -want)
				}
				if want != 0 && bytes.HasPrefix(keys[false][i], keys[false][j]) {
					t.Fatalf("the key of %x is a prefix of that of %x", values[j], values[i])
				}
			}
		})
	}
}

// A key decodes to the value, or to an equal one where that is all a key can tell.
func TestKeyRoundTrip(t *testing.T) {
	for _, typ := range keyTypes() {
		r := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			b := randomValue(r, typ)
			for _, desc := range []bool{false, true} {
				key := append(typ.AppendKey([]byte("before"), b, desc), "after"...)
				got, rest, err := typ.DecodeKey([]byte("dst"), key[len("before"):], desc)
				if err != nil || string(rest) != "after" || !bytes.HasPrefix(got, []byte("dst")) {
					t.Fatalf("%s %x: got %x, rest %q, %v", typ, b, got, rest, err)
				}
				got = got[len("dst"):]
				if typ.Compare(got, b) != 0 || (ValidateBound(typ, got) == nil) != (ValidateBound(typ, b) == nil) {
					t.Fatalf("%s %x: decoded as %x", typ, b, got)
				}
				if !typ.LossyKey() && !bytes.Equal(got, b) {
					t.Fatalf("%s %x: decoded as %x, but keys are not lossy", typ, b, got)
				}
				if got, _, err := typ.DecodeKey(nil, key[len("before"):], desc); err != nil || got == nil {
					t.Fatalf("%s %x: decoded as null, %v", typ, b, err)
				}
			}
		}
	}
}

// Tuples that literals made of any bytes have keys too, which give the bytes back, behind those of the others.
func TestInvalidTupleKeys(t *testing.T) {
	typ := &Tuple{Elems: []Type{Int, &Vector{Elem: Date, Dim: 3}, &List{Elem: Int, Frozen: true}}}
	valid := NewTuple([][]byte{EncodeInt(7)})
	for _, s := range []string{"01", "0000000101", "00000000" + "00000001" + "00", "ffffffff" + "ffffffff" + "0000000100"} {
		b := unhex(t, s)
		if typ.Compare(valid, b) != -1 || typ.Compare(b, valid) != 1 || typ.Compare(b, b) != 0 {
			t.Errorf("%s does not come after %x", s, valid)
		}
		if got := typ.Format(b); got != "0x"+s {
			t.Errorf("%s is printed %s", s, got)
		}
		for _, desc := range []bool{false, true} {
			key := typ.AppendKey(nil, b, desc)
			if order := bytes.Compare(key, typ.AppendKey(nil, valid, desc)); (order > 0) == desc {
				t.Errorf("%s, descending %v: key %x", s, desc, key)
			}
			if got, rest, err := typ.DecodeKey(nil, key, desc); err != nil || len(rest) > 0 || !bytes.Equal(got, b) {
				t.Errorf("%s: key %x became %x, %x, %v", s, key, got, rest, err)
			}
		}
	}
}

// The extremes of a decimal's scale survive though the key keeps no zeros at the end.
func TestDecimalScaleLimits(t *testing.T) {
	for _, s := range []string{"8000000001", "800000000a", "80000000" + "0f4240", "7fffffff01", "7fffffffff"} {
		b := unhex(t, s)
		got, _, err := Decimal.DecodeKey(nil, Decimal.AppendKey(nil, b, true), true)
		if err != nil || Decimal.Compare(got, b) != 0 {
			t.Errorf("%s: got %x, %v", s, got, err)
		}
	}
}

// The types that most keys are of need no memory.
func TestHotTypesDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []Type{Int, BigInt, Text, Blob, UUID, TimeUUID, Timestamp} {
		a, b := randomValue(r, typ), randomValue(r, typ)
		key, value := make([]byte, 0, 128), make([]byte, 0, 128)
		allocs := testing.AllocsPerRun(100, func() {
			_ = typ.Validate(a)
			_ = typ.Compare(a, b)
			for _, desc := range []bool{false, true} {
				key = typ.AppendKey(key[:0], a, desc)
				value, _, _ = typ.DecodeKey(value[:0], key, desc)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", typ, allocs)
		}
	}
}
