package protocol

import (
	"bytes"
	"slices"
	"testing"
)

// TestLong encodes rows whose cells are in several parts: on the wire they are as if they were in one.
func TestLong(t *testing.T) {
	cells := make([]byte, 400_000)
	for i := range cells {
		cells[i] = byte(i * i >> 8)
	}
	room := func(n int) []byte { return make([]byte, 0, n) }
	prefix := &Prefix{Warnings: []string{"long"}}
	for name, e := range map[string]Encoder{
		"plain":         {Version: V4},
		"plain, LZ4":    {Version: V4, Compression: LZ4},
		"plain, Snappy": {Version: V3, Compression: Snappy},
		"segments":      {Version: V5, Segments: true},
		"segments, LZ4": {Version: V5, Segments: true, Compression: LZ4},
	} {
		for _, cuts := range [][]int{
			{200_000}, {1, 131_000, 262_100, 262_101}, {cutPlain, cutLZ4, 2 * cutPlain}, {100_000, 399_999},
		} {
			whole := &Rows{Count: 1, Cells: cells, Metadata: RowsMetadata{Skip: true}}
			want := e.Flush(e.Append(nil, 7, prefix, whole))
			parted := *whole
			at := 0
			for _, cut := range cuts {
				parted.Before = append(parted.Before, bytes.Clone(cells[at:cut]))
				at = cut
			}
			parted.Cells = bytes.Clone(cells[at:])
			if n := parted.Size(); n != len(cells) {
				t.Errorf("%d bytes of cells, want %d", n, len(cells))
			}
			if got := slices.Concat(e.Long(7, prefix, &parted, room)...); !bytes.Equal(got, want) {
				t.Errorf("%s, cut at %d: %d bytes, want %d", name, cuts, len(got), len(want))
			}
			parted.Before, parted.Cells = [][]byte{cells[:cuts[0]]}, cells[cuts[0]:]
			if got := e.Flush(e.Append(nil, 7, prefix, &parted)); !bytes.Equal(got, want) {
				t.Errorf("%s, cut at %d and not long: %d bytes, want %d", name, cuts[0], len(got), len(want))
			}
		}
	}
}
