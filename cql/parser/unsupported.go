package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// unsupportedStatements are the statements by their first words that the grammar does not have yet. What
// follows the words is not looked at.
var unsupportedStatements = map[string]bool{
	"ALTER KEYSPACE": true, "ALTER TABLE": true, "ALTER COLUMNFAMILY": true, "ALTER TYPE": true,
	"ALTER MATERIALIZED VIEW": true, "ALTER ROLE": true, "ALTER USER": true,
	"CREATE INDEX": true, "CREATE CUSTOM INDEX": true, "CREATE TYPE": true, "CREATE MATERIALIZED VIEW": true,
	"CREATE FUNCTION": true, "CREATE OR REPLACE FUNCTION": true, "CREATE AGGREGATE": true,
	"CREATE OR REPLACE AGGREGATE": true, "CREATE TRIGGER": true, "CREATE ROLE": true, "CREATE USER": true,
	"DROP INDEX": true, "DROP TYPE": true, "DROP MATERIALIZED VIEW": true, "DROP FUNCTION": true,
	"DROP AGGREGATE": true, "DROP TRIGGER": true, "DROP ROLE": true, "DROP USER": true, "DROP IDENTITY": true,
	"ADD IDENTITY": true, "GRANT": true, "REVOKE": true, "LIST": true,
}

// unsupported returns the statement if its first words, at most four, are in the list.
func unsupported(all []antlr.Token, text string) cql.Statement {
	switch all[0].GetTokenType() {
	case grammar.CqlLexerK_ALTER, grammar.CqlLexerK_CREATE, grammar.CqlLexerK_DROP, grammar.CqlLexerK_ADD,
		grammar.CqlLexerK_GRANT, grammar.CqlLexerK_REVOKE, grammar.CqlLexerK_LIST:
	default:
		return nil
	}
	words := ""
	for i, t := range all[:min(4, len(all)-1)] {
		if i > 0 {
			words += " "
		}
		words += strings.ToUpper(text[t.GetStart() : t.GetStop()+1])
		if unsupportedStatements[words] {
			return &cql.Unsupported{Span: cql.Span{End: len(text)}, Name: words}
		}
	}
	return nil
}
