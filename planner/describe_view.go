package planner

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// view is one materialized view.
func (d *Describe) view(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	return nil, cqlerr.Invalidf("Materialized view '%s' not found in '%s'", d.Name, k.Name)
}
