package planner

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// index is one index, which Cassandra finds by looking for its table.
func (d *Describe) index(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	return nil, cqlerr.Invalidf("Table for existing index '%s' not found in '%s'", d.Name, k.Name)
}
