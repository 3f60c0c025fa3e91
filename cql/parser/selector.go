package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) selectors(contexts []grammar.ISelectorContext) []cql.Selector {
	var out []cql.Selector
	for _, c := range contexts {
		s := cql.Selector{Span: span(c), Expr: b.selection(c.GetExpr())}
		if c.GetAlias() != nil {
			s.Alias = b.name(c.GetAlias())
		}
		out = append(out, s)
	}
	return out
}

func (b *builder) selection(c grammar.ISelectionContext) cql.Term {
	first := b.selectOperand(c.GetFirst())
	if c.GetRest() == nil {
		return first
	}
	a := arithmetic{operands: []cql.Term{first}}
	for _, step := range c.GetRest() {
		a.add(step.GetOp(), b.selectOperand(step.GetValue()))
	}
	return a.term()
}

func (b *builder) selections(contexts []grammar.ISelectionContext) []cql.Term {
	out := make([]cql.Term, len(contexts))
	for i, c := range contexts {
		out[i] = b.selection(c)
	}
	return out
}

func (b *builder) selectOperand(c grammar.ISelectOperandContext) cql.Term {
	if c.GetMinus() != nil {
		return &cql.Arithmetic{Span: span(c), Op: '-', Right: b.selectOperand(c.GetNegated())}
	}
	start := c.GetStart()
	t := b.selectPrimary(c.GetPrimary())
	for i, suffix := range c.GetSuffixes() {
		at := between(start, suffix)
		switch {
		case suffix.GetArgs() != nil:
			t = b.qualifiedCall(t, i == 0 && isPlainColumn(withoutHints(c.GetPrimary())), suffix, at)
		case suffix.GetField() != nil:
			t = &cql.Field{Span: at, Of: t, Name: b.name(suffix.GetField())}
		default:
			t = b.subscript(t, suffix.GetSub(), at)
		}
	}
	return t
}

// withoutHints removes the types in parentheses before a selected term.
func withoutHints(c grammar.ISelectPrimaryContext) grammar.ISelectPrimaryContext {
	for c.GetOther() != nil && c.GetOther().GetParens() != nil && c.GetOther().GetParens().GetHinted() != nil {
		c = c.GetOther().GetParens().GetHinted()
	}
	return c
}

// isPlainColumn reports whether a selected term is a bare name, which may be the keyspace of a function.
func isPlainColumn(c grammar.ISelectPrimaryContext) bool {
	if c.GetStart() != c.GetStop() {
		return false
	}
	if o := c.GetOther(); o != nil {
		return o.GetWord() != nil || o.GetCell() != nil || o.GetCount() != nil || o.GetCast() != nil
	}
	return c.GetPlain() != nil || c.GetFunction() != nil
}

// qualifiedCall builds keyspace.function(arguments), which the grammar, deciding on one token, reads as a field with
// arguments.
func (b *builder) qualifiedCall(of cql.Term, plain bool, c grammar.ISelectSuffixContext, at cql.Span) cql.Term {
	function := &b.m.tokens.All[c.GetStart().GetTokenIndex()+1]
	if !plain || !isFunctionName(function.GetTokenType()) {
		b.refuse(c.GetArgs().GetStart(), "K_FROM")
		return of
	}
	if hint, ok := of.(*cql.TypeHint); ok {
		hint.Span, hint.Value = at, b.qualifiedCall(hint.Value, plain, c, at)
		return hint
	}
	name := cql.QualifiedName{Keyspace: of.(*cql.ColumnRef).Name, Name: b.tokenName(function)}
	return &cql.Call{Span: at, Function: name, Args: b.selections(c.GetArgs().GetArgs())}
}

// isFunctionName reports whether a token can be the name of a function.
func isFunctionName(token int) bool {
	switch token {
	case grammar.CqlLexerK_TTL, grammar.CqlLexerK_WRITETIME, grammar.CqlLexerK_MAXWRITETIME, grammar.CqlLexerK_KEY,
		grammar.CqlLexerK_CAST, grammar.CqlLexerK_JSON, grammar.CqlLexerK_DISTINCT:
		return false
	}
	return true
}

func (b *builder) subscript(of cql.Term, c grammar.ISubscriptContext, at cql.Span) cql.Term {
	if c.GetDots() == nil {
		return &cql.Element{Span: at, Of: of, Key: b.term(c.GetFrom())}
	}
	s := &cql.Slice{Span: at, Of: of}
	if c.GetFrom() != nil {
		s.From = b.term(c.GetFrom())
	}
	if c.GetTo() != nil {
		s.To = b.term(c.GetTo())
	}
	return s
}

func (b *builder) selectPrimary(c grammar.ISelectPrimaryContext) cql.Term {
	switch {
	case c.GetLiteral() != nil:
		return b.constant(c.GetLiteral())
	case c.GetBind() != nil:
		return b.marker(c.GetBind())
	case c.GetOther() != nil:
		return b.selectOther(c.GetOther())
	default:
		return b.columnOrCall(c, c.GetArgs())
	}
}

func (b *builder) selectOther(c grammar.ISelectOtherContext) cql.Term {
	switch {
	case c.GetNull() != nil:
		return null(c.GetNull())
	case c.GetTail() != nil:
		return b.count(c)
	case c.GetOf() != nil:
		return &cql.CellFunction{Span: span(c), Name: b.tokenName(c.GetCell()), Arg: b.cellArgument(c)}
	case c.GetValue() != nil:
		return &cql.Cast{Span: span(c), Value: b.selection(c.GetValue()), Type: b.nativeType(c.GetTo())}
	case c.GetPartitioner() != nil:
		return b.columnOrCall(c, c.GetArgs())
	case c.GetList() != nil:
		return &cql.ListLiteral{Span: span(c), Elements: cql.Terms{Parts: b.selections(c.GetList().GetItems())}}
	case c.GetBraces() != nil:
		return b.selectBraces(c.GetBraces())
	case c.GetParens() != nil:
		return b.selectParens(c.GetParens())
	default:
		return &cql.ColumnRef{Span: span(c), Name: b.name(c)}
	}
}

// columnOrCall builds a column, or a function call if there are arguments.
func (b *builder) columnOrCall(c antlr.ParserRuleContext, args grammar.ISelectArgsContext) cql.Term {
	if args == nil {
		return &cql.ColumnRef{Span: span(c), Name: b.name(c)}
	}
	return &cql.Call{Span: span(c), Function: cql.QualifiedName{Name: b.name(c)}, Args: b.selections(args.GetArgs())}
}

func isOneInteger(args []cql.Term) bool {
	if len(args) != 1 {
		return false
	}
	l, ok := args[0].(*cql.Literal)
	return ok && l.Kind == cql.IntegerLiteral
}

// count builds count(*), also written count(1), or a call of the function count.
func (b *builder) count(c grammar.ISelectOtherContext) cql.Term {
	tail := c.GetTail()
	args := b.selections(tail.GetArgs())
	if tail.GetStar() != nil || isOneInteger(args) {
		return &cql.CountAll{Span: span(c)}
	}
	return &cql.Call{Span: span(c), Function: cql.QualifiedName{Name: "count"}, Args: args}
}

// cellArgument builds the column of WRITETIME, MAXWRITETIME or TTL with its fields and elements.
func (b *builder) cellArgument(c grammar.ISelectOtherContext) cql.Term {
	of := c.GetOf()
	var t cql.Term = &cql.ColumnRef{Span: span(of), Name: b.name(of)}
	for _, suffix := range c.GetOfSuffixes() {
		at := between(of.GetStart(), suffix)
		if suffix.GetField() != nil {
			t = &cql.Field{Span: at, Of: t, Name: b.name(suffix.GetField())}
		} else {
			t = b.subscript(t, suffix.GetSub(), at)
		}
	}
	return t
}

// selectBraces builds a set, a map, or a user type's literal when all keys are bare names.
func (b *builder) selectBraces(c grammar.ISelectBracesContext) cql.Term {
	if len(c.GetValues()) == 0 {
		return &cql.SetLiteral{Span: span(c), Elements: cql.Terms{Parts: b.selections(c.GetKeys())}}
	}
	m := &cql.MapLiteral{Span: span(c)}
	var fields []string
	for i, key := range c.GetKeys() {
		k := b.selection(key)
		m.Keys.Parts = append(m.Keys.Parts, k)
		m.Values.Parts = append(m.Values.Parts, b.selection(c.GetValues()[i]))
		if column, ok := k.(*cql.ColumnRef); ok {
			fields = append(fields, column.Name)
		}
	}
	if len(fields) == len(m.Keys.Parts) {
		return &cql.UserTypeLiteral{Span: span(c), Fields: fields, Values: m.Values.Parts}
	}
	return m
}

func (b *builder) selectParens(c grammar.ISelectParensContext) cql.Term {
	if c.GetHint() != nil {
		hint := b.typeName(c.GetHint())
		return &cql.TypeHint{Span: span(c), Type: hint, Value: b.selectPrimary(c.GetHinted())}
	}
	return &cql.TupleLiteral{Span: span(c), Elements: b.selections(c.GetItems())}
}
