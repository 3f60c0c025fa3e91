package types

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

func TestNormalize(t *testing.T) {
	for _, test := range []struct {
		t             Type
		b, normalized string
	}{
		{
			testTypes["frozen<set<int>>"], "00000003" + "0000000400000003" + "0000000400000001" + "0000000400000003",
			"00000002" + "0000000400000001" + "0000000400000003",
		},
		{testTypes["frozen<list<int>>"], "00000001fffffffe", "00000001ffffffff"},
		{
			testTypes["frozen<map<int, text>>"],
			"00000003" + "0000000400000002" + "0000000162" + "0000000400000001" + "0000000161" + "0000000400000002" +
				"0000000163",
			"00000002" + "0000000400000001" + "0000000161" + "0000000400000002" + "0000000163",
		},
		{
			testTypes["frozen<list<frozen<set<int>>>>"],
			"00000001" + "00000014" + "00000002" + "0000000400000003" + "0000000400000001",
			"00000001" + "00000014" + "00000002" + "0000000400000001" + "0000000400000003",
		},
		{Int, "00000001", "00000001"},
	} {
		if got := Normalize(test.t, unhex(t, test.b)); !bytes.Equal(got, unhex(t, test.normalized)) {
			t.Errorf("%s %s: got %x, want %s", test.t, test.b, got, test.normalized)
		}
	}
}

func TestFormatNested(t *testing.T) {
	for want, value := range map[string]struct {
		t Type
		b []byte
	}{
		"[1, null]": {testTypes["frozen<list<int>>"], NewList([][]byte{EncodeInt(1), nil})},
		"{'a''b'}":  {testTypes["frozen<set<text>>"], NewList([][]byte{[]byte("a'b")})},
		"{1: 'x'}": {
			testTypes["frozen<map<int, text>>"],
			NewMap(&Map{Key: Int, Value: Text}, [][]byte{EncodeInt(1)}, [][]byte{[]byte("x")}),
		},
		"(1)":               {testTypes["frozen<tuple<int, text>>"], NewTuple([][]byte{EncodeInt(1)})},
		"{a: null, b: 'x'}": {userTypeUT, NewTuple([][]byte{nil, []byte("x")})},
		"[1, 2]": {
			testTypes["vector<int, 2>"],
			NewVector(&Vector{Elem: Int, Dim: 2}, [][]byte{EncodeInt(1), EncodeInt(2)}),
		},
		"[1, null, 2]":   {&List{Elem: Int}, NewList([][]byte{EncodeInt(1), {}, EncodeInt(2)})},
		"['2020-01-01']": {&List{Elem: Date}, NewList([][]byte{EncodeDate(18262)})},
	} {
		if got := value.t.Format(value.b); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// The texts were recorded from Cassandra 5.0: INSERT of a literal into tuple<int, text, boolean, timestamp>.
func TestTupleLiterals(t *testing.T) {
	typ := &Tuple{Elems: []Type{Int, Text, Boolean, Timestamp}}
	for text, want := range map[string]string{
		"1:a:true:2020-01-01": "(1, 'a', true, '2020-01-01T00:00:00.000Z')",
		"@:a":                 "(null, 'a')",
		`1:a\:b`:              "(1, 'a:b')",
		"5":                   "(5)",
		"x":                   "Unable to make int from 'x'",
		`1\:2`:                "Unable to make int from '1:2'",
		"1:a:yes":             "Unable to make boolean from 'yes'",
		"1:a:true:1:2": "Invalid tuple literal: too many elements. " +
			"Type frozen<tuple<int, text, boolean, timestamp>> expects 4 but got 5",
	} {
		b, err := typ.ParseLiteral(StringLiteral, text)
		got := typ.Format(b)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestVInt(t *testing.T) {
	for v, want := range map[uint64]string{
		0: "00", 127: "7f", 128: "8080", 256000: "c3e800", 1<<56 - 1: "feffffffffffffff",
		1 << 56: "ff0100000000000000", 1<<64 - 1: "ffffffffffffffffff",
	} {
		b := AppendVInt(nil, v)
		if !bytes.Equal(b, unhex(t, want)) {
			t.Errorf("%d: got %x, want %s", v, b, want)
		}
		if got, n := CutVInt(b); got != v || n != len(b) {
			t.Errorf("%x: got %d, %d", b, got, n)
		}
		if _, n := CutVInt(b[:len(b)-1]); n != 0 {
			t.Errorf("%x without its last byte has length %d", b, n)
		}
	}
}

// UUIDs of one clock are all different and later than the one before, also when time stands still.
func TestUUIDClock(t *testing.T) {
	c := NewUUIDClock([8]byte{0xFF, 1, 2, 3, 4, 5, 6, 7})
	now := time.Date(2020, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	var us [][]byte
	for _, after := range []time.Duration{0, 0, time.Second, -time.Hour} {
		u := c.Next(now.Add(after))
		if err := TimeUUID.Validate(u[:]); err != nil {
			t.Fatal(err)
		}
		us = append(us, u[:])
	}
	if !slices.IsSortedFunc(us, TimeUUID.Compare) || TimeUUID.Compare(us[0], us[1]) == 0 {
		t.Errorf("not in order: %x", us)
	}
	if got := TimeUUIDMillis(us[0]); got != now.UnixMilli() {
		t.Errorf("got %d, want %d", got, now.UnixMilli())
	}
	random := RandomUUID([16]byte{6: 0xFF, 8: 0xFF})
	if got := FormatUUID(random); got != "00000000-0000-4f00-bf00-000000000000" {
		t.Errorf("got %s", got)
	}
}

// TestNormalizeStored returns collections that are as they are stored themselves: copies of large ones take memory.
func TestNormalizeStored(t *testing.T) {
	for name, hex := range map[string]string{
		"frozen<list<int>>":      "00000003" + "0000000400000003" + "ffffffff" + "0000000400000003",
		"frozen<list<text>>":     "00000002" + "00000000" + "0000000161",
		"frozen<set<int>>":       "00000002" + "0000000400000001" + "0000000400000003",
		"frozen<map<int, text>>": "00000002" + "0000000400000001" + "0000000161" + "0000000400000002" + "00000000",
	} {
		b := unhex(t, hex)
		if got := NormalizeBound(testTypes[name], b); &got[0] != &b[0] || !bytes.Equal(got, unhex(t, hex)) {
			t.Errorf("%s %s: got %x", name, hex, got)
		}
	}
	for in, want := range map[string]string{
		"00000002" + "00000000" + "0000000400000001": "00000002" + "ffffffff" + "0000000400000001",
		"00000001" + "fffffffe":                      "00000001" + "ffffffff",
	} {
		if got := NormalizeBound(testTypes["frozen<list<int>>"], unhex(t, in)); !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("%s: got %x, want %s", in, got, want)
		}
	}
}

// TestElementStarts finds the elements by their places.
func TestElementStarts(t *testing.T) {
	b := unhex(t, "00000003"+"0000000161"+"ffffffff"+"00000000")
	starts := ElementStarts(b)
	if len(starts) != 3 || string(ElementAt(b, starts[0])) != "a" || ElementAt(b, starts[1]) != nil ||
		ElementAt(b, starts[2]) == nil {
		t.Error(starts)
	}
}
