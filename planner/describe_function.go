package planner

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// function is every user function of one name; native ones are not looked at.
func (d *Describe) function(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	return nil, cqlerr.Invalidf("User defined function '%s' not found in '%s'", d.Name, k.Name)
}

// aggregate is every user aggregate of one name.
func (d *Describe) aggregate(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	return nil, cqlerr.Invalidf("User defined aggregate '%s' not found in '%s'", d.Name, k.Name)
}
