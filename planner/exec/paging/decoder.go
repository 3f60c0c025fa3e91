package paging

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/types"
)

// decoder reads the parts of a paging state. After the first error ok stays false.
type decoder struct {
	b  []byte
	ok bool
}

func (d *decoder) take(n int) []byte {
	if !d.ok || n < 0 || n > len(d.b) {
		d.ok = false
		return nil
	}
	head := d.b[:n:n]
	d.b = d.b[n:]
	return head
}

func (d *decoder) int() int32 {
	b := d.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// modernMark reads the clustering values of a row; null is nil.
func (d *decoder) modernMark(columns int) [][]byte {
	values := make([][]byte, columns)
	header := uint64(0)
	for i := range values {
		if i%clusteringBlock == 0 {
			header = d.vint()
		}
		switch kind := header >> (2 * (i % clusteringBlock)) & 3; {
		case kind == 0:
			values[i] = d.take(int(d.vint()))
		case kind == 1 || i == 0: // the first cannot be null
			values[i] = []byte{}
		}
	}
	return values
}

// legacyMark is modernMark for marks of v3.
func (d *decoder) legacyMark(columns int) [][]byte {
	values := make([][]byte, columns)
	for i := range values {
		if i > 0 && len(d.b) == 0 {
			break
		}
		values[i] = d.shortBytesOrEmpty()
		d.take(1)
	}
	return values
}

// count checks a number of rows.
func (d *decoder) count(n uint64) int {
	if n > NoLimit {
		d.ok = false
	}
	return int(n)
}

func (d *decoder) shortBytesOrEmpty() []byte {
	b := d.take(2)
	if b == nil {
		return nil
	}
	return d.take(int(binary.BigEndian.Uint16(b)))
}

// shortBytes is nil for no bytes.
func (d *decoder) shortBytes() []byte { return orNil(d.shortBytesOrEmpty()) }

func (d *decoder) vintBytes() []byte {
	n := d.vint()
	if n > uint64(len(d.b)) {
		d.ok = false
		return nil
	}
	return orNil(d.take(int(n)))
}

func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// vint reads an unsigned vint.
func (d *decoder) vint() uint64 {
	v, n := types.CutVInt(d.b)
	if d.ok = d.ok && n > 0; !d.ok {
		return 0
	}
	d.b = d.b[n:]
	return v
}

func appendVintBytes(dst, b []byte) []byte {
	return append(types.AppendVInt(dst, uint64(len(b))), b...)
}

func appendShortBytes(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(b))), b...)
}
