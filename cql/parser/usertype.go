package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

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
