package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// WrittenRow is the combined content of mutations for one row. Parts of one that another hides do not count.
type WrittenRow struct {
	Static      bool
	Expires     bool // its marker has a TTL
	Cells       int  // elements and fields among them
	Counters    int  // cells with a counter's value
	Collections int  // columns of elements or fields
	Bytes       int  // of the clustering, the names of elements and fields, and values other than counters'
}

// WrittenRows calls fn for each row that mutations write to, in the order of their keys. It leaves out rows without
// cells and marker.
func WrittenRows(ms []*Mutation, fn func(WrittenRow)) error {
	type written struct {
		table      *schema.Table
		key, value []byte
	}
	n := 0
	for _, m := range ms {
		m.endRow()
		n += len(m.spans)
	}
	all := make([]written, 0, n)
	for _, m := range ms {
		for _, s := range m.spans {
			if key := m.buf[s.key:s.value]; !rows.IsTombstoneKey(key) {
				all = append(all, written{m.table, key, m.buf[s.value:s.end]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b written) int { return bytes.Compare(a.key, b.key) })
	for i, w := range all {
		if i+1 < len(all) && bytes.Equal(w.key, all[i+1].key) {
			folded, err := rows.FoldRows(w.value, all[i+1].value)
			if err != nil {
				return err
			}
			all[i+1].value = folded
			continue
		}
		row, err := writtenRow(w.table, w.key, w.value)
		if err != nil {
			return err
		}
		fn(row)
	}
	return nil
}

// writtenRow measures a row's key and value.
func writtenRow(t *schema.Table, key, value []byte) (w WrittenRow, err error) {
	at := rows.PartitionPrefixLength(key)
	if at < 0 || at >= len(key) {
		return w, rows.ErrKey
	}
	w.Static = key[at] == rows.KindStatic
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return w, err
	}
	w.Expires = r.Marker.Expiry.TTL > 0
	if !w.Static {
		if w.Bytes, err = clusteringSize(t, key[at+1:], r.Clustering); err != nil {
			return w, err
		}
	}
	collection := uint32(0) // the last one that was counted; no column has the number 0
	for r.ReadCell() {
		i := slices.IndexFunc(t.Columns, func(c *schema.Column) bool { return c.ID == r.Cell.Column })
		if i < 0 {
			continue
		}
		c := t.Columns[i]
		if types.IsMultiCell(c.Type) {
			if collection != c.ID {
				collection = c.ID
				w.Collections++
			}
			if r.Cell.Path == nil {
				continue
			}
			n, err := elementBytes(c.Type, &r.Cell)
			if err != nil {
				return w, err
			}
			w.Cells++
			w.Bytes += n
			continue
		}
		w.Cells++
		if r.Cell.Counter && !r.Cell.Deleted {
			w.Counters++
		} else {
			w.Bytes += len(r.Cell.Value)
		}
	}
	return w, r.Err
}

// clusteringSize is the number of bytes of clustering values. kept has the values that the key does not preserve.
func clusteringSize(t *schema.Table, key, kept []byte) (size int, err error) {
	for _, c := range t.Clustering {
		if len(key) == 0 {
			break
		}
		var value []byte
		if value, key, err = c.Type.DecodeKey(nil, key, c.Desc); err != nil {
			return 0, err
		}
		if !c.Type.LossyKey() {
			size += len(value)
			continue
		}
		n, used := binary.Uvarint(kept)
		if used <= 0 || n > uint64(len(kept)-used) {
			return 0, rows.ErrRow
		}
		kept = kept[used+int(n):]
		size += int(n)
	}
	return size, nil
}

// elementBytes is the number of bytes of an element's name and value.
func elementBytes(t types.Type, c *rows.Cell) (int, error) {
	if rows.KeepsName(t) && !c.Deleted {
		_, used := binary.Uvarint(c.Value)
		return len(c.Value) - used, nil // name and value
	}
	var named types.Type
	switch t := t.(type) {
	case *types.Set:
		named = t.Elem
	case *types.Map:
		named = t.Key
	default:
		return len(c.Path) + len(c.Value), nil
	}
	name, _, err := named.DecodeKey(nil, c.Path, false)
	return len(name) + len(c.Value), err
}
