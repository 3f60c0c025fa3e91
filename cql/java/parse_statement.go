package java

import "slices"

// The parser stops nesting and growing where no sensible body gets to, so that hostile bodies do not exhaust the stack.
const (
	maxDepth = 200
	maxNodes = 50_000

	// maxSource is how many bytes a body may have. Java's methods have at most 64 KiB of bytecode.
	maxSource = 256 << 10
)

// parser turns tokens into a tree by recursive descent.
type parser struct {
	tokens []token
	at     int
	depth  int
	nodes  int
}

// parseBody parses the statements of a method's body.
func parseBody(src string) *block {
	if len(src) > maxSource {
		refuse(pos{1, 1}, "the body is too large")
	}
	p := &parser{tokens: tokenize(src)}
	b := &block{pos: pos{1, 1}}
	for p.peek().kind != endToken {
		b.body = append(b.body, p.statement())
	}
	return b
}

func (p *parser) peek() token { return p.tokens[p.at] }

// peekAt looks n tokens further than peek.
func (p *parser) peekAt(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) next() token {
	tok := p.tokens[p.at]
	if tok.kind != endToken {
		p.at++
	}
	if p.nodes++; p.nodes > maxNodes*4 {
		refuse(tok.pos, "the body is too large")
	}
	return tok
}

// is reports whether the next token is that operator or keyword.
func (p *parser) is(text string) bool { return p.peek().is(text) }

func (t token) is(text string) bool {
	return t.text == text && (t.kind == operatorToken || t.kind == keywordToken)
}

// accept skips the next token if it is that operator or keyword.
func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) pos {
	tok := p.peek()
	if !p.accept(text) {
		p.unexpected(text + " expected")
	}
	return tok.pos
}

func (p *parser) unexpected(hint string) {
	tok := p.peek()
	if tok.kind == endToken {
		refuse(tok.pos, "Syntax error, unexpected end of the body: %s", hint)
	}
	refuse(tok.pos, "Syntax error on token \"%s\", %s", tok, hint)
}

// String is the token as it is written, for errors.
func (t token) String() string {
	if t.units != nil {
		return goText(t.units)
	}
	return t.text
}

func (p *parser) identifier() token {
	if p.peek().kind != identifierToken {
		p.unexpected("Identifier expected")
	}
	return p.next()
}

// enter counts a level of nesting; the function it returns ends the level.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		refuse(p.peek().pos, "the body is nested too deeply")
	}
	return func() { p.depth-- }
}

// unsupported are the statements of Java that bodies cannot have here, by the word that they begin with.
var unsupported = map[string]string{
	"try": "try statements", "synchronized": "synchronized statements", "assert": "assert statements",
	"class": "classes", "enum": "enums", "interface": "interfaces", "abstract": "classes", "static": "classes",
	"@": "annotations", "import": "imports",
}

func (p *parser) statement() statement {
	defer p.enter()()
	tok := p.peek()
	at := tok.pos
	if what, ok := unsupported[tok.text]; ok && (tok.kind == keywordToken || tok.kind == operatorToken) {
		refuse(at, "%s are not supported", what)
	}
	if tok.kind == identifierToken && p.peekAt(1).is(":") {
		p.next()
		p.next()
		return &labeled{at, tok.text, p.statement()}
	}
	switch {
	case p.is("{"):
		return p.block()
	case p.accept(";"):
		return &emptyStatement{at}
	case p.accept("if"):
		s := &ifStatement{pos: at, test: p.parenthesized()}
		s.yes = p.statement()
		if p.accept("else") {
			s.no = p.statement()
		}
		return s
	case p.accept("while"):
		return &whileStatement{at, p.parenthesized(), p.statement()}
	case p.accept("do"):
		s := &doStatement{pos: at, body: p.statement()}
		p.expect("while")
		s.test = p.parenthesized()
		p.expect(";")
		return s
	case p.accept("for"):
		return p.forLoop(at)
	case p.accept("switch"):
		return p.switchBlock(at)
	case p.accept("return"):
		s := &returnStatement{pos: at}
		if !p.is(";") {
			s.value = p.expression()
		}
		p.expect(";")
		return s
	case p.accept("throw"):
		s := &throwStatement{at, p.expression()}
		p.expect(";")
		return s
	case p.is("break"), p.is("continue"):
		s := &jump{pos: at, breaks: p.next().text == "break"}
		if p.peek().kind == identifierToken {
			s.label = p.next().text
		}
		p.expect(";")
		return s
	case p.is("final") || p.declares():
		s := p.declaration()
		p.expect(";")
		return s
	}
	s := p.expressionStatement()
	p.expect(";")
	return s
}

func (p *parser) block() *block {
	b := &block{pos: p.expect("{")}
	for !p.accept("}") {
		if p.peek().kind == endToken {
			p.unexpected("} expected")
		}
		b.body = append(b.body, p.statement())
	}
	return b
}

func (p *parser) parenthesized() node {
	p.expect("(")
	e := p.expression()
	p.expect(")")
	return e
}

// expressionStatement is an expression that does something.
func (p *parser) expressionStatement() statement {
	e := p.expression()
	switch e.(type) {
	case *assignment, *increment, *invocation, *creation:
		return &expressionStatement{e.at(), e}
	}
	refuse(e.at(), "Syntax error, the expression is not a statement")
	return nil
}

// declares reports whether a type and a name come next.
func (p *parser) declares() bool {
	start := p.at
	defer func() { p.at = start }()
	if p.tryType() == nil || p.peek().kind != identifierToken {
		return false
	}
	p.next()
	return slices.ContainsFunc([]string{"=", ";", ",", ":", "["}, p.is)
}

func (p *parser) declaration() *local {
	s := &local{pos: p.peek().pos}
	for p.accept("final") {
		s.final = true
	}
	if p.is("@") {
		refuse(p.peek().pos, "annotations are not supported")
	}
	s.typ = p.typeName()
	for {
		id := p.identifier()
		d := declarator{pos: id.pos, id: id.text}
		for p.accept("[") {
			p.expect("]")
			d.dims++
		}
		if p.accept("=") {
			d.init = p.initializer()
		}
		s.vars = append(s.vars, d)
		if !p.accept(",") {
			return s
		}
	}
}

// initializer is an expression, or the elements of an array in braces.
func (p *parser) initializer() node {
	if !p.is("{") {
		return p.expression()
	}
	return &arrayCreation{pos: p.peek().pos, init: p.braces(), braces: true}
}

func (p *parser) braces() []node {
	defer p.enter()()
	p.expect("{")
	var elems []node
	for !p.accept("}") {
		elems = append(elems, p.initializer())
		if !p.is("}") {
			p.expect(",")
		}
	}
	return elems
}

func (p *parser) forLoop(at pos) statement {
	p.expect("(")
	s := &forStatement{pos: at}
	if p.is("final") || p.declares() {
		d := p.declaration()
		if len(d.vars) == 1 && d.vars[0].init == nil && p.accept(":") {
			e := &forEachStatement{pos: at, typ: d.typ, id: d.vars[0].id, over: p.expression()}
			p.expect(")")
			e.body = p.statement()
			return e
		}
		s.init = []statement{d}
	} else if !p.is(";") {
		for {
			s.init = append(s.init, p.expressionStatement())
			if !p.accept(",") {
				break
			}
		}
	}
	p.expect(";")
	if !p.is(";") {
		s.test = p.expression()
	}
	p.expect(";")
	if !p.is(")") {
		for {
			s.update = append(s.update, p.expressionStatement().(*expressionStatement).expr)
			if !p.accept(",") {
				break
			}
		}
	}
	p.expect(")")
	s.body = p.statement()
	return s
}

func (p *parser) switchBlock(at pos) statement {
	s := &switchStatement{pos: at, value: p.parenthesized()}
	p.expect("{")
	for !p.accept("}") {
		c := switchCase{pos: p.peek().pos}
		if p.accept("default") {
			c.isDefault = true
		} else {
			p.expect("case")
			c.labels = append(c.labels, p.ternary())
		}
		if p.is("->") {
			refuse(p.peek().pos, "switch rules with -> are not supported")
		}
		p.expect(":")
		for !p.is("case") && !p.is("default") && !p.is("}") {
			if p.peek().kind == endToken {
				p.unexpected("} expected")
			}
			c.body = append(c.body, p.statement())
		}
		s.cases = append(s.cases, c)
	}
	return s
}
