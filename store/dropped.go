package store

import (
	"math"

	"github.com/cqld/cqld/cql/schema"
)

// droppedTimes has for each column the timestamp up to which its cells are lost, because there was such a column that was
// dropped; nil if nothing is lost of any. last is the latest of them.
func droppedTimes(t *schema.Table) (times []int64, last int64) {
	last = math.MinInt64
	for _, c := range t.Columns {
		upTo, some := t.Lost(c.ID)
		if !some {
			continue
		}
		if times == nil {
			times = make([]int64, len(t.Columns))
			for i := range times {
				times[i] = math.MinInt64
			}
		}
		times[c.Index], last = upTo, max(last, upTo)
	}
	return times, last
}

// index is the place of the column that a cell of that time is of, or -1 if it is of none.
func (r *reader) index(id uint32, ts int64) int {
	if int(id) >= len(r.columns) {
		return -1
	}
	i := int(r.columns[id])
	if r.dropped != nil && i >= 0 && ts <= r.dropped[i] {
		return -1
	}
	return i
}

// noteChanges has tables swept soon of which a definition lets more be purged: columns are dropped, or tombstones are kept
// for another time.
func (s *Store) noteChanges(old, next *schema.Catalog) {
	for _, k := range next.Keyspaces() {
		before := old.Keyspace(k.Name)
		if before == nil || before == k {
			continue
		}
		for name, t := range k.Tables {
			was := before.Tables[name]
			if was == nil || was == t || was.StoreID != t.StoreID {
				continue
			}
			if t.Loses() || was.Options.GCGraceSeconds != t.Options.GCGraceSeconds {
				s.usages.of(uint32(t.StoreID)).dueAt(s.now().Unix())
			}
		}
	}
}
