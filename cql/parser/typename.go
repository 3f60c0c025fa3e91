package parser

import (
	"fmt"
	"strconv"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) typeName(c grammar.ITypeNameContext) cql.TypeName {
	switch {
	case c.GetUser() != nil:
		b.checkUserTypeName(c.GetUser().GetStart())
		return cql.TypeName{Span: span(c), Keyspace: b.name(c), Name: b.name(c.GetUser()), User: true}
	case c.GetClass() != nil:
		return cql.TypeName{Span: span(c), Class: stringContent(b.word(c.GetClass()))}
	case c.GetNative() != nil:
		return b.nativeType(c.GetNative())
	case isToken(c.GetCollection(), grammar.CqlLexerK_FROZEN) && len(c.GetArgs()) > 0:
		return b.frozen(c)
	case len(c.GetArgs()) > 0:
		return b.collection(c)
	default:
		b.checkUserTypeName(c.GetStart())
		return cql.TypeName{Span: span(c), Name: b.name(c), User: true}
	}
}

func (b *builder) nativeType(c grammar.INativeTypeContext) cql.TypeName {
	return cql.TypeName{Span: span(c), Name: b.name(c)}
}

func (b *builder) collection(c grammar.ITypeNameContext) cql.TypeName {
	t := cql.TypeName{Span: span(c), Name: b.name(c)}
	for _, arg := range c.GetArgs() {
		t.Args = append(t.Args, b.typeName(arg))
	}
	if c.GetDimension() != nil {
		n, err := strconv.ParseInt(b.word(c.GetDimension()), 10, 32)
		if err != nil {
			b.failJava("NumberFormatException", fmt.Sprintf(`For input string: "%s"`, b.word(c.GetDimension())))
		}
		t.Dimension = int(n)
	}
	return t
}

// frozen builds frozen<type>: what can be frozen has parts.
func (b *builder) frozen(c grammar.ITypeNameContext) cql.TypeName {
	t := b.typeName(c.GetArgs()[0])
	if t.IsClass() || !t.User && len(t.Args) == 0 {
		b.fail("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", t)
	}
	t.Span, t.Frozen = span(c), true
	return t
}

// checkUserTypeName refuses the names that are kept for types of the future. Like Cassandra it does not
// find them when they are quoted or in capitals.
func (b *builder) checkUserTypeName(t antlr.Token) {
	if t.GetTokenType() != grammar.CqlLexerIDENT {
		return
	}
	switch word := b.word(t); word {
	case "byte", "complex", "enum", "interval", "macaddr", "bitstring":
		b.fail("Invalid (reserved) user type name %s", word)
	}
}

// userType builds the name of a user type where it stands by itself.
func (b *builder) userType(c grammar.IUserTypeNameContext) cql.QualifiedName {
	last := c.GetUser()
	if last == nil {
		b.checkUserTypeName(c.GetStart())
		return cql.QualifiedName{Name: b.name(c)}
	}
	b.checkUserTypeName(last.GetStart())
	return cql.QualifiedName{Keyspace: b.name(c), Name: b.name(last)}
}
