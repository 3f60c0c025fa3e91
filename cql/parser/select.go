package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) selectStatement(c grammar.ISelectStatementContext) *cql.Select {
	b.checkStar(c.GetHead())
	head := c.GetHead().GetRest()
	s := &cql.Select{
		Span:      span(c),
		JSON:      c.GetHead().GetJson() != nil,
		Distinct:  head.GetDistinct() != nil,
		Selectors: b.selectors(head.GetItems().GetItems()),
		Table:     b.table(c.GetTable()),
	}
	if where := c.GetWhere(); where != nil {
		s.Where, s.Custom = b.where(where)
	}
	for _, g := range c.GetGroupBy() {
		s.GroupBy = append(s.GroupBy, b.selection(g))
	}
	for _, o := range c.GetOrderBy() {
		s.OrderBy = append(s.OrderBy, b.ordering(o))
	}
	s.PerPartitionLimit = b.limit(c.GetPerPartition())
	s.Limit = b.limit(c.GetLimit())
	s.AllowFiltering = c.GetAllow() != nil
	return s
}

// checkStar refuses SELECT JSON * 2 and SELECT DISTINCT * 2: before a star the words are never columns.
func (b *builder) checkStar(c grammar.ISelectHeadContext) {
	all, first := b.m.tokens.all, c.GetStart().GetTokenIndex()
	switch all[first].GetTokenType() {
	case grammar.CqlLexerK_JSON, grammar.CqlLexerK_DISTINCT:
		if isToken(&all[first+1], grammar.CqlLexerSTAR) && c.GetStop() != antlr.Token(&all[first+1]) {
			b.refuse(&all[first+2], "K_FROM")
		}
	}
}

func (b *builder) ordering(c grammar.IOrderingContext) cql.Ordering {
	o := cql.Ordering{Column: b.column(c.GetColumn())}
	if c.GetAnnOf() != nil {
		o.AnnOf = b.term(c.GetAnnOf())
	}
	o.Desc = isToken(c.GetDirection(), grammar.CqlLexerK_DESC)
	return o
}

// limit builds the value of LIMIT and of the USING options: nil when it is not there, else an integer or
// a marker.
func (b *builder) limit(c grammar.ILimitValueContext) cql.Term {
	switch {
	case c == nil:
		return nil
	case c.GetBind() != nil:
		return b.marker(c.GetBind())
	default:
		return b.literalToken(c.GetNumber(), cql.IntegerLiteral)
	}
}
