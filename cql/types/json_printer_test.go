package types

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"testing"
)

// TestJSONSteps prints large values as AppendJSON does, with steps in between.
func TestJSONSteps(t *testing.T) {
	texts := make([][]byte, 3000)
	numbers := make([][]byte, len(texts))
	for i := range texts {
		texts[i] = fmt.Appendf(nil, "a \"text\" %d", i)
		numbers[i] = EncodeVarInt(big.NewInt(int64(i) << 20))
	}
	list, long := NewList(texts), bytes.Repeat([]byte("x\n"), 20_000)
	m := &Map{Key: VarInt, Value: &List{Elem: Text}}
	lists := [][]byte{list, nil, list, NewList(nil)}
	user := &UserType{Keyspace: "ks", Name: "u", Fields: []Field{
		{Name: "A b", Type: m},
		{Name: "c", Type: Text},
		{Name: "d", Type: Int},
	}}
	vector := &Vector{Elem: Text, Dim: len(texts)}
	for _, test := range []struct {
		t Type
		b []byte
	}{
		{&List{Elem: Text}, list},
		{&Set{Elem: VarInt}, NewList(numbers)},
		{&List{Elem: &List{Elem: Text}}, NewList(lists)},
		{m, NewMap(m, numbers[:4], lists)},
		{&Map{Key: Text, Value: VarInt}, NewMap(&Map{Key: Text, Value: VarInt}, texts, numbers)},
		{&Tuple{Elems: []Type{Text, m, Text}}, NewTuple([][]byte{long, NewMap(m, numbers[:4], lists)})},
		{user, NewTuple([][]byte{NewMap(m, numbers[:4], lists), long})},
		{vector, NewVector(vector, texts)},
		{Text, long},
		{Blob, long},
		{Text, []byte("short")},
	} {
		steps := 0
		got, err := AppendJSONSteps([]byte("in front: "), test.t, test.b, func() error { steps++; return nil })
		if want := test.t.AppendJSON([]byte("in front: "), test.b); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\ngot:  %.300s\nwant: %.300s", test.t, err, got, want)
		}
		if few := len(test.b) / (4 * printedAtOnce); steps < few {
			t.Errorf("%s: %d steps for %d bytes", test.t, steps, len(test.b))
		}
		if len(test.b) > printedAtOnce {
			stop := errors.New("stop")
			if _, err := AppendJSONSteps(nil, test.t, test.b, func() error { return stop }); !errors.Is(err, stop) {
				t.Errorf("%s: %v", test.t, err)
			}
		}
	}
	number := EncodeVarInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(100_200), nil))
	if _, err := AppendJSONSteps(nil, &List{Elem: VarInt}, NewList([][]byte{number}), nil); err == nil {
		t.Error("a number of more than 100,000 digits is printed")
	}
}

// TestDecimalsOfOneScale compares decimals whose digits do not have to be written out, and others by them.
func TestDecimalsOfOneScale(t *testing.T) {
	long := new(big.Int).Lsh(big.NewInt(1), 8_000_000) // 2.4 million digits
	more := new(big.Int).Add(long, big.NewInt(1))
	a, b, far := EncodeDecimal(long, 5), EncodeDecimal(more, 5), EncodeDecimal(long, 9)
	for _, test := range []struct {
		a, b []byte
		want int
	}{{a, b, -1}, {b, a, 1}, {a, a, 0}, {far, a, -1}, {a, far, 1}, {a, EncodeDecimal(new(big.Int).Neg(long), 9), 1}} {
		if got := Decimal.Compare(test.a, test.b); got != test.want {
			t.Errorf("got %d, want %d", got, test.want)
		}
	}
	var all [][]byte
	for _, n := range []int64{0, 1, 9, 10, 99, 100, 101, 1024, -1, -9, -10, -100, -1024} {
		for scale := int32(-3); scale <= 3; scale++ {
			all = append(all, EncodeDecimal(big.NewInt(n), scale))
		}
	}
	for _, a := range all {
		for _, b := range all {
			x, y := rational(a), rational(b)
			if got, want := Decimal.Compare(a, b), x.Cmp(y); got != want {
				t.Errorf("%v and %v: %d, want %d", x, y, got, want)
			}
		}
	}
}

func rational(b []byte) *big.Rat {
	unscaled, scale := DecodeDecimal(b)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
	if scale > 0 {
		power.Inv(power)
	}
	return power.Mul(power, new(big.Rat).SetInt(unscaled))
}
