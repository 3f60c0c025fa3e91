package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// word is the text of a token.
func (b *builder) word(t antlr.Token) string { return b.text[t.GetStart() : t.GetStop()+1] }

// name is the name that a rule of one token holds: without its quotes, or folded to lower case.
func (b *builder) name(c antlr.ParserRuleContext) string { return b.tokenName(c.GetStart()) }

func (b *builder) tokenName(t antlr.Token) string {
	text := b.word(t)
	switch t.GetTokenType() {
	case grammar.CqlLexerQUOTED_NAME:
		return strings.ReplaceAll(text[1:len(text)-1], `""`, `"`)
	case grammar.CqlLexerEMPTY_QUOTED_NAME:
		return ""
	default:
		return strings.ToLower(text)
	}
}

func names[T antlr.ParserRuleContext](b *builder, contexts []T) []string {
	out := make([]string, len(contexts))
	for i, c := range contexts {
		out[i] = b.name(c)
	}
	return out
}

func (b *builder) column(c antlr.ParserRuleContext) cql.ColumnRef {
	return cql.ColumnRef{Span: span(c), Name: b.name(c)}
}

func columns[T antlr.ParserRuleContext](b *builder, contexts []T) []cql.ColumnRef {
	out := make([]cql.ColumnRef, len(contexts))
	for i, c := range contexts {
		out[i] = b.column(c)
	}
	return out
}

// table builds the name of a table, or of an index or view where the grammar takes a table's name.
func (b *builder) table(c grammar.ITableNameContext) cql.QualifiedName {
	return b.qualified(c.GetFirst(), c.GetSecond(), "table")
}

// definedFunction builds the name of a function that is defined, removed or described.
func (b *builder) definedFunction(c grammar.IDefinedFunctionContext) cql.QualifiedName {
	if c.GetPlain() != nil {
		return b.function(c.GetPlain())
	}
	return cql.QualifiedName{Keyspace: b.name(c), Name: b.name(c.GetSecond())}
}

func (b *builder) index(c grammar.IIndexNameContext) cql.QualifiedName {
	return b.qualified(c.GetFirst(), c.GetSecond(), "index")
}

// indexName is the name of an index where no keyspace can stand before it.
func (b *builder) indexName(c grammar.INamePartContext) string {
	b.noMarker(c.GetBound(), "index")
	return b.name(c)
}

// qualified builds a name from one part or two, none of which may be a bind marker.
func (b *builder) qualified(first, second grammar.INamePartContext, kind string) cql.QualifiedName {
	if second == nil {
		b.noMarker(first.GetBound(), kind)
		return cql.QualifiedName{Name: b.name(first)}
	}
	b.noMarker(first.GetBound(), "keyspace")
	b.noMarker(second.GetBound(), kind)
	return cql.QualifiedName{Keyspace: b.name(first), Name: b.name(second)}
}

func (b *builder) noMarker(bound antlr.Token, kind string) {
	if bound != nil {
		b.fail("Bind variables cannot be used for %s names", kind)
	}
}

func (b *builder) keyspace(c grammar.IKeyspaceNameContext) string {
	b.noMarker(c.GetBound(), "keyspace")
	return b.name(c)
}

func (b *builder) function(c grammar.IFunctionNameContext) cql.QualifiedName {
	switch {
	case c.GetSecond() == nil:
		return cql.QualifiedName{Name: b.name(c)}
	default:
		return cql.QualifiedName{Keyspace: b.name(c), Name: b.name(c.GetSecond())}
	}
}
