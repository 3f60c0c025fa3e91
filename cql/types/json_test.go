package types

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/types/json"
)

// Values are read from JSON, and printed again, as Cassandra does.
func TestRecordedJSONValues(t *testing.T) {
	for _, row := range readTable(t, "json_values.txt") {
		typ := testType(t, row[0])
		v, err := json.Decode(row[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			continue
		}
		b, err := typ.ParseJSON(v)
		if err != nil {
			kind := "error "
			if wrong := new(ValueError); errors.As(err, &wrong) && wrong.Request {
				kind = "refused "
			}
			if got := kind + strings.ReplaceAll(err.Error(), "\n", `\n`); got != verdict(row) {
				t.Errorf("%s %s: got %s, want %s", row[0], row[1], got, verdict(row))
			}
			continue
		}
		if len(row) < 4 || b == nil || !bytes.Equal(b, unhex(t, row[2])) {
			t.Errorf("%s %s: got %x, want %s", row[0], row[1], b, row[2])
			continue
		}
		if got := string(typ.AppendJSON(nil, b)); got != verdict(row) {
			t.Errorf("%s %s: printed as %s, want %s", row[0], row[1], got, verdict(row))
		}
	}
}

// Values that JSON cannot give are printed as Cassandra prints them.
func TestRecordedJSONPrinted(t *testing.T) {
	for _, row := range readTable(t, "json_printed.txt") {
		if got := string(testType(t, row[0]).AppendJSON(nil, unhex(t, row[1]))); got != verdict(row) {
			t.Errorf("%s %s: got %s, want %s", row[0], row[1], got, verdict(row))
		}
	}
}

// Recorded values print as to_json printed them, if Cassandra did not fail.
func TestRecordedValuesAsJSON(t *testing.T) {
	for _, r := range recordedTypes(t) {
		for _, v := range r.values {
			if strings.HasPrefix(v.json, "server error ") {
				continue
			}
			got := "null"
			if len(v.bytes) > 0 || !EmptyIsNull(r.Type) {
				got = string(r.AppendJSON(nil, v.bytes))
			}
			if got != v.json {
				t.Errorf("%s %x: got %s, want %s", r.file, v.bytes, got, v.json)
			}
		}
	}
}

// Any text can be given to any type: what is read from it, and can be written, prints as JSON that is read as the
// same.
func FuzzParseJSON(f *testing.F) {
	for _, r := range recordedTypes(f) {
		for _, text := range []string{
			`[1, "a", null]`, `{"a": {"b": 1.5e3}, "A": "x"}`, `"[\"1\"]"`, `"1d"`, `-0.0`, `[[`, `"\ud83d\ude00"`,
		} {
			f.Add(r.ClassName(), text)
		}
	}
	f.Fuzz(func(t *testing.T, class, text string) {
		typ, ok := fuzzType(class)
		if !ok {
			return
		}
		v, err := json.Decode(text, nil)
		if err != nil || v == nil {
			return
		}
		b, err := typ.ParseJSON(v)
		if err != nil || !utf8.ValidString(text) || typ.Validate(b) != nil {
			return
		}
		printed := string(typ.AppendJSON(nil, b))
		v, err = json.Decode(printed, nil)
		if err != nil {
			t.Fatalf("%s: %q became %s: %v", typ, text, printed, err)
		}
		if v == nil {
			return
		}
		again, err := typ.ParseJSON(v)
		if err == nil && string(typ.AppendJSON(nil, again)) != printed {
			t.Fatalf("%s: %q became %s, then %s", typ, text, printed, typ.AppendJSON(nil, again))
		}
	})
}

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
	proceed := func() error { return nil }
	if _, err := AppendJSONSteps(nil, &List{Elem: VarInt}, NewList([][]byte{number}), proceed); err == nil {
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
