package scope

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
)

// Scope is what the names in one statement are resolved against.
type Scope struct {
	Catalog *schema.Catalog
	InUse   string // the keyspace of unqualified names: the session's or the request's; "" if none

	Uses
}

// New begins the work on a statement.
func New(c *schema.Catalog, inUse string) *Scope {
	return &Scope{Catalog: c, InUse: inUse, Uses: Uses{Qualified: true}}
}

// Keyspace is the keyspace of a name: its own, else the one in use.
func (s *Scope) Keyspace(name cql.QualifiedName) (string, error) {
	if name.Keyspace != "" {
		return name.Keyspace, nil
	}
	s.Qualified = false
	if s.InUse == "" {
		return "", cqlerr.Invalidf("No keyspace has been specified. USE a keyspace, or explicitly specify " +
			"keyspace.tablename")
	}
	return s.InUse, nil
}

// Table resolves the table of a statement that reads or writes rows.
func (s *Scope) Table(name cql.QualifiedName) (*schema.Table, error) {
	keyspace, err := s.Keyspace(name)
	if err != nil {
		return nil, err
	}
	if s.Catalog.Keyspace(keyspace) == nil {
		return nil, cqlerr.Invalidf("keyspace %s does not exist", keyspace)
	}
	t := s.Catalog.Table(keyspace, name.Name)
	if t == nil {
		return nil, cqlerr.Invalidf("table %s does not exist", name.Name)
	}
	s.useTable(t)
	return t, nil
}

// Column resolves a column of a table.
func Column(t *schema.Table, c cql.ColumnRef) (*schema.Column, error) {
	if found := t.Visible(c.Name); found != nil {
		return found, nil
	}
	return nil, UndefinedColumn(t, c.Name)
}

// UndefinedColumn refuses a column that a table does not have, or does not show.
func UndefinedColumn(t *schema.Table, name string) error {
	return cqlerr.Invalidf("Undefined column name %s in table %s", quote.Name(name), QuotedTable(t))
}

// QuotedTable is a table's name with that of its keyspace, as it is written in statements.
func QuotedTable(t *schema.Table) string { return quote.Name(t.Keyspace) + "." + quote.Name(t.Name) }
