package java

import "strings"

func (p *parser) expression() node {
	defer p.enter()()
	if p.peek().kind == identifierToken && p.peekAt(1).is("->") {
		refuse(p.peekAt(1).pos, "lambda expressions are not supported")
	}
	left := p.ternary()
	tok := p.peek()
	if tok.kind != operatorToken || !strings.HasSuffix(tok.text, "=") {
		if !p.joined(">>=") && !p.joined(">>>=") && !p.joined(">=") {
			return left
		}
	}
	op := p.operator()
	switch left.(type) {
	case *name, *element, *field:
	default:
		refuse(tok.pos, "The left-hand side of an assignment must be a variable")
	}
	return &assignment{tok.pos, strings.TrimSuffix(op, "="), left, p.expression()}
}

// operator reads an operator. The lexer leaves > alone, so that >> and the like are joined here.
func (p *parser) operator() string {
	for _, op := range []string{">>>=", ">>=", ">>>", ">>", ">="} {
		if p.joined(op) {
			for n := 0; n < len(op); {
				n += len(p.next().text)
			}
			return op
		}
	}
	return p.next().text
}

// joined reports whether the next tokens, without space between them, are that operator.
func (p *parser) joined(op string) bool {
	text := ""
	column := p.peek().pos.column
	for n := 0; len(text) < len(op); n++ {
		tok := p.peekAt(n)
		if tok.kind != operatorToken || tok.pos.column != column+len(text) || tok.pos.line != p.peek().pos.line {
			return false
		}
		text += tok.text
	}
	return text == op
}

func (p *parser) ternary() node {
	test := p.binary(1)
	if !p.is("?") {
		return test
	}
	defer p.enter()()
	at := p.next().pos
	yes := p.expression()
	p.expect(":")
	if p.peek().kind == identifierToken && p.peekAt(1).is("->") {
		refuse(p.peekAt(1).pos, "lambda expressions are not supported")
	}
	return &conditional{at, test, yes, p.ternary()}
}

// precedence is how strongly operators bind.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "instanceof": 7,
	"<<": 8, ">>": 8, ">>>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// peekBinary returns the binary operator that comes next, or nothing.
func (p *parser) peekBinary() string {
	tok := p.peek()
	if tok.text == ">" && tok.kind == operatorToken {
		for _, op := range []string{">>>=", ">>=", ">>>", ">>", ">="} {
			if p.joined(op) {
				return op
			}
		}
	}
	if tok.kind == operatorToken || tok.kind == keywordToken {
		return tok.text
	}
	return ""
}

func (p *parser) binary(least int) node {
	left := p.unary()
	for {
		op := p.peekBinary()
		binds := precedence[op]
		if binds < least || binds == 0 {
			return left
		}
		at := p.peek().pos
		p.operator()
		if p.nodes++; p.nodes > maxNodes {
			refuse(at, "the body is too large")
		}
		if op == "instanceof" {
			left = &instanceOf{at, left, p.typeName()}
			if p.peek().kind == identifierToken {
				refuse(p.peek().pos, "patterns are not supported")
			}
			continue
		}
		left = &operation{at, op, left, p.binary(binds + 1)}
	}
}

func (p *parser) unary() node {
	defer p.enter()()
	at := p.peek().pos
	switch {
	case p.is("+"), p.is("-"):
		op := p.next().text
		if tok := p.peek(); op == "-" && (tok.kind == intToken || tok.kind == longToken) {
			p.next()
			tok.text = "-" + tok.text
			return p.postfix(&literal{at, tok})
		}
		return &unary{at, op, p.unary()}
	case p.is("!"), p.is("~"):
		return &unary{at, p.next().text, p.unary()}
	case p.is("++"), p.is("--"):
		return &increment{at, p.next().text, p.unary(), true}
	case p.is("("):
		if to := p.castType(); to != nil {
			return &cast{at, to, p.unary()}
		}
	}
	return p.postfix(p.primary())
}

// castType reads (T) if it is a cast.
func (p *parser) castType() *typeName {
	start := p.at
	p.next()
	t := p.tryType()
	if t != nil && p.accept(")") {
		tok := p.peek()
		_, primitive := primitives[t.name]
		if primitive && t.dims == 0 {
			if tok.is("+") || tok.is("-") || tok.is("++") || tok.is("--") {
				return t
			}
		}
		switch {
		case tok.is("->"):
			refuse(tok.pos, "lambda expressions are not supported")
		case tok.is("("), tok.is("!"), tok.is("~"), tok.is("new"), tok.is("true"), tok.is("false"), tok.is("null"),
			tok.is("this"), tok.is("super"):
			return t
		case tok.kind != endToken && tok.kind != operatorToken && tok.kind != keywordToken:
			return t
		case tok.kind == keywordToken && primitives[tok.text] != nil:
			return t
		}
	}
	p.at = start
	return nil
}

func (p *parser) primary() node {
	tok := p.peek()
	switch tok.kind {
	case intToken, longToken, floatToken, doubleToken, charToken, stringToken:
		p.next()
		return &literal{tok.pos, tok}
	case identifierToken:
		p.next()
		if p.is("(") {
			refuse(tok.pos, "The method %s is undefined: bodies have no methods", tok.text)
		}
		if p.is("[") && p.peekAt(1).is("]") {
			p.at--
			return p.classLiteral()
		}
		return &name{tok.pos, tok.text}
	}
	switch {
	case tok.is("true"), tok.is("false"), tok.is("null"):
		p.next()
		return &literal{tok.pos, tok}
	case tok.is("("):
		if p.peekAt(1).is(")") && p.peekAt(2).is("->") ||
			p.peekAt(1).kind == identifierToken && p.peekAt(2).is(",") {
			refuse(tok.pos, "lambda expressions are not supported")
		}
		return p.parenthesized()
	case tok.is("new"):
		return p.creation()
	case tok.is("switch"):
		refuse(tok.pos, "switch expressions are not supported")
	case tok.is("this"), tok.is("super"):
		refuse(tok.pos, "%s is not supported", tok.text)
	case tok.kind == keywordToken && primitives[tok.text] != nil:
		return p.classLiteral()
	}
	p.unexpected("expression expected")
	return nil
}

// classLiteral reads int.class or String[].class.
func (p *parser) classLiteral() node {
	t := p.typeName()
	p.expect(".")
	p.expect("class")
	return &classLiteral{t.pos, t}
}

// postfix reads the parts that follow a primary: fields, calls, elements, ++ and --.
func (p *parser) postfix(e node) node {
	for {
		tok := p.peek()
		if p.nodes++; p.nodes > maxNodes {
			refuse(tok.pos, "the body is too large")
		}
		switch {
		case p.accept("."):
			if p.is("<") {
				refuse(tok.pos, "type arguments of methods are not supported")
			}
			if p.accept("class") {
				e = &classLiteral{e.at(), &typeName{pos: e.at(), name: dottedName(e)}}
				continue
			}
			id := p.identifier()
			if p.is("(") {
				e = &invocation{id.pos, e, id.text, p.arguments()}
			} else {
				e = &field{id.pos, e, id.text}
			}
		case p.accept("["):
			e = &element{tok.pos, e, p.expression()}
			p.expect("]")
		case p.is("++"), p.is("--"):
			e = &increment{tok.pos, p.next().text, e, false}
		case p.is("::"):
			refuse(tok.pos, "method references are not supported")
		default:
			return e
		}
	}
}

// dottedName is a name with dots, or nothing if the expression is not one.
func dottedName(e node) string {
	dotted := ""
	for range maxDots {
		switch n := e.(type) {
		case *name:
			return n.id + dotted
		case *field:
			dotted = "." + n.id + dotted
			e = n.target
		default:
			return ""
		}
	}
	return ""
}

// maxDots is more than the names of classes have.
const maxDots = 16

func (p *parser) arguments() []node {
	p.expect("(")
	var args []node
	for !p.accept(")") {
		if len(args) > 0 {
			p.expect(",")
		}
		args = append(args, p.expression())
	}
	return args
}

func (p *parser) creation() node {
	at := p.expect("new")
	t := p.plainType()
	if t == nil {
		p.unexpected("type expected")
	}
	if p.is("[") {
		a := &arrayCreation{pos: at, elem: t}
		for p.accept("[") {
			a.dims++
			if p.accept("]") {
				continue
			}
			if a.dims > len(a.sizes)+1 {
				p.unexpected("] expected")
			}
			a.sizes = append(a.sizes, p.expression())
			p.expect("]")
			if len(a.sizes) < a.dims {
				p.unexpected("] expected")
			}
		}
		switch {
		case p.is("{"):
			if len(a.sizes) > 0 {
				refuse(at, "Cannot define dimension expressions when an array initializer is provided")
			}
			a.init, a.braces = p.braces(), true
		case len(a.sizes) == 0:
			refuse(at, "Variable must provide either dimension expressions or an array initializer")
		}
		return a
	}
	n := &creation{at, t, p.arguments()}
	if p.is("{") {
		refuse(p.peek().pos, "anonymous classes are not supported")
	}
	return n
}

// typeName reads a type.
func (p *parser) typeName() *typeName {
	start := p.at
	t := p.tryType()
	if t == nil {
		p.at = start
		p.unexpected("type expected")
	}
	return t
}

// tryType reads a type, or returns nil, having read a part of it.
func (p *parser) tryType() *typeName {
	t := p.plainType()
	if t == nil {
		return nil
	}
	for p.is("[") && p.peekAt(1).is("]") {
		p.next()
		p.next()
		t.dims++
	}
	return t
}

// plainType reads a type up to its dimensions.
func (p *parser) plainType() *typeName {
	defer p.enter()()
	tok := p.peek()
	t := &typeName{pos: tok.pos}
	if tok.kind == keywordToken && primitives[tok.text] != nil {
		p.next()
		t.name = tok.text
		return t
	}
	for dots := 0; ; dots++ {
		if p.peek().kind != identifierToken || dots > maxDots {
			return nil
		}
		t.name += p.next().text
		if !p.is(".") || p.peekAt(1).kind != identifierToken {
			break
		}
		p.next()
		t.name += "."
	}
	if !p.accept("<") {
		return t
	}
	if p.accept(">") {
		t.diamond = true
		return t
	}
	for {
		if p.is("?") {
			if p.peekAt(1).is(">") || p.peekAt(1).is(",") || p.peekAt(1).is("extends") || p.peekAt(1).is("super") {
				refuse(p.peek().pos, "wildcards are not supported")
			}
			return nil
		}
		arg := p.tryType()
		if arg == nil {
			return nil
		}
		t.args = append(t.args, arg)
		if p.accept(">") {
			return t
		}
		if !p.accept(",") {
			return nil
		}
	}
}
