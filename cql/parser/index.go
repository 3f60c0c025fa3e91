package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

var indexTargetKinds = map[int]cql.IndexTargetKind{
	grammar.CqlLexerK_VALUES:  cql.IndexValues,
	grammar.CqlLexerK_KEYS:    cql.IndexKeys,
	grammar.CqlLexerK_ENTRIES: cql.IndexEntries,
	grammar.CqlLexerK_FULL:    cql.IndexFull,
}

func (b *builder) createIndex(at grammar.ICreateStatementContext) *cql.CreateIndex {
	c := at.GetIndex()
	s := &cql.CreateIndex{Span: span(at), Custom: c.GetCustom() != nil, IfNotExists: c.GetNotExists() != nil}
	if name := c.GetName(); name != nil {
		s.Name = b.indexName(name)
	}
	s.Table = b.table(c.GetTable())
	for _, target := range c.GetTargets() {
		t := cql.IndexTarget{Span: span(target), Column: b.name(target.GetColumn())}
		if target.GetKind() != nil {
			t.Kind = indexTargetKinds[target.GetKind().GetTokenType()]
		}
		s.Targets = append(s.Targets, t)
	}
	if c.GetClass() != nil {
		class := stringContent(b.word(c.GetClass()))
		s.Using = &class
	}
	if c.GetOptions() != nil {
		s.Properties = b.properties(c.GetOptions().GetItems())
	}
	return s
}
