package define

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// findTable returns a table, or a view, or an error if there is none.
func findTable(c *schema.Catalog, keyspace, name string) (*schema.Table, error) {
	if c.Keyspace(keyspace) == nil {
		return nil, keyspaceMissing(keyspace)
	}
	if t := c.Table(keyspace, name); t != nil {
		return t, nil
	}
	return nil, cqlerr.Invalidf("Table '%s' doesn't exist", name)
}

// keyspaceMissing refuses a statement about a keyspace that does not exist.
func keyspaceMissing(name string) error { return cqlerr.Invalidf("Keyspace '%s' doesn't exist", name) }

// functionsMissing refuses a statement whose permissions depend on the functions of a keyspace that does not exist.
func functionsMissing(keyspace string) error {
	return cqlerr.Configf("Keyspace %s doesn't exist", keyspace)
}

// tableMissing refuses to change a table that does not exist.
func tableMissing(keyspace, name string) error {
	return cqlerr.Invalidf("Table '%s.%s' doesn't exist", keyspace, name)
}
