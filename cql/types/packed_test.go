package types

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// Values in a row become the same collections as values one by one.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	set, mapping, vector := &Set{Elem: VarInt}, &Map{Key: VarInt, Value: Text}, &Vector{Elem: VarInt, Dim: 50}
	for range 200 {
		keys, values := NewPacked(0), NewPacked(0)
		var k, v [][]byte
		for range 50 {
			key := EncodeVarInt(big.NewInt(r.Int64N(60) - 30))
			if r.IntN(4) == 0 {
				key = append([]byte{byte(int8(key[0]) >> 7)}, key...) // the same number, longer
			}
			value := []byte(strings.Repeat("x", r.IntN(3)))
			k, v = append(k, key), append(v, value)
			keys.Add(key)
			values.Add(value)
		}
		for name, pair := range map[string][2][]byte{
			"list": {keys.List(), NewList(k)}, "set": {keys.Set(set), NewSet(set, k)},
			"map": {keys.Map(mapping, values), NewMap(mapping, k, v)}, "vector": {keys.Vector(vector), NewVector(vector, k)},
		} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Errorf("%s: got %x, want %x", name, pair[0], pair[1])
			}
		}
	}
}

// Long numbers are read as package math/big reads them.
func TestParseInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, shortInteger - 1, shortInteger, shortInteger + 1, 2 * shortInteger, 2*shortInteger +
		1, 5 * shortInteger, 7*shortInteger + 3} {
		digits := make([]byte, n)
		for i := range digits {
			digits[i] = byte('0' + r.IntN(10))
		}
		for _, text := range []string{
			string(digits), "-" + string(digits), "+" + string(digits), "--" + string(digits),
			string(digits) + "x", string(digits) + "-1",
		} {
			got, ok := parseInteger(text)
			want, wantOK := new(big.Int).SetString(text, 10)
			if ok != wantOK || ok && got.Cmp(want) != 0 {
				t.Errorf("%d digits, %.3s...%s: %t, want %t", n, text, text[len(text)-1:], ok, wantOK)
			}
		}
	}
}
