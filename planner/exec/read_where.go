package exec

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/filter"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// source is the WHERE clause of a reading with its values, as the store reads it.
//
//	a row, a slice    read.Keys has one key, read.Slices (or read.Ranges) the rows
//	partitions        read.Keys has keys, partitions.rest the keys after them
//	a scan            read.Tokens
//	an index          read.Lookups
//	nearest vectors   read.Nearest
type source struct {
	read       store.Read
	partitions partitions
	slices     []store.Slice

	empty       bool // no row can be selected
	pagedAnyway bool // empty, but Cassandra reads pages all the same

	position store.Position // read.After points to it
	skipped  int            // rows of a partition since its limit was reached
	again    bool           // the store has to read once more, after position
}

// partitions are the partitions that a read names by their keys.
type partitions struct {
	keys [][]byte             // to be read next
	rest *restriction.KeyWalk // the keys after these; nil: there are none
}

// many reports whether there is more than one partition.
func (p *partitions) many() bool { return len(p.keys) > 1 || p.rest != nil }

// next fills keys from rest, and reports whether there are any.
func (p *partitions) next() (more bool, err error) {
	p.keys, err = p.rest.Fill(p.keys[:0], restriction.MaxListed)
	return len(p.keys) > 0, err
}

// seek returns the keys from one key on; none: it is not one of the keys.
func (p *partitions) seek(key []byte) ([][]byte, error) {
	if p.rest != nil {
		if !p.rest.Seek(key) {
			return nil, nil
		}
		if _, err := p.next(); err != nil {
			return nil, err
		}
	}
	i := slices.IndexFunc(p.keys, func(k []byte) bool { return bytes.Equal(k, key) })
	if i < 0 || i > 0 && p.rest != nil {
		return nil, nil
	}
	return p.keys[i:], nil
}

// after is the key that follows another one; nil: there is none.
func (p *partitions) after(key []byte) ([]byte, error) {
	for i, k := range p.keys {
		if bytes.Equal(k, key) && i+1 < len(p.keys) {
			return p.keys[i+1], nil
		}
	}
	if p.rest != nil {
		return p.rest.Peek()
	}
	return nil, nil
}

// readsOnePartition reports whether the read names one partition.
func (r *reading) readsOnePartition() bool {
	return r.partitions.rest == nil && len(r.partitions.keys) == 1
}

// restrict evaluates the WHERE clause in Cassandra's order: filters, the values of keys, and the clusterings. It checks
// keys and tokens only if there can be something to read.
func (r *reading) restrict() error {
	w := r.plan.Where
	if err := r.guardIndex(); err != nil {
		return err
	}
	if err := r.restrictRows(w.Filters); err != nil {
		return err
	}
	if w.Partition != nil {
		if err := r.restrictPartitions(w); err != nil {
			return err
		}
	}
	if !r.empty && (len(w.Clustering) > 0 || w.Slice != nil) {
		if err := r.restrictClustering(w); err != nil {
			return err
		}
	}
	switch {
	case r.empty:
		if r.pagedAnyway && w.Token != nil {
			tokens, err := restriction.TokenRange(&r.x, w.Token)
			r.pagedAnyway = err != nil || !restriction.Contradict(w.Token, tokens)
		}
		return nil
	case w.Partition != nil:
		if err := r.checkKeys(); err != nil {
			return err
		}
	case w.Token != nil:
		tokens, err := restriction.TokenRange(&r.x, w.Token)
		if err != nil {
			return err
		}
		r.read.Tokens, r.empty = restriction.ScannedTokens(tokens)
		r.pagedAnyway = r.pagedAnyway || r.empty && !restriction.Contradict(w.Token, tokens)
	}
	r.empty = r.empty || r.read.Ranges == nil && r.read.Slices != nil && len(r.read.Slices) == 0
	return nil
}

// restrictRows evaluates the filters, and finds which of them indexes answer.
func (r *reading) restrictRows(filters []*where.Filter) (err error) {
	if len(filters) == 0 {
		return nil
	}
	if r.filters, err = filter.Conditions(&r.x, filters); err != nil {
		return err
	}
	for _, f := range filters {
		l, ok, err := filter.Lookup(&r.x, f)
		if err != nil {
			return err
		}
		if ok {
			r.read.Lookups = append(r.read.Lookups, l)
		}
	}
	return nil
}

// restrictPartitions evaluates the keys of the partitions.
func (r *reading) restrictPartitions(w *where.Clause) (err error) {
	if err := guardProduct(r.guard, &r.x, w.Partition, partitionKey); err != nil {
		return err
	}
	p := &r.partitions
	if p.keys, p.rest, err = restriction.AppendKeys(p.keys, &r.x, w, restriction.MaxListed); err != nil {
		return err
	}
	r.read.Keys, r.empty = p.keys, len(p.keys) == 0
	if r.guard == nil || !namesByIn(w.Partition) {
		return nil
	}
	n := len(p.keys)
	if p.rest != nil {
		n += p.rest.Len()
	}
	return r.guard.PartitionKeys(r.plan.Table.Name, n)
}

// checkKeys refuses keys that Cassandra does not accept.
func (r *reading) checkKeys() error {
	if err := restriction.CheckKeys(r.partitions.keys); err != nil || r.partitions.rest == nil {
		return err
	}
	return r.partitions.rest.Check()
}

// restrictClustering evaluates the restrictions of clustering columns. A range that ends with null selects nothing, but
// keys are checked as if it did. The same holds for a read of static columns if an IN of whole rows is empty.
func (r *reading) restrictClustering(w *where.Clause) error {
	wholeRows := namesRows(w, r.plan.Table)
	if wholeRows {
		if err := guardProduct(r.guard, &r.x, w.Clustering, clusteringKey); err != nil {
			return err
		}
	}
	slices, many, null, err := restriction.AppendSlices(r.slices, &r.x, w, restriction.MaxListed)
	if err != nil {
		return err
	}
	mixed := w.Slice != nil && w.Slice.MixedOrder()
	if many == nil && mixed {
		exact, tooMany, err := restriction.AppendMixedSlices(nil, &r.x, w, 1)
		if err == nil && !tooMany && len(exact) == 0 {
			slices = slices[:0] // the bounds exclude each other
		}
	}
	if many != nil {
		r.read.Ranges = many
	} else if slices == nil {
		slices = []store.Slice{} // no rows: nil would be all of them
	}
	r.slices, r.read.Slices = slices, slices
	if many == nil && len(slices) == 0 && !null {
		statics := len(r.plan.Table.Static) > 0 && (r.plan.Asked == nil || r.plan.Statics)
		r.empty = !(statics && wholeRows)
		r.pagedAnyway = !r.empty || w.Partition == nil && r.plan.SelectsStatics && !wholeRows
	}
	if !mixed {
		return nil
	}
	inside, err := filter.InRange(&r.x, w.Slice)
	r.filters = append(r.filters, inside)
	return err
}

// namesRows reports whether a WHERE clause has values for all clustering columns.
func namesRows(w *where.Clause, t *schema.Table) bool {
	n := 0
	for _, c := range w.Clustering {
		n += len(c.Columns)
	}
	return w.Slice == nil && n == len(t.Clustering)
}

// guardIndex guards reads by an index in all partitions.
func (r *reading) guardIndex() error {
	p := r.plan
	if r.guard == nil || !p.Indexed || p.Where.Partition != nil || schema.IsLocal(p.Table.Keyspace) {
		return nil
	}
	return r.guard.IndexWithoutPartition()
}

// guardSource guards the restrictions of a read, and the size of its pages.
func (r *reading) guardSource(req *Request) error {
	p := r.plan
	if p.Intersects && req.Guard != nil && !r.empty {
		if err := r.guardIntersection(req); err != nil {
			return err
		}
	}
	if r.guard == nil || !r.page.pages(p) || r.empty && !r.pagedAnyway && !p.Summarizes() {
		return nil
	}
	return r.guard.PageSize(p.Table.Name, req.PageSize)
}

// guardIntersection guards reads that compare rows with several values outside of their keys, where replicas have to
// agree: there would have to be several.
func (r *reading) guardIntersection(req *Request) error {
	switch req.Consistency {
	case cqlerr.One, cqlerr.LocalOne:
		return nil
	}
	t := r.plan.Table
	if k := r.e.store.Catalog().Keyspace(t.Keyspace); t.Virtual || k == nil || k.Replicas() < 2 {
		return nil
	}
	return req.Guard.Intersection()
}
