package parser

import (
	"fmt"
	"strconv"
	"strings"

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

// frozen builds frozen<type>; the type must have parts.
func (b *builder) frozen(c grammar.ITypeNameContext) cql.TypeName {
	t := b.typeName(c.GetArgs()[0])
	if t.IsClass() || !t.User && len(t.Args) == 0 {
		b.fail("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", t)
	}
	t.Span, t.Frozen = span(c), true
	return t
}

// checkUserTypeName refuses reserved names. Like Cassandra it does not recognize them quoted or in capitals.
func (b *builder) checkUserTypeName(t antlr.Token) {
	if t.GetTokenType() != grammar.CqlLexerIDENT {
		return
	}
	switch word := b.word(t); word {
	case "byte", "complex", "enum", "interval", "macaddr", "bitstring":
		b.fail("Invalid (reserved) user type name %s", word)
	}
}

// userType builds the name of a user type outside a type.
func (b *builder) userType(c grammar.IUserTypeNameContext) cql.QualifiedName {
	last := c.GetUser()
	if last == nil {
		b.checkUserTypeName(c.GetStart())
		return cql.QualifiedName{Name: b.name(c)}
	}
	b.checkUserTypeName(last.GetStart())
	return cql.QualifiedName{Keyspace: b.name(c), Name: b.name(last)}
}

func (b *builder) createType(at grammar.ICreateStatementContext) *cql.CreateType {
	c := at.GetUserType()
	s := &cql.CreateType{Span: span(at), IfNotExists: c.GetNotExists() != nil, Type: b.userType(c.GetName())}
	s.Fields = b.fields(c.GetFields())
	return s
}

func (b *builder) fields(contexts []grammar.IFieldDefinitionContext) []cql.FieldDefinition {
	out := make([]cql.FieldDefinition, len(contexts))
	for i, c := range contexts {
		out[i] = b.field(c)
	}
	return out
}

func (b *builder) field(c grammar.IFieldDefinitionContext) cql.FieldDefinition {
	return cql.FieldDefinition{Span: span(c), Name: b.name(c.GetName()), Type: b.typeName(c.GetKind())}
}

func (b *builder) typeChange(c grammar.ITypeChangeContext) cql.TypeChange {
	switch {
	case c.GetField() != nil:
		return &cql.AlterFieldType{Field: b.name(c.GetField()), Type: b.typeName(c.GetKind())}
	case c.GetAdded() != nil:
		return &cql.AddField{IfNotExists: c.GetNotExists() != nil, Field: b.field(c.GetAdded())}
	default:
		return &cql.RenameFields{IfExists: c.GetExists() != nil, Renames: b.renames(c.GetRenames())}
	}
}

func (b *builder) createFunction(at grammar.ICreateStatementContext) *cql.CreateFunction {
	c := at.GetFunction()
	return &cql.CreateFunction{
		Span:         span(at),
		OrReplace:    at.GetReplace() != nil,
		IfNotExists:  c.GetNotExists() != nil,
		Function:     b.definedFunction(c.GetName()),
		Args:         b.fields(c.GetArgs()),
		CalledOnNull: c.GetCalled() != nil,
		Returns:      b.typeName(c.GetResult()),
		Language:     strings.ToLower(b.word(c.GetLanguage())),
		Body:         stringContent(b.word(c.GetBody())),
	}
}

// signature builds the types of a function's arguments, which may be missing.
func (b *builder) signature(c grammar.ITypeNamesContext) *cql.Signature {
	if c == nil {
		return nil
	}
	return &cql.Signature{Types: b.typeNames(c)}
}

func (b *builder) typeNames(c grammar.ITypeNamesContext) []cql.TypeName {
	out := make([]cql.TypeName, len(c.GetItems()))
	for i, item := range c.GetItems() {
		out[i] = b.typeName(item)
	}
	return out
}

func (b *builder) createAggregate(at grammar.ICreateStatementContext) *cql.CreateAggregate {
	c := at.GetAggregate()
	s := &cql.CreateAggregate{
		Span:          span(at),
		OrReplace:     at.GetReplace() != nil,
		IfNotExists:   c.GetNotExists() != nil,
		Function:      b.definedFunction(c.GetName()),
		Args:          cql.Signature{Types: b.typeNames(c.GetArgs())},
		StateFunction: b.name(c.GetStateFunction()),
		StateType:     b.typeName(c.GetStateType()),
	}
	if c.GetFinalFunction() != nil {
		s.FinalFunction = b.name(c.GetFinalFunction())
	}
	if c.GetInitial() != nil {
		s.Initial = b.term(c.GetInitial())
	}
	return s
}
