package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) createView(at grammar.ICreateStatementContext) *cql.CreateView {
	c := at.GetView()
	s := &cql.CreateView{
		Span:        span(at),
		IfNotExists: c.GetNotExists() != nil,
		View:        b.table(c.GetView()),
		Selectors:   b.selectors(c.GetItems().GetItems()),
		Table:       b.table(c.GetTable()),
	}
	if where := c.GetWhere(); where != nil {
		s.Where, s.Custom = b.where(where)
	}
	s.Key = cql.PrimaryKey{Partition: names(b, c.GetKey().GetColumns()), Clustering: names(b, c.GetClustering())}
	compact := false
	s.Order, s.Properties, compact = b.tableOptions(c.GetSettings())
	if compact {
		b.fail("COMPACT STORAGE tables are not allowed starting with version 4.0")
	}
	return s
}
