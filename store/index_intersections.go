package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
)

// intersection is another index in which the rows of a read must have an entry of one value. The entries of both
// indexes are in the order of the rows, so they are compared as in a merge join: rows without the other entry are not
// read. keys are prefetched entries of the other index.
type intersection struct {
	name  string // of the other index
	entry []byte // prefix of the value's entries
	keys  [][]byte
	batch int  // number of keys to prefetch next
	used  int  // rows compared with the prefetched keys
	ended bool // keys are the last ones
}

// maxIntersectionBatch is the most keys that are prefetched.
const maxIntersectionBatch = 256

// addIntersection notes the entries of a Lookup, if rows can be compared with them one by one. Entries of static
// columns do not name the rows that are read.
func (r *reader) addIntersection(definition *schema.Index, x *index.Index, spans []index.Span) {
	if len(r.read.Lookups) > 1 && x.Column.Kind != schema.Static && !x.Terms.Many && spans[0].One {
		r.lookup.others = append(r.lookup.others, intersection{name: definition.Name, entry: spans[0].Start, batch: 1})
	}
}

// dropIntersection drops the chosen entries, which are read anyway. It drops all if those are of a static column.
func (r *reader) dropIntersection(chosen index.Span) {
	l := &r.lookup
	l.others = slices.DeleteFunc(l.others, func(c intersection) bool {
		return l.index.Column.Kind == schema.Static || chosen.One && bytes.Equal(c.entry, chosen.Start)
	})
}

// intersects reports whether a row may have an entry in all other indexes. row is its key after the number of the
// table. Calls are in the order of the rows.
func (r *reader) intersects(row []byte) (bool, error) {
	for i := range r.lookup.others {
		if has, err := r.lookup.others[i].has(r, row); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// has reports whether the other index has an entry of a row.
func (c *intersection) has(r *reader, row []byte) (bool, error) {
	i := 0
	for i < len(c.keys) && bytes.Compare(c.keys[i], row) < 0 {
		i++
	}
	if c.keys = c.keys[i:]; len(c.keys) == 0 && !c.ended {
		if err := c.prefetch(r, row); err != nil {
			return false, err
		}
	}
	c.used++
	return len(c.keys) > 0 && bytes.Equal(c.keys[0], row), nil
}

// prefetch reads keys from a row on: twice as many as before if more than one row was compared with those, else half.
func (c *intersection) prefetch(r *reader, row []byte) error {
	if c.used > 1 {
		c.batch = min(2*c.batch, maxIntersectionBatch)
	} else {
		c.batch = max(1, c.batch/2)
	}
	c.used = 0
	r.read.Indexed.use(c.name)
	end := index.NewSpan(c.entry, true).End
	take := func(key, _ []byte) (bool, error) {
		r.read.Indexed.entry()
		c.keys = append(c.keys, bytes.Clone(key[len(c.entry):]))
		return len(c.keys) < c.batch, nil
	}
	err := r.src.Scan(slices.Concat(c.entry, row), end, engine.ScanOptions{KeysOnly: true}, take)
	c.ended = len(c.keys) < c.batch
	return err
}
