package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// The model is the store as it is told, with no thought of speed: it keeps all that was ever written and works out
// each cell from it when it is read. Nothing of it depends on the order of the writes.
type model []write

// write is one thing that a mutation says of a partition.
type write struct {
	kind      string // mark, set, part, clear, row, range, partition, add, uncount
	partition int32
	static    bool
	row       place
	slice     modelSlice
	column    *schema.Column
	name      []byte // of a part, as SetPart wants it
	value     []byte // nil deletes
	change    int64  // of a counter
	ts        int64
	second    int64 // of a tombstone
	expiry    Expiry
}

// place is a row's clustering values, of which the second is in descending order, or the first of them.
type place []int32

// compare orders rows, and compares a row with a bound: it is equal to all rows that begin with it.
func (p place) compare(bound place) int {
	for i, b := range bound {
		switch {
		case p[i] == b:
		case (p[i] < b) == (i == 0):
			return -1
		default:
			return 1
		}
	}
	return 0
}

// values are those of the clustering columns.
func (p place) values() [][]byte {
	var v [][]byte
	for _, n := range p {
		v = append(v, types.EncodeInt(n))
	}
	return v
}

// modelSlice is a slice of rows; a bound without values is open.
type modelSlice struct {
	start, end     place
	startIn, endIn bool
}

// has reports whether a row is in the slice.
func (s *modelSlice) has(p place) bool {
	from, to := p.compare(s.start), p.compare(s.end)
	return (len(s.start) == 0 || from > 0 || from == 0 && s.startIn) &&
		(len(s.end) == 0 || to < 0 || to == 0 && s.endIn)
}

// stored is the slice as the store wants it.
func (s *modelSlice) stored() Slice {
	return Slice{Start: s.start.values(), End: s.end.values(), StartInclusive: s.startIn, EndInclusive: s.endIn}
}

// isOf reports whether what was written is of this row or static row, or of a part of it.
func (w *write) isOf(partition int32, static bool, row place) bool {
	return w.partition == partition && w.static == static && (static || slices.Equal(w.row, row))
}

// deletion is the timestamp up to which all of a row is deleted.
func (m model) deletion(partition int32, static bool, row place) int64 {
	ts := int64(math.MinInt64)
	for i := range m {
		w := &m[i]
		hides := w.partition == partition && (w.kind == "partition" ||
			!static && (w.kind == "row" && slices.Equal(w.row, row) || w.kind == "range" && w.slice.has(row)))
		if hides {
			ts = max(ts, w.ts)
		}
	}
	return ts
}

// beats is the rule between two writes of the same cell or marker, step by step.
func (w *write) beats(o *write) bool {
	deletes := func(w *write) bool { return w.kind != "mark" && w.value == nil }
	forEver := func(w *write) bool { return !deletes(w) && w.expiry.At == 0 }
	switch {
	case w.ts != o.ts:
		return w.ts > o.ts
	case forEver(w) != forEver(o):
		return forEver(o)
	case deletes(w) != deletes(o):
		return deletes(w)
	case w.expiry.At != o.expiry.At:
		return w.expiry.At > o.expiry.At
	}
	if order := bytes.Compare(w.settling(), o.settling()); order != 0 {
		return order > 0
	}
	return w.expiry.TTL > o.expiry.TTL
}

// settling is the value that decides between two writes that are equal otherwise. One of two spellings of a part's
// name is chosen by it too.
func (w *write) settling() []byte {
	if w.kind == "part" && w.value != nil && rows.KeepsName(w.column.Type) {
		return append(append([]byte{byte(len(w.name))}, w.name...), w.value...)
	}
	return w.value
}

// winner is the write that stays of those that are meant and later than a deletion; nil if there is none, or if it
// has no value at a second.
func (m model) winner(deletion, now int64, meant func(*write) bool) (winner *write) {
	for i := range m {
		w := &m[i]
		if meant(w) && w.ts > deletion && (winner == nil || w.beats(winner)) {
			winner = w
		}
	}
	if winner == nil || winner.kind != "mark" && winner.value == nil || winner.expiry.At != 0 && now >= winner.expiry.At {
		return nil
	}
	return winner
}

// row is one row, or nil if there is none.
func (m model) row(t *schema.Table, partition int32, static bool, place place, now int64) *Row {
	row := &Row{
		Partition: types.EncodeInt(partition), Static: static,
		Values: make([][]byte, len(t.Columns)), Meta: make([]CellMeta, len(t.Columns)),
	}
	deletion := m.deletion(partition, static, place)
	columns := t.Regular
	if static {
		columns = t.Static
	}
	live := false
	for _, c := range columns {
		meant := func(w *write) bool {
			return w.column != nil && w.column.ID == c.ID && w.isOf(partition, static, place)
		}
		deletion := deletion
		if upTo, some := t.Lost(c.ID); some {
			deletion = max(deletion, upTo)
		}
		switch i := c.Index; {
		case c.Type == types.Counter:
			row.Values[i], row.Meta[i] = m.count(deletion, meant)
		case types.IsMultiCell(c.Type):
			row.Values[i], row.Meta[i] = m.parts(c.Type, deletion, now, meant)
		default:
			if w := m.winner(deletion, now, meant); w != nil {
				row.Values[i] = w.value
				row.Meta[i] = CellMeta{Timestamp: w.ts, TTL: w.expiry.TTL, ExpiresAt: w.expiry.At}
			}
		}
		live = live || row.Values[c.Index] != nil
	}
	marked := func(w *write) bool { return w.kind == "mark" && w.isOf(partition, false, place) }
	if !live && (static || m.winner(deletion, now, marked) == nil) {
		return nil
	}
	row.Values[t.PartitionKey[0].Index] = row.Partition
	for i, c := range t.Clustering {
		if !static {
			row.Values[c.Index] = types.EncodeInt(place[i])
		}
	}
	return row
}

// wanted is a read as the model understands it.
type wanted struct {
	table      *schema.Table
	partitions []int32
	slices     []modelSlice // nil: all rows
	reverse    bool
	now        int64
}

// rows are the rows of a read.
func (m model) rows(w *wanted) (rows []*Row) {
	for _, p := range w.partitions {
		static := m.row(w.table, p, true, nil, w.now)
		if static != nil {
			rows = append(rows, static)
		}
		for _, place := range placesOf(w.table, w.reverse) {
			if w.slices != nil && !slices.ContainsFunc(w.slices, func(s modelSlice) bool { return s.has(place) }) {
				continue
			}
			row := m.row(w.table, p, false, place, w.now)
			if row == nil {
				continue
			}
			for _, c := range w.table.Static {
				if static != nil {
					row.Values[c.Index], row.Meta[c.Index] = static.Values[c.Index], static.Meta[c.Index]
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// placesOf are all rows that a partition of a table can have in these tests.
func placesOf(t *schema.Table, reverse bool) (all []place) {
	all = []place{{0, 1}, {0, 0}, {1, 1}, {1, 0}, {2, 1}, {2, 0}}
	if len(t.Clustering) == 0 {
		all = []place{{}}
	}
	if reverse {
		slices.Reverse(all)
	}
	return all
}

// count is a counter: the sum of all changes, unless it has been deleted, or with its row since the last change.
func (m model) count(deletion int64, meant func(*write) bool) ([]byte, CellMeta) {
	sum, ts := int64(0), int64(math.MinInt64)
	for i := range m {
		if w := &m[i]; meant(w) {
			if w.kind == "uncount" {
				return nil, CellMeta{}
			}
			sum, ts = sum+w.change, max(ts, w.ts)
		}
	}
	if ts <= deletion {
		return nil, CellMeta{}
	}
	return types.EncodeBigInt(sum), CellMeta{Timestamp: ts}
}

// parts is the value of a column that is not frozen: each of its parts is like a cell that deletions of all parts
// delete too.
func (m model) parts(t types.Type, deletion, now int64, meant func(*write) bool) ([]byte, CellMeta) {
	var names []write
	for i := range m {
		w := &m[i]
		switch {
		case meant(w) && w.kind == "clear":
			deletion = max(deletion, w.ts)
		case meant(w):
			names = append(names, *w)
		}
	}
	slices.SortFunc(names, func(a, b write) int { return a.compareNames(&b) })
	names = slices.CompactFunc(names, func(a, b write) bool { return a.compareNames(&b) == 0 })
	var winners []*write
	for _, n := range names {
		w := m.winner(deletion, now, func(w *write) bool {
			return meant(w) && w.kind == "part" && w.compareNames(&n) == 0
		})
		if w != nil {
			winners = append(winners, w)
		}
	}
	if winners == nil {
		return nil, CellMeta{}
	}
	return assembled(t, winners)
}

// compareNames orders parts.
func (w *write) compareNames(o *write) int {
	switch t := w.column.Type.(type) {
	case *types.Set:
		return t.Elem.Compare(w.name, o.name)
	case *types.Map:
		return t.Key.Compare(w.name, o.name)
	}
	return bytes.Compare(w.name, o.name)
}

// assembled is a value of parts in their order.
func assembled(t types.Type, parts []*write) (value []byte, meta CellMeta) {
	meta.Timestamp = math.MinInt64
	user, isUser := t.(*types.UserType)
	if !isUser {
		value = binary.BigEndian.AppendUint32(nil, uint32(len(parts)))
	}
	fields := 0
	skip := func(to int) {
		for ; fields < to; fields++ {
			value = types.AppendElement(value, nil)
			meta.Parts = append(meta.Parts, PartMeta{})
		}
	}
	for _, w := range parts {
		name := w.name
		switch t := t.(type) {
		case *types.Set:
			value, name = types.AppendElement(value, w.name), t.Elem.AppendKey(nil, w.name, false)
		case *types.Map:
			value, name = types.AppendElement(value, w.name), t.Key.AppendKey(nil, w.name, false)
			value = types.AppendElement(value, w.value)
		case *types.UserType:
			skip(int(binary.BigEndian.Uint16(w.name)))
			fields++
			value = types.AppendElement(value, w.value)
		default:
			value = types.AppendElement(value, w.value)
		}
		meta.Timestamp = max(meta.Timestamp, w.ts)
		meta.Parts = append(meta.Parts, PartMeta{Name: name, Timestamp: w.ts, TTL: w.expiry.TTL, ExpiresAt: w.expiry.At})
	}
	if isUser {
		skip(len(user.Fields))
	}
	return value, meta
}

// String prints a write for whoever has to find out what went wrong.
func (w write) String() string {
	text := fmt.Sprintf("%s in %d", w.kind, w.partition)
	switch {
	case w.kind == "range":
		text += fmt.Sprintf(" %v", w.slice)
	case w.static:
		text += " static"
	case w.kind != "partition":
		text += fmt.Sprintf(" %v", w.row)
	}
	if w.column != nil {
		text += fmt.Sprintf(" %s#%d[%x]=%q%+d", w.column.Name, w.column.ID, w.name, w.value, w.change)
	}
	text += fmt.Sprintf(" @%d", w.ts)
	if w.expiry.At != 0 {
		text += fmt.Sprintf("+%d/%d", w.expiry.TTL, w.expiry.At)
	}
	return text + fmt.Sprintf(" written %d", w.second)
}
