package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestScanRanges puts and removes keys, of which many share prefixes, and scans ranges whose bounds are keys of the
// tree, keys that are not there, and keys before and after all, in both directions.
func TestScanRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() string {
		n := random.IntN(2000)
		switch random.IntN(4) {
		case 0:
			return strings.Repeat("\x00", 1+n%20)
		case 1:
			return fmt.Sprintf("%05d%s", n, strings.Repeat("long", n%5))
		default:
			return fmt.Sprintf("a prefix of ten or more bytes %d %05d", n%2, n)
		}
	}
	tr, held := New(), map[string]bool{}
	var path Path
	for range 3000 {
		key := draw()
		tr.Seek([]byte(key), &path)
		switch {
		case !path.Found:
			tr.Put(&path, NewRow([]byte(key), []byte("value")))
			held[key] = true
		case random.IntN(2) == 0:
			tr.Remove(&path)
			delete(held, key)
		}
	}
	if rows, _, err := tr.Check(); rows != len(held) || err != nil {
		t.Fatalf("%d rows, want %d: %v", rows, len(held), err)
	}
	sorted := slices.Sorted(maps.Keys(held))
	for range 1000 {
		start, end, reverse := draw(), draw(), random.IntN(2) == 0
		switch random.IntN(4) {
		case 0:
			start = ""
		case 1:
			end = ""
		case 2:
			end = "z"
		}
		var want, got []string
		for _, key := range sorted {
			if key >= start && (end == "" || key < end) {
				want = append(want, key)
			}
		}
		if reverse {
			slices.Reverse(want)
		}
		err := tr.Scan([]byte(start), []byte(end), reverse, func(r Row) (bool, error) {
			got = append(got, string(r.Key()))
			return true, nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("a scan from %q to %q, reverse %t: %d keys, want %d, %v", start, end, reverse, len(got), len(want), err)
		}
	}
}
