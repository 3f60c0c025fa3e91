package types

import (
	"bytes"
	"math"
	"testing"
)

// The vectors were recorded from Cassandra 5.0 with SELECT token(k).
func TestToken(t *testing.T) {
	for key, want := range map[string]int64{
		"61":                                 -8839064797231613815,
		"00000001":                           -4069959284402364209,
		"0000002a":                           -7160136740246525330,
		"68656c6c6f":                         -3758069500696749310,
		"ff":                                 -4442228696663692417,
		"808182":                             4805209697930042770,
		"000102030405060708090a0b0c0d0e0f":   4920504430128807728,
		"f0f1f2f3f4f5f6f7f8f9fafbfcfdfefffe": 4099564326200087988,
		"00040000000100000361626300":         8771735466527499816,
		"empty":                              math.MinInt64,
	} {
		b := unhex(t, key)
		if got := Token(b); got != want {
			t.Errorf("%s: got %d, want %d", key, got, want)
		}
		if n := testing.AllocsPerRun(10, func() { Token(b) }); n != 0 {
			t.Errorf("%s: %v allocations", key, n)
		}
	}
}

func TestCompositeKey(t *testing.T) {
	key := AppendCompositeKey(AppendCompositeKey(nil, []byte{0, 0, 0, 1}), []byte("abc"))
	if !bytes.Equal(key, unhex(t, "00040000000100000361626300")) {
		t.Fatalf("got %x", key)
	}
	values, err := SplitCompositeKey(key, 2)
	if err != nil || !bytes.Equal(values[0], []byte{0, 0, 0, 1}) || string(values[1]) != "abc" {
		t.Fatalf("got %q, %v", values, err)
	}
	for n := range key {
		if _, err := SplitCompositeKey(key[:n], 2); err == nil {
			t.Errorf("%x splits", key[:n])
		}
	}
	if _, err := SplitCompositeKey(append(key, 0), 2); err == nil {
		t.Error("a byte too many splits")
	}
}
