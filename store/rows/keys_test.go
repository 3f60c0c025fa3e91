package rows

import (
	"bytes"
	"slices"
	"testing"
)

// TestSplitKeys has tokens that are spread fall into all parts of a table, and nothing else between its first key and
// the next table.
func TestSplitKeys(t *testing.T) {
	const id, tokens = 1000, 4096
	for _, parts := range []int{1, 2, 3, 8, 1000} {
		keys := SplitKeys(id, parts)
		if len(keys) != parts || !slices.IsSortedFunc(keys, bytes.Compare) {
			t.Fatalf("%d parts have the keys %x", parts, keys)
		}
		if first := AppendArea(nil, id, AreaTombstones); !bytes.Equal(keys[0], first) {
			t.Errorf("the first key is %x, want %x", keys[0], first)
		}
		if next := AppendArea(nil, id+1, AreaTombstones); bytes.Compare(keys[parts-1], next) >= 0 {
			t.Errorf("the last key is %x, behind that of the next table", keys[parts-1])
		}
		in := make([]int, parts)
		for i := range uint64(tokens) {
			key := AppendToken(AppendArea(nil, id, AreaRows), int64(i*(1<<64/tokens)))
			part, exact := slices.BinarySearchFunc(keys, key, bytes.Compare)
			if !exact {
				part--
			}
			in[part]++
		}
		if least, most := slices.Min(in), slices.Max(in); most-least > 2 {
			t.Errorf("of %d parts the smallest has %d tokens and the largest %d", parts, least, most)
		}
	}
}
