package tree

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

func TestHeadAndShared(t *testing.T) {
	all := []string{
		"", "\x00", "\x00\x00", "a", "a\x00", "ab", "abcdefg", "abcdefgh", "abcdefgh\x00", "abcdefghi", "abcdefgi", "b",
		"\xff",
		"\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	}
	for i, a := range all {
		for j, b := range all {
			if order := cmp.Compare(headOf([]byte(a), 0), headOf([]byte(b), 0)); order != 0 && order != cmp.Compare(i, j) {
				t.Errorf("heads of %q and %q: %d", a, b, order)
			}
			n := engine.SharedPrefix([]byte(a), []byte(b))
			if a[:n] != b[:n] || n < min(len(a), len(b)) && a[n] == b[n] {
				t.Errorf("%q and %q share %d bytes", a, b, n)
			}
		}
	}
	if headOf([]byte("abcdefgh"), 0) == headOf(bytes.ToUpper([]byte("abcdefgh")), 0) {
		t.Error("different heads are equal")
	}
}

// TestTouch touches rows with lengths around those of cache lines, and rows of the other forms.
func TestTouch(t *testing.T) {
	for _, size := range []int{0, 1, 55, 59, 60, 63, 64, 560, 2043, 2044, 65535, 65536} {
		key := []byte("12345")
		r := NewRow(key, bytes.Repeat([]byte{1}, size))
		lines := 0
		if all := len(key) + size; all <= 2048 {
			lines = all / 64
		}
		if got, want := r.touch(), r.bytes(0, 1)[0]+byte(lines); got != want {
			t.Errorf("a value of %d bytes: the loads add up to %d, want %d", size, got, want)
		}
		long := NewLongRow(r, r)
		if got, want := long.touch(), long.bytes(0, 1)[0]; got != want {
			t.Errorf("a long row: the loads add up to %d, want %d", got, want)
		}
	}
}
