package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

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
