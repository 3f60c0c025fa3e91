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
