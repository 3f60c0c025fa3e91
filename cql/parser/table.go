package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) createTable(c grammar.ICreateStatementContext) *cql.CreateTable {
	s := &cql.CreateTable{Span: span(c), IfNotExists: c.GetNotExists() != nil, Table: b.table(c.GetTable())}
	for _, item := range c.GetItems() {
		if item.GetKey() != nil {
			s.PrimaryKeys = append(s.PrimaryKeys, cql.PrimaryKey{
				Partition:  names(b, item.GetKey().GetColumns()),
				Clustering: names(b, item.GetClustering()),
			})
		} else {
			s.Columns = append(s.Columns, b.columnDefinition(item))
		}
	}
	s.Order, s.Properties, s.CompactStorage = b.tableOptions(c.GetSettings())
	return s
}

// tableOptions builds the WITH clause of a table or a view.
func (b *builder) tableOptions(contexts []grammar.ITableOptionContext) (
	order []cql.ClusteringOrder, properties []cql.Property, compact bool,
) {
	var set []grammar.IPropertyContext
	for _, c := range contexts {
		switch {
		case c.GetOption() != nil:
			set = append(set, c.GetOption())
		case c.GetCompact() != nil:
			compact = true
		}
		for _, item := range c.GetOrder() {
			order = append(order, cql.ClusteringOrder{
				Column: b.name(item.GetColumn()),
				Desc:   isToken(item.GetDirection(), grammar.CqlLexerK_DESC),
			})
		}
	}
	return order, b.properties(set), compact
}

func (b *builder) columnDefinition(c grammar.ITableItemContext) cql.ColumnDefinition {
	return cql.ColumnDefinition{
		Span:       span(c),
		Name:       b.name(c.GetName()),
		Type:       b.typeName(c.GetKind()),
		Static:     c.GetStatic() != nil,
		PrimaryKey: c.GetPrimary() != nil,
		Mask:       b.mask(c.GetMask()),
	}
}

// mask builds MASKED WITH, which may be missing.
func (b *builder) mask(c grammar.IColumnMaskContext) *cql.Mask {
	switch {
	case c == nil:
		return nil
	case c.GetUnmasked() != nil:
		return &cql.Mask{Default: true}
	default:
		return &cql.Mask{Call: &cql.Call{
			Span:     between(c.GetFunction().GetStart(), c),
			Function: b.function(c.GetFunction()),
			Args:     b.each(c.GetArgs()),
		}}
	}
}
