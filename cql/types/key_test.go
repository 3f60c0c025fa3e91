package types

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

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
