package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/index"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
)

// crossing is another index that the rows of a read must have an entry of one value in. Both indexes have their entries
// in the order of the rows, so the entries are compared as a merge does, and rows that are in one of them only are not
// read. keys has the next ones of the other index.
type crossing struct {
	name   string // of the other index
	entry  []byte // what the entries of the value begin with
	keys   [][]byte
	batch  int  // how many keys are read next
	used   int  // rows that were compared since keys were read
	ended  bool // there are no keys behind those that were read
	tested int
	passed int
	idle   bool // too many rows pass
}

// Where more than three of four rows have an entry in the other index, after so many, reading the rows costs less.
const enoughTested = 64

// maxCrossingBatch is the most keys that are read at a time.
const maxCrossingBatch = 256

// mayCross notes where the entries of a Lookup are, if rows can be compared with them one by one. Entries of static
// columns do not name the rows that are read.
func (r *reader) mayCross(definition *schema.Index, x *index.Index, spans []index.Span) {
	if len(r.read.Lookups) == 1 || x.Column.Kind == schema.Static || x.Terms.Many {
		return
	}
	if spans[0].One {
		r.lookup.others = append(r.lookup.others, crossing{name: definition.Name, entry: spans[0].Start, batch: 1})
	}
}

// dropCrossing takes away the entries that are read anyway, and all if the read is by entries of a static column.
func (r *reader) dropCrossing(chosen index.Span) {
	l := &r.lookup
	if l.index.Column.Kind == schema.Static {
		l.others = l.others[:0]
		return
	}
	l.others = slices.DeleteFunc(l.others, func(c crossing) bool {
		return chosen.One && bytes.Equal(c.entry, chosen.Start)
	})
}

// crosses reports whether a row, given its key behind the number of the table, may have an entry in all other indexes.
// It is called with rows in their order.
func (r *reader) crosses(row []byte) (bool, error) {
	for i := range r.lookup.others {
		c := &r.lookup.others[i]
		if c.idle {
			continue
		}
		has, err := c.has(r, row)
		if err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// has reports whether the other index has an entry of a row.
func (c *crossing) has(r *reader, row []byte) (bool, error) {
	i := 0
	for i < len(c.keys) && bytes.Compare(c.keys[i], row) < 0 {
		i++
	}
	if c.keys = c.keys[i:]; len(c.keys) == 0 && !c.ended {
		if err := c.load(r, row); err != nil {
			return false, err
		}
	}
	has := len(c.keys) > 0 && bytes.Equal(c.keys[0], row)
	c.tested++
	c.used++
	if has {
		c.passed++
	}
	c.idle = c.tested >= enoughTested && c.passed > c.tested*3/4
	return has, nil
}

// load reads the next keys from a row on: more of them while several rows are compared with those of each time, else
// fewer.
func (c *crossing) load(r *reader, row []byte) error {
	if c.used > 1 {
		c.batch = min(2*c.batch, maxCrossingBatch)
	} else {
		c.batch = max(1, c.batch/2)
	}
	c.used = 0
	take := func(key, _ []byte) (bool, error) {
		r.read.Indexed.entry()
		c.keys = append(c.keys, bytes.Clone(key[len(c.entry):]))
		return len(c.keys) < c.batch, nil
	}
	r.read.Indexed.use(c.name)
	end := index.NewSpan(c.entry, true).End
	err := r.src.Scan(slices.Concat(c.entry, row), end, engine.ScanOptions{KeysOnly: true}, take)
	c.ended = len(c.keys) < c.batch
	return err
}
