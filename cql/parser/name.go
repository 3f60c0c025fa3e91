package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

// word is the text of a token.
func (b *builder) word(t antlr.Token) string { return b.text[t.GetStart() : t.GetStop()+1] }

// name is the name in a rule of one token, without quotes or folded to lower case.
func (b *builder) name(c antlr.ParserRuleContext) string { return b.tokenName(c.GetStart()) }

func (b *builder) tokenName(t antlr.Token) string {
	text := b.word(t)
	switch t.GetTokenType() {
	case grammar.CqlLexerQUOTED_NAME:
		return stream.Content(text, grammar.CqlLexerQUOTED_NAME)
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

// definedFunction builds the name of a function in a definition.
func (b *builder) definedFunction(c grammar.IDefinedFunctionContext) cql.QualifiedName {
	if c.GetPlain() != nil {
		return b.function(c.GetPlain())
	}
	return cql.QualifiedName{Keyspace: b.name(c), Name: b.name(c.GetSecond())}
}

func (b *builder) index(c grammar.IIndexNameContext) cql.QualifiedName {
	return b.qualified(c.GetFirst(), c.GetSecond(), "index")
}

// indexName is the unqualified name of an index.
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

// properties builds the properties of a WITH clause. Their names must differ.
func (b *builder) properties(contexts []grammar.IPropertyContext) []cql.Property {
	var out []cql.Property
	seen := map[string]bool{}
	for _, c := range contexts {
		p := b.property(c)
		if seen[p.Name] {
			b.fail("Multiple definitions for property '%s'", p.Name)
		}
		seen[p.Name] = true
		out = append(out, p)
	}
	return out
}

func (b *builder) property(c grammar.IPropertyContext) cql.Property {
	p := cql.Property{Span: span(c), Name: b.name(c.GetName())}
	switch simple := c.GetSimple(); {
	case simple == nil:
		p.Value = b.propertyMap(c.GetEntries())
	case simple.GetLiteral() != nil:
		p.Value = b.constant(simple.GetLiteral())
	default:
		p.Value = &cql.ColumnRef{Span: span(simple), Name: b.name(simple)}
	}
	return p
}

// propertyMap builds the map of a property: literals with unique keys.
func (b *builder) propertyMap(c grammar.IPropertyMapContext) *cql.MapLiteral {
	m := &cql.MapLiteral{Span: span(c)}
	m.Keys, m.Values = b.entries(c.GetKeys(), c.GetValues())
	seen := map[string]bool{}
	for i, key := range m.Keys.Parts {
		if !isConstant(key) {
			b.fail("Invalid property name: %s%s", b.shown(key), noMarkerInProperty(key))
		} else if value := m.Values.Parts[i]; !isConstant(value) {
			b.fail("Invalid property value: %s for property: %s%s", b.shown(value), b.shown(key), noMarkerInProperty(value))
		} else if text := key.(*cql.Literal).Text; seen[text] {
			b.fail("Multiple definition for property %s", b.shownAs(text, key))
		} else {
			seen[text] = true
		}
	}
	return m
}

// isConstant reports whether a term is a literal other than null.
func isConstant(t cql.Term) bool {
	l, ok := t.(*cql.Literal)
	return ok && l.Kind != cql.NullLiteral
}

func noMarkerInProperty(t cql.Term) string {
	if _, ok := t.(*cql.Marker); ok {
		return " (bind variables are not supported in DDL queries)"
	}
	return ""
}
