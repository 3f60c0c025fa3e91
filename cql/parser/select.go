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

// checkStar refuses SELECT JSON * 2 and SELECT DISTINCT * 2: before a star these words are never columns.
func (b *builder) checkStar(c grammar.ISelectHeadContext) {
	all, first := b.m.tokens.All, c.GetStart().GetTokenIndex()
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

// limit builds the value of LIMIT and of the USING options: nil when it is missing, else an integer or a marker.
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

// where builds the relations and the custom expressions of a WHERE clause.
func (b *builder) where(c grammar.IWhereClauseContext) (relations []cql.Relation, custom []cql.CustomExpression) {
	for _, r := range c.GetRelations() {
		if r.GetCustom() != nil {
			custom = append(custom, cql.CustomExpression{
				Span: span(r), Index: b.indexName(r.GetIndex()), Value: b.term(r.GetValue()),
			})
			continue
		}
		relations = append(relations, b.relation(r))
	}
	return relations, custom
}

func (b *builder) relation(c grammar.IRelationContext) cql.Relation {
	r := cql.Relation{Span: span(c)}
	switch {
	case c.GetParens() != nil:
		return b.parenRelation(c.GetParens())
	case c.GetPartitioner() != nil:
		r.Token = true
		r.Columns = columns(b, c.GetColumns().GetNames())
	default:
		r.Columns = []cql.ColumnRef{b.column(c.GetColumn())}
	}
	if c.GetElement() != nil {
		r.Key = b.term(c.GetElement())
	}
	switch {
	case c.GetLike() != nil:
		r.Op = cql.Like
	case c.GetNotNull() != nil:
		r.Op = cql.IsNotNull
	case c.GetIn() != nil:
		r.Op = cql.In
		r.Value, r.Values = b.inValues(c.GetValues())
	case c.GetContains() != nil:
		r.Op = contains(c.GetKey())
	default:
		r.Op = operator(c.GetOp())
	}
	if c.GetValue() != nil {
		r.Value = b.term(c.GetValue())
	}
	return r
}

// parenRelation builds a relation that begins with a parenthesis: a relation on a tuple of columns, or any relation
// in parentheses without meaning.
func (b *builder) parenRelation(c grammar.IParenRelationContext) cql.Relation {
	if inner := c.GetInner(); inner != nil {
		if inner.GetCustom() != nil {
			b.noAlternative(inner.GetStart())
			return cql.Relation{}
		}
		return b.relation(inner)
	}
	r := cql.Relation{Span: span(c), Tuple: true, Columns: columns(b, c.GetColumns().GetNames())}
	if c.GetIn() != nil {
		r.Op = cql.In
		r.Value, r.Values = b.inTuples(c.GetTuples())
		return r
	}
	r.Op = operator(c.GetOp())
	if value := c.GetTuple(); value.GetBind() != nil {
		r.Value = b.marker(value.GetBind())
	} else {
		r.Value = b.tuple(value.GetTuple())
	}
	return r
}

// inValues builds the right side of IN: one marker for the whole list, or the list.
func (b *builder) inValues(c grammar.IInValuesContext) (cql.Term, cql.Terms) {
	if c.GetBind() != nil {
		return b.marker(c.GetBind()), cql.Terms{}
	}
	return nil, b.terms(c.GetItems())
}

// inTuples is inValues for a relation on a tuple of columns.
func (b *builder) inTuples(c grammar.IInTuplesContext) (cql.Term, cql.Terms) {
	if c.GetBind() != nil {
		return b.marker(c.GetBind()), cql.Terms{}
	}
	values := make([]cql.Term, 0, len(c.GetTuples())+len(c.GetMarkers()))
	for _, t := range c.GetTuples() {
		values = append(values, b.tuple(t))
	}
	for _, m := range c.GetMarkers() {
		values = append(values, b.bound(m))
	}
	return nil, cql.Terms{Parts: values}
}

func operator(c grammar.IOperatorContext) cql.Operator {
	switch c.GetStart().GetTokenType() {
	case grammar.CqlLexerEQ:
		return cql.Eq
	case grammar.CqlLexerLT:
		return cql.Less
	case grammar.CqlLexerLE:
		return cql.LessEq
	case grammar.CqlLexerGT:
		return cql.Greater
	case grammar.CqlLexerGE:
		return cql.GreaterEq
	default:
		return cql.NotEq
	}
}

func contains(key antlr.Token) cql.Operator {
	if key != nil {
		return cql.ContainsKey
	}
	return cql.Contains
}

// isToken reports whether a token that may be missing is of a type.
func isToken(t antlr.Token, kind int) bool { return t != nil && t.GetTokenType() == kind }
