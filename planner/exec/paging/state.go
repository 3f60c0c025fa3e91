package paging

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/restriction"
)

// NoLimit is Cassandra's number for no limit. Paging states count down from it.
const NoLimit = math.MaxInt32

// State is the end of a page. Cassandra has the same bytes, so a client may take it from one server to another:
//
//	v3      <partition [short bytes]> <mark [short bytes]> <remaining [int]> <in partition [int]>
//	v4, v5  the same with unsigned vints for lengths and numbers
//
// The mark names the last row. In v3 it is the name of the row's last cell: each clustering value, then the column
// (empty for a row without cells), as [short bytes] and a zero byte. It ends before the first null. In a table WITH
// COMPACT STORAGE and one clustering column it is bare: the value alone. Since v4 it has the clustering values: a vint
// with two bits for each value that is empty (1) or null (2), then each other value with a vint length before it.
type State struct {
	Partition   []byte   // nil: the statement names one partition only
	Mark        [][]byte // the clustering values of the last row, to be encoded; nil: no row is named
	Column      string   // of the row's last cell, for v3
	Bare        bool     // a mark of v3 is a value alone
	Remaining   int      // rows left under the LIMIT
	InPartition int      // rows left under the PER PARTITION LIMIT; 0: the partition is done

	received []byte // the mark as it was received
	legacy   bool   // the mark has v3's form
}

const badState = "Invalid value for the paging state"

// errNotState refuses bytes that are no paging state.
func errNotState() error { return cqlerr.Protocolf(badState) }

// errForeignState refuses a paging state whose key or row cannot be in the table. Cassandra notices this when it reads,
// and fails.
func errForeignState() error { return cqlerr.Invalidf(badState) }

// Encode encodes the state for clients of a protocol version.
func (s *State) Encode(version int) []byte {
	if version <= 3 {
		b := appendShortBytes(nil, s.Partition)
		b = appendShortBytes(b, s.legacyMark())
		b = binary.BigEndian.AppendUint32(b, uint32(s.Remaining))
		return binary.BigEndian.AppendUint32(b, uint32(s.InPartition))
	}
	b := appendVintBytes(nil, s.Partition)
	b = appendVintBytes(b, s.modernMark())
	b = types.AppendVInt(b, uint64(s.Remaining))
	return types.AppendVInt(b, uint64(s.InPartition))
}

func (s *State) legacyMark() []byte {
	if s.Mark == nil {
		return nil
	}
	if s.Bare {
		return s.Mark[0]
	}
	var b []byte
	for _, v := range s.Mark {
		if v == nil {
			return b
		}
		b = append(appendShortBytes(b, v), 0)
	}
	return append(appendShortBytes(b, []byte(s.Column)), 0)
}

// clusteringBlock is the number of clustering values that one vint has two bits for.
const clusteringBlock = 32

func (s *State) modernMark() []byte {
	var b []byte
	for i, v := range s.Mark {
		if i%clusteringBlock == 0 {
			header := uint64(0)
			for j, w := range s.Mark[i:min(i+clusteringBlock, len(s.Mark))] {
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

// Decode decodes a state, which aliases b. It tries the form of the protocol version first, then the other one.
func Decode(b []byte, version int) (*State, error) {
	first, second := decodeModern, decodeLegacy
	if version <= 3 {
		first, second = second, first
	}
	s, ok := first(b)
	if !ok {
		s, ok = second(b)
	}
	if !ok {
		return nil, errNotState()
	}
	return s, nil
}

func decodeModern(b []byte) (*State, bool) {
	s := &State{}
	d := decoder{b: b, ok: true}
	s.Partition, s.received = d.vintBytes(), d.vintBytes()
	s.Remaining, s.InPartition = d.count(d.vint()), d.count(d.vint())
	return s, d.ok && len(d.b) == 0
}

func decodeLegacy(b []byte) (*State, bool) {
	s := &State{legacy: true}
	d := decoder{b: b, ok: true}
	s.Partition, s.received = d.shortBytes(), d.shortBytes()
	s.Remaining, s.InPartition = d.count(uint64(d.int())), NoLimit
	if len(d.b) > 0 {
		s.InPartition = d.count(uint64(d.int()))
	}
	return s, d.ok && len(d.b) == 0
}

// CheckPartition refuses a partition key that the table cannot have. Only views have partitions with an empty key.
func (s *State) CheckPartition(t *schema.Table) error {
	if len(s.Partition) == 0 && t.View != nil {
		return nil
	}
	parts, err := types.SplitCompositeKey(s.Partition, len(t.PartitionKey))
	if err != nil || len(s.Partition) == 0 || len(s.Partition) > restriction.MaxKey {
		return errForeignState()
	}
	for i, c := range t.PartitionKey {
		if !mayBeStored(c.Type, parts[i]) {
			return errForeignState()
		}
	}
	return nil
}

// Clustering returns the clustering values of the row that a received state names; nil: it names no row.
func (s *State) Clustering(t *schema.Table) ([][]byte, error) {
	if len(s.received) == 0 || len(t.Clustering) == 0 {
		return nil, nil
	}
	var values [][]byte
	d := decoder{b: s.received, ok: true}
	switch {
	case !s.legacy:
		values = d.modernMark(len(t.Clustering))
	case HasBareMarks(t):
		values = [][]byte{s.received}
	default:
		values = d.legacyMark(len(t.Clustering))
	}
	if !d.ok || restriction.CheckLength(values) != nil {
		return nil, errForeignState()
	}
	for i, c := range t.Clustering {
		if null := values[i] == nil; null && i == 0 || !null && !mayBeStored(c.Type, values[i]) {
			return nil, errForeignState()
		}
	}
	return values, nil
}

// HasBareMarks reports whether marks of v3 are bare in a table.
func HasBareMarks(t *schema.Table) bool {
	return t.Compact != schema.NotCompact && len(t.Clustering) == 1
}

// mayBeStored reports whether a key column can have a value. Empty values and tuples of any bytes can be stored
// although they are not valid.
func mayBeStored(t types.Type, b []byte) bool {
	_, tuple := t.(*types.Tuple)
	return tuple || len(b) == 0 || types.ValidateBound(t, b) == nil
}

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
