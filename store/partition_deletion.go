package store

import (
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// DeletePartition deletes everything in the partition that was written at ts or before.
func (m *Mutation) DeletePartition(ts int64) {
	m.endRow()
	m.deletion(nil, ts)
}

// DeleteRange deletes the rows of a slice that were written at ts or before.
func (m *Mutation) DeleteRange(s Slice, ts int64) {
	m.endRow()
	start := rows.AppendStart(nil, m.table, s.Start, s.StartInclusive)
	end := rows.AppendEnd(nil, m.table, s.End, s.EndInclusive)
	if string(start) < string(end) {
		m.deletion(append(rows.AppendEscaped(nil, start), end...), ts)
	}
}

// deletion writes a tombstone of the partition, or of a range if there are bounds.
func (m *Mutation) deletion(bounds []byte, ts int64) {
	m.dies(m.second)
	s := span{key: len(m.buf)}
	m.buf = append(append(m.buf, m.prefix...), bounds...)
	rows.SetArea(m.buf[s.key:], uint32(m.table.StoreID), rows.AreaTombstones)
	s.value = len(m.buf)
	m.buf = rows.Tombstone{Timestamp: ts, Second: m.second}.Append(m.buf)
	s.end = len(m.buf)
	m.spans = append(m.spans, s)
}

// DeleteRow deletes the row as it was at ts.
func (m *Mutation) DeleteRow(ts int64) {
	m.dies(m.second)
	m.head.Deletion = m.head.Deletion.Later(rows.Tombstone{Timestamp: ts, Second: m.second})
}

// deletes reports which kinds of tombstones of its partition the mutation has.
func (m *Mutation) deletes() (kinds [tombstones.Kinds]bool) {
	m.endRow()
	for _, s := range m.spans {
		if key := m.buf[s.key:s.value]; rows.IsTombstoneKey(key) {
			kinds[tombstones.KindOf(key, len(m.prefix))] = true
		}
	}
	return kinds
}
