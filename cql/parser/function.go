package parser

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

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
