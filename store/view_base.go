package store

import (
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// maxBaseReads is the most partitions of the base that are read one by one.
const maxBaseReads = 1000

// baseReads returns reads of the base that give all rows which r may want of the view. They read single partitions,
// or slices of them, if the read and the view's WHERE clause determine these, else the whole base.
func baseReads(r *Read, view, base *schema.Table) []*Read {
	if r.Keys != nil && (r.Ranges != nil || len(r.Keys)*max(1, len(r.Slices)) > maxBaseReads) {
		return []*Read{{Table: base, Now: r.Now, Turn: r.Turn}}
	}
	known := knownRows(r, view)
	key := slices.Concat(base.PartitionKey, base.Clustering)
	n := 0
	for ; n < len(key) && len(known) > 0; n++ {
		if _, ok := known[0][key[n].Name]; ok {
			continue
		}
		values := listedValues(view, key[n])
		if values == nil || len(known)*len(values) > maxBaseReads {
			break
		}
		known = multiply(known, key[n].Name, values)
	}
	inKey := len(base.PartitionKey)
	if len(known) > maxBaseReads || len(known) > 0 && n < inKey {
		return []*Read{{Table: base, Now: r.Now, Turn: r.Turn}}
	}
	reads := make([]*Read, 0, len(known))
	seen := map[string]bool{}
	for _, row := range known {
		values := make([][]byte, n)
		for i, c := range key[:n] {
			values[i] = row[c.Name]
		}
		partition := joinKey(nil, values[:inKey])
		name := string(rows.AppendClustering(rows.AppendEscaped(nil, partition), base, values[inKey:]))
		if !seen[name] {
			seen[name] = true
			slice := Slice{Start: values[inKey:], End: values[inKey:], StartInclusive: true, EndInclusive: true}
			reads = append(reads, &Read{
				Table: base, Now: r.Now, Turn: r.Turn, Keys: [][]byte{partition}, Slices: []Slice{slice},
			})
		}
	}
	return reads
}

// knownRows returns the values that the read determines for the rows it wants, by column name. It determines the
// view's partition key, and the first clustering columns as far as each slice has one value of them.
func knownRows(r *Read, view *schema.Table) []map[string][]byte {
	if r.Keys == nil {
		return []map[string][]byte{{}}
	}
	ranges := r.Slices
	if ranges == nil {
		ranges = []Slice{{}}
	}
	fixed := len(view.Clustering)
	for i := range ranges {
		fixed = min(fixed, ranges[i].fixed(view))
	}
	var rows []map[string][]byte
	for _, key := range r.Keys {
		values, err := types.SplitCompositeKey(key, len(view.PartitionKey))
		if err != nil {
			continue // no row has such a key
		}
		for i := range ranges {
			row := map[string][]byte{}
			for j, c := range view.PartitionKey {
				row[c.Name] = values[j]
			}
			for j, c := range view.Clustering[:fixed] {
				row[c.Name] = ranges[i].Start[j]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// fixed counts the clustering columns with one value in a slice. Values that can be spelled in several ways do not
// count: the row may have another spelling.
func (s *Slice) fixed(t *schema.Table) int {
	n := 0
	for n < min(len(s.Start), len(s.End)) && string(s.Start[n]) == string(s.End[n]) && !t.Clustering[n].Type.LossyKey() {
		n++
	}
	return n
}

// listedValues returns the values that the view's WHERE clause lists for a column of the base.
func listedValues(view *schema.Table, c *schema.Column) [][]byte {
	for i := range view.View.Where {
		w := &view.View.Where[i]
		if w.Test == schema.OneOf && len(w.Columns) == 1 && w.Columns[0] == c.Name && !c.Type.LossyKey() {
			values := make([][]byte, len(w.Values))
			for i, point := range w.Values {
				values[i] = point[0]
			}
			return values
		}
	}
	return nil
}

// multiply combines known rows with each value of a column.
func multiply(known []map[string][]byte, column string, values [][]byte) []map[string][]byte {
	rows := make([]map[string][]byte, 0, len(known)*len(values))
	for _, row := range known {
		for _, v := range values {
			row = maps.Clone(row)
			row[column] = v
			rows = append(rows, row)
		}
	}
	return rows
}

// joinKey appends a serialized partition key, given the values of its columns.
func joinKey(dst []byte, values [][]byte) []byte {
	if len(values) == 1 {
		return append(dst, values[0]...)
	}
	for _, v := range values {
		dst = types.AppendCompositeKey(dst, v)
	}
	return dst
}
