package define

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
)

// view is one materialized view.
func (d *Describe) view(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	v := k.Views[d.Name]
	if v == nil {
		return nil, cqlerr.Invalidf("Materialized view '%s' not found in '%s'", d.Name, k.Name)
	}
	return [][][]byte{d.viewRow(v)}, nil
}

func (d *Describe) viewRow(v *schema.Table) [][]byte {
	return textRow(quote.Name(v.Keyspace), "materialized_view", quote.Name(v.Name), v.CQL(d.Internals))
}
