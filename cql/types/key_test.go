package types

import (
	"bytes"
	"runtime"
	"testing"
)

// Tuples that literals made of any bytes have keys too, which give the bytes back, behind those of the others.
func TestInvalidTupleKeys(t *testing.T) {
	typ := &Tuple{Elems: []Type{Int, &Vector{Elem: Date, Dim: 3}, &List{Elem: Int, Frozen: true}}}
	valid := NewTuple([][]byte{EncodeInt(7)})
	for _, s := range []string{"01", "0000000101", "00000000" + "00000001" + "00", "ffffffff" + "ffffffff" +
		"0000000100"} {
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

// Nothing takes time or memory by the scale: no zeros are written out.
func TestDecimalScaleTakesNoMemory(t *testing.T) {
	const runs, most = 100, 4 << 10 // bytes, for all that is done with two values
	values := [][]byte{unhex(t, "8000000001"), unhex(t, "7fffffff7b"), unhex(t, "0000000001"), unhex(t, "80000000ff")}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		for i, a := range values {
			Decimal.Compare(a, values[(i+1)%len(values)])
			Decimal.Format(a)
			if _, _, err := Decimal.DecodeKey(nil, Decimal.AppendKey(nil, a, false), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) / runs / uint64(len(values)); used > most {
		t.Errorf("%d bytes are used for a decimal", used)
	}
}
