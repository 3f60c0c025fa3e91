package exec

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// pagingState is where a page ended, in Cassandra's own bytes, so that a client may take it from one
// server to another:
//
//	v3      <partition [short bytes]> <mark [short bytes]> <remaining [int]> <in partition [int]>
//	v4, v5  the same with unsigned vints for lengths and numbers
//
// A mark names the last row. In v3 it is the name of the row's last cell: each clustering value, then the
// column (empty for a row without cells), as [short bytes] and a zero byte; it ends before the first value that is null, and of a
// table WITH COMPACT STORAGE and one clustering column it is the value alone. Since v4 it is the clustering values: a vint with two bits for
// each that is empty (1) or null (2), then the others with a vint length before each.
type pagingState struct {
	partition   []byte   // nil: the query names the one partition
	mark        [][]byte // clustering values; nil: no row is named
	column      string   // of the last cell, for v3
	bare        bool     // a mark of v3 is a value alone
	remaining   int      // rows under the LIMIT
	inPartition int      // rows under the PER PARTITION LIMIT; 0: the partition is done
	raw         []byte   // the mark as received
	legacy      bool     // it is of v3's form
}

const badPagingState = "Invalid value for the paging state"

func errPagingState() error { return cqlerr.Protocolf(badPagingState) }

// errForeignState is for a paging state in which nothing but the key or the row is wrong: no row of the table can be
// there. Cassandra finds out where it reads, and fails.
func errForeignState() error { return cqlerr.Invalidf(badPagingState) }

// encode is the paging state as clients of that protocol version get it.
func (s *pagingState) encode(version int) []byte {
	if version <= 3 {
		b := appendShortBytes(nil, s.partition)
		b = appendShortBytes(b, s.legacyMark())
		b = binary.BigEndian.AppendUint32(b, uint32(s.remaining))
		return binary.BigEndian.AppendUint32(b, uint32(s.inPartition))
	}
	b := appendVintBytes(nil, s.partition)
	b = appendVintBytes(b, s.modernMark())
	b = types.AppendVInt(b, uint64(s.remaining))
	return types.AppendVInt(b, uint64(s.inPartition))
}

func (s *pagingState) legacyMark() []byte {
	if s.mark == nil {
		return nil
	}
	if s.bare {
		return s.mark[0]
	}
	var b []byte
	for _, v := range s.mark {
		if v == nil {
			return b
		}
		b = append(appendShortBytes(b, v), 0)
	}
	return append(appendShortBytes(b, []byte(s.column)), 0)
}

// clusteringBlock is how many clustering values one vint tells the emptiness of.
const clusteringBlock = 32

func (s *pagingState) modernMark() []byte {
	var b []byte
	for i, v := range s.mark {
		if i%clusteringBlock == 0 {
			header := uint64(0)
			for j, w := range s.mark[i:min(i+clusteringBlock, len(s.mark))] {
				switch {
				case w == nil:
					header |= 2 << (2 * j)
				case len(w) == 0:
					header |= 1 << (2 * j)
				}
			}
			b = types.AppendVInt(b, header)
		}
		if len(v) > 0 {
			b = appendVintBytes(b, v)
		}
	}
	return b
}

// CheckPagingState refuses what is not a paging state. Servers call it when a request arrives: Cassandra's
// decoder refuses such requests whatever they are, also those that have no pages.
func CheckPagingState(b []byte, version int) error {
	if b == nil {
		return nil
	}
	_, err := decodePagingState(b, version)
	return err
}

// decodePagingState reads a paging state, preferably of the form of the protocol version.
func decodePagingState(b []byte, version int) (*pagingState, error) {
	first, second := decodeModern, decodeLegacy
	if version <= 3 {
		first, second = second, first
	}
	s, ok := first(b)
	if !ok {
		s, ok = second(b)
	}
	if !ok {
		return nil, errPagingState()
	}
	return s, nil
}

func decodeModern(b []byte) (*pagingState, bool) {
	s := &pagingState{}
	d := decoder{b: b, ok: true}
	s.partition, s.raw = d.vintBytes(), d.vintBytes()
	s.remaining, s.inPartition = d.count(d.vint()), d.count(d.vint())
	return s, d.ok && len(d.b) == 0
}

func decodeLegacy(b []byte) (*pagingState, bool) {
	s := &pagingState{legacy: true}
	d := decoder{b: b, ok: true}
	s.partition, s.raw = d.shortBytes(), d.shortBytes()
	s.remaining, s.inPartition = d.count(uint64(d.int())), noLimit
	if len(d.b) > 0 {
		s.inPartition = d.count(uint64(d.int()))
	}
	return s, d.ok && len(d.b) == 0
}

// checkPartition refuses a partition that a table cannot have. Only views have partitions with an empty key.
func (s *pagingState) checkPartition(t *schema.Table) error {
	if len(s.partition) == 0 && t.View != nil {
		return nil
	}
	parts, err := types.SplitCompositeKey(s.partition, len(t.PartitionKey))
	if err != nil || len(s.partition) == 0 || len(s.partition) > maxKey {
		return errForeignState()
	}
	for i, c := range t.PartitionKey {
		if !mayBeStored(c.Type, parts[i]) {
			return errForeignState()
		}
	}
	return nil
}

// clustering is the row that a received mark names; nil if there is none.
func (s *pagingState) clustering(t *schema.Table) ([][]byte, error) {
	if len(s.raw) == 0 || len(t.Clustering) == 0 {
		return nil, nil
	}
	var values [][]byte
	d := decoder{b: s.raw, ok: true}
	switch {
	case !s.legacy:
		values = d.modernMark(len(t.Clustering))
	case hasBareMarks(t):
		values = [][]byte{s.raw}
	default:
		values = d.legacyMark(len(t.Clustering))
	}
	if !d.ok || checkClustering(values) != nil {
		return nil, errForeignState()
	}
	for i, c := range t.Clustering {
		if null := values[i] == nil; null && i == 0 || !null && !mayBeStored(c.Type, values[i]) {
			return nil, errForeignState()
		}
	}
	return values, nil
}

// hasBareMarks reports whether the marks of v3 in a table are a value alone.
func hasBareMarks(t *schema.Table) bool {
	return t.Compact != schema.NotCompact && len(t.Clustering) == 1
}

// mayBeStored reports whether a clustering column can have that value. Empty values and tuples of any bytes are stored
// though they are not valid.
func mayBeStored(t types.Type, b []byte) bool {
	_, tuple := t.(*types.Tuple)
	return tuple || len(b) == 0 || types.ValidateBound(t, b) == nil
}

// decoder takes a paging state apart; ok stays false after the first thing that does not fit.
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

// modernMark takes the values of a row's clustering columns; those that are null are nil.
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
	if n > noLimit {
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
