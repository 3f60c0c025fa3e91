package define

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
)

// index is one index, which Cassandra finds by looking for its table.
func (d *Describe) index(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	t := k.IndexedTable(d.Name)
	if t == nil {
		return nil, cqlerr.Invalidf("Table for existing index '%s' not found in '%s'", d.Name, k.Name)
	}
	return [][][]byte{indexRow(t, t.Index(d.Name))}, nil
}

// tableRows is a table followed by its indexes by name, whatever their case, and by its views.
func (d *Describe) tableRows(k *schema.Keyspace, t *schema.Table) [][][]byte {
	rows := [][][]byte{d.tableRow(t)}
	all := slices.Clone(t.Indexes)
	slices.SortStableFunc(all, func(a, b *schema.Index) int { return compareFolded(a.Name, b.Name) })
	for _, x := range all {
		rows = append(rows, indexRow(t, x))
	}
	for _, v := range k.ViewsOf(t) {
		rows = append(rows, d.viewRow(v))
	}
	return rows
}

func indexRow(t *schema.Table, x *schema.Index) [][]byte {
	return textRow(quote.Name(t.Keyspace), "index", quote.Name(x.Name), x.CQL(t))
}
