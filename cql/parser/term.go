package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
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

// each is terms with a node for each of them, which are refused if they are more than any statement can use.
func (b *builder) each(contexts []grammar.ITermContext) []cql.Term { return b.nodes(b.terms(contexts)) }

// maxNodes is how many values, arguments or components may stand in parentheses.
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

// literal builds a constant, or the run of terms that its token stands for.
func (b *builder) literal(t antlr.Token) cql.Term {
	if run := b.m.tokens.run(t); run != nil {
		return run
	}
	return b.constant(t)
}

// bound builds a marker, or the run of markers that its token stands for.
func (b *builder) bound(c grammar.IMarkerContext) cql.Term {
	run := b.m.tokens.run(c.GetStart())
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

// arithmetic joins operands with the operators between them: * / % first, then + -, from left to right. It holds
// the operands of + and -, and between them their operators.
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

// entries builds keys and values in the order of the text, which markers are numbered by.
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

// tuple builds a tuple, or the run of tuples that stands in the place of one.
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
