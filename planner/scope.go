package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// keyspaceName is the keyspace of a name: its own, else the one in use.
func (p *planning) keyspaceName(name cql.QualifiedName) (string, error) {
	if name.Keyspace != "" {
		return name.Keyspace, nil
	}
	p.out.Qualified = false
	if p.env.Keyspace == "" {
		return "", cqlerr.Invalidf("No keyspace has been specified. USE a keyspace, or explicitly specify " +
			"keyspace.tablename")
	}
	return p.env.Keyspace, nil
}

// table resolves the table of a statement that reads or writes rows.
func (p *planning) table(name cql.QualifiedName) (*schema.Table, error) {
	keyspace, err := p.keyspaceName(name)
	if err != nil {
		return nil, err
	}
	if p.env.Catalog.Keyspace(keyspace) == nil {
		return nil, cqlerr.Invalidf("keyspace %s does not exist", keyspace)
	}
	t := p.env.Catalog.Table(keyspace, name.Name)
	if t == nil {
		return nil, cqlerr.Invalidf("table %s does not exist", name.Name)
	}
	p.uses(t)
	return t, nil
}

// column resolves a column of a table.
func column(t *schema.Table, c cql.ColumnRef) (*schema.Column, error) {
	if found := t.Visible(c.Name); found != nil {
		return found, nil
	}
	return nil, undefined(t, c.Name)
}

// undefined is for a column that a table does not have, or does not show.
func undefined(t *schema.Table, name string) error {
	return cqlerr.Invalidf("Undefined column name %s in table %s", cql.Quote(name), quotedTable(t))
}
