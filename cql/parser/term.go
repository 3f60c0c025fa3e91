package parser

import (
	"strconv"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) term(c grammar.ITermContext) cql.Term {
	return b.sum(c.GetFirst(), c.GetRest())
}

func (b *builder) terms(contexts []grammar.ITermContext) cql.Terms {
	out := make([]cql.Term, len(contexts))
	for i, c := range contexts {
		out[i] = b.term(c)
	}
	return cql.Terms{Parts: out}
}

// each is terms with a node for each term; more than any statement can use are refused.
func (b *builder) each(contexts []grammar.ITermContext) []cql.Term { return b.nodes(b.terms(contexts)) }

// maxNodes is the maximum number of values, arguments or components in parentheses.
const maxNodes = 1 << 16

func (b *builder) nodes(terms cql.Terms) []cql.Term {
	if terms.Long() && terms.Len() > maxNodes {
		if b.err == nil {
			b.err = cqlerr.Invalidf("More than %d values, arguments or components of a tuple", maxNodes)
		}
		return nil
	}
	return terms.List()
}

// literal builds a constant, or the run of terms that its token represents.
func (b *builder) literal(t antlr.Token) cql.Term {
	if run := b.m.tokens.Run(t); run != nil {
		return run
	}
	return b.constant(t)
}

// bound builds a marker, or the run of markers that its token represents.
func (b *builder) bound(c grammar.IMarkerContext) cql.Term {
	run := b.m.tokens.Run(c.GetStart())
	if run == nil {
		return b.marker(c)
	}
	run.Mark = b.markers
	b.markers += run.Count
	return run
}

func (b *builder) sum(first grammar.IOperandContext, rest []grammar.IStepContext) cql.Term {
	t := b.operand(first)
	if rest == nil {
		return t
	}
	a := arithmetic{operands: []cql.Term{t}}
	for _, step := range rest {
		a.add(step.GetOp(), b.operand(step.GetValue()))
	}
	return a.term()
}

func (b *builder) operand(c grammar.IOperandContext) cql.Term {
	value := b.simpleTerm(c.GetValue())
	if c.GetMinus() == nil {
		return value
	}
	return &cql.Arithmetic{Span: span(c), Op: '-', Right: value}
}

// arithmetic joins operands by operators: * / % first, then + -, from left to right. It keeps the operands and
// operators of + and -.
type arithmetic struct {
	operands []cql.Term
	ops      []byte
}

func (a *arithmetic) add(operator antlr.Token, operand cql.Term) {
	switch op := operatorByte(operator); op {
	case '+', '-':
		a.operands = append(a.operands, operand)
		a.ops = append(a.ops, op)
	default:
		last := len(a.operands) - 1
		a.operands[last] = binary(op, a.operands[last], operand)
	}
}

func (a *arithmetic) term() cql.Term {
	t := a.operands[0]
	for i, op := range a.ops {
		t = binary(op, t, a.operands[i+1])
	}
	return t
}

func binary(op byte, left, right cql.Term) cql.Term {
	at := cql.Span{Start: left.Position().Start, End: right.Position().End}
	return &cql.Arithmetic{Span: at, Op: op, Left: left, Right: right}
}

func operatorByte(t antlr.Token) byte {
	switch t.GetTokenType() {
	case grammar.CqlLexerPLUS:
		return '+'
	case grammar.CqlLexerMINUS:
		return '-'
	case grammar.CqlLexerSTAR:
		return '*'
	case grammar.CqlLexerSLASH:
		return '/'
	default:
		return '%'
	}
}

func (b *builder) simpleTerm(c grammar.ISimpleTermContext) cql.Term {
	switch {
	case c.GetLiteral() != nil:
		return b.literal(c.GetLiteral())
	case c.GetBind() != nil:
		return b.bound(c.GetBind())
	case c.GetOther() != nil:
		return b.otherTerm(c.GetOther())
	default:
		call := c.GetFn()
		return &cql.Call{Span: span(call), Function: b.function(call.GetFunction()), Args: b.each(call.GetArgs())}
	}
}

func (b *builder) otherTerm(c grammar.IOtherTermContext) cql.Term {
	switch {
	case c.GetNull() != nil:
		return null(c.GetNull())
	case c.GetList() != nil:
		return &cql.ListLiteral{Span: span(c), Elements: b.terms(c.GetItems())}
	case c.GetBraces() != nil:
		return b.braces(c.GetBraces())
	case c.GetParens() != nil:
		return b.parens(c.GetParens())
	case c.GetScoped() != nil:
		scoped := c.GetScoped()
		name := cql.QualifiedName{Keyspace: b.name(c), Name: b.name(scoped.GetName())}
		return &cql.Call{Span: span(c), Function: name, Args: b.each(scoped.GetArgs())}
	default:
		return &cql.Cast{Span: span(c), Value: b.simpleTerm(c.GetValue()), Type: b.nativeType(c.GetTo())}
	}
}

func (b *builder) braces(c grammar.IBracesTermContext) cql.Term {
	switch {
	case len(c.GetFields()) > 0:
		return &cql.UserTypeLiteral{Span: span(c), Fields: names(b, c.GetFields()), Values: b.each(c.GetValues())}
	case len(c.GetValues()) > 0:
		keys, values := b.entries(c.GetKeys(), c.GetValues())
		return &cql.MapLiteral{Span: span(c), Keys: keys, Values: values}
	default:
		return &cql.SetLiteral{Span: span(c), Elements: b.terms(c.GetKeys())}
	}
}

// entries builds keys and values in the order of the text, in which markers are numbered.
func (b *builder) entries(keys, values []grammar.ITermContext) (k, v cql.Terms) {
	for i := range keys {
		k.Parts = append(k.Parts, b.term(keys[i]))
		v.Parts = append(v.Parts, b.term(values[i]))
	}
	return k, v
}

func (b *builder) parens(c grammar.IParenTermContext) cql.Term {
	if c.GetHint() != nil {
		hint := b.typeName(c.GetHint())
		return &cql.TypeHint{Span: span(c), Type: hint, Value: b.simpleTerm(c.GetHinted())}
	}
	return b.tuple(c.GetTuple())
}

// tuple builds a tuple, or a run of tuples.
func (b *builder) tuple(c grammar.ITupleLiteralContext) cql.Term {
	elements := b.terms(c.GetItems())
	if run, ok := elements.Parts[0].(*cql.Run); ok && len(elements.Parts) == 1 {
		return run
	}
	return &cql.TupleLiteral{Span: span(c), Elements: b.nodes(elements)}
}

func (b *builder) marker(c grammar.IMarkerContext) *cql.Marker {
	m := &cql.Marker{Span: span(c), Index: b.markers}
	b.markers++
	if c.GetName() != nil {
		m.Name = b.name(c.GetName())
	}
	return m
}

func (b *builder) constant(t antlr.Token) *cql.Literal {
	switch t.GetTokenType() {
	case grammar.CqlLexerSTRING_LITERAL:
		return b.stringToken(t)
	case grammar.CqlLexerINTEGER:
		return b.literalToken(t, cql.IntegerLiteral)
	case grammar.CqlLexerFLOAT:
		b.checkFloat(t)
		return b.literalToken(t, cql.FloatLiteral)
	case grammar.CqlLexerBOOLEAN:
		return b.literalToken(t, cql.BooleanLiteral)
	case grammar.CqlLexerHEXNUMBER:
		return b.literalToken(t, cql.HexLiteral)
	case grammar.CqlLexerUUID:
		return b.literalToken(t, cql.UUIDLiteral)
	case grammar.CqlLexerDURATION:
		return b.literalToken(t, cql.DurationLiteral)
	default:
		return &cql.Literal{Span: tokenSpan(t), Kind: cql.FloatLiteral, Text: cql.FloatText(b.word(t))}
	}
}

// null builds NULL, which has no text.
func null(t antlr.Token) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: cql.NullLiteral}
}

// literalToken builds a literal with the token's text as written.
func (b *builder) literalToken(t antlr.Token, kind cql.LiteralKind) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: kind, Text: b.word(t)}
}

// stringToken builds a string from 'text' or $$text$$.
func (b *builder) stringToken(t antlr.Token) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: cql.StringLiteral, Text: stringContent(b.word(t))}
}

// stringContent removes the quotes of a string token.
func stringContent(word string) string { return stream.Content(word, grammar.CqlLexerSTRING_LITERAL) }

// checkFloat refuses a number beyond the range of a double: Cassandra fails while it parses, whatever the type of the
// column.
func (b *builder) checkFloat(t antlr.Token) {
	if _, err := strconv.ParseFloat(b.word(t), 64); err != nil {
		b.failJava("NumberFormatException",
			`Character I is neither a decimal digit number, decimal point, nor "e" notation exponential mark.`)
	}
}
