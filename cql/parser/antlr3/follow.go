package antlr3

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

// followDecisions has, by index, the rules at whose end Cassandra decides whether the next token can follow. Each
// function returns the first token of the decision, or -1 if there is none, and the tokens that can follow the rule
// anywhere.
var followDecisions = [...]func(antlr.ParserRuleContext, *stream.Tokens) (int, *tokenSet){
	grammar.CqlParserRULE_term:          afterTerm,
	grammar.CqlParserRULE_assignedSum:   afterTerm,
	grammar.CqlParserRULE_selectOperand: afterSelected,
	grammar.CqlParserRULE_tableName:     afterTableName,
	grammar.CqlParserRULE_indexName:     afterOne(afterIndex),
	grammar.CqlParserRULE_functionName:  afterFunctionName,
	grammar.CqlParserRULE_typeName:      afterTypeName,
	grammar.CqlParserRULE_resource:      afterResourceName,

	grammar.CqlParserRULE_describeStatement: afterDescribed,
	grammar.CqlParserRULE_deleteTarget:      afterOne(nil),
}

// afterTerm begins with the token after the term, or with the term if it is a marker.
func afterTerm(_ antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	if ts.All[ts.Pos-1].GetTokenType() == grammar.CqlLexerQMARK {
		return ts.Pos - 1, afterTerms
	}
	return ts.Pos, afterTerms
}

// afterSelected decides only about names and markers.
func afterSelected(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	if startIndex(c) != ts.Pos-1 {
		return -1, nil
	}
	switch ts.All[ts.Pos-1].GetTokenType() {
	case grammar.CqlLexerSTRING_LITERAL, grammar.CqlLexerINTEGER, grammar.CqlLexerFLOAT, grammar.CqlLexerBOOLEAN,
		grammar.CqlLexerDURATION, grammar.CqlLexerUUID, grammar.CqlLexerHEXNUMBER, grammar.CqlLexerK_NULL:
		ts.LT(2)
		return -1, nil
	}
	return ts.Pos - 1, afterSelection
}

// afterTableName expects fewer tokens after a resource.
func afterTableName(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	follow := afterTable
	if _, ok := c.GetParent().(*grammar.ResourceContext); ok {
		follow = afterResource
	}
	return afterOne(follow)(c, ts)
}

// afterFunctionName decides about functions that are not called.
func afterFunctionName(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	if _, called := c.GetParent().(*grammar.CallContext); called {
		return -1, nil
	}
	return afterOne(afterFunction)(c, ts)
}

// afterDescribed decides nothing; after the word for a list Cassandra has looked two tokens ahead.
func afterDescribed(_ antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	if ts.Pos == 2 && !ts.Is(1, grammar.CqlLexerK_SCHEMA) {
		ts.LT(2)
	}
	return -1, nil
}

// afterTypeName decides only about words that could also be the keyspace of a user type.
func afterTypeName(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	t := c.(*grammar.TypeNameContext)
	if t.GetNative() == nil && t.GetCollection() == nil {
		return -1, nil
	}
	return afterOne(afterType)(c, ts)
}

// afterResourceName decides after ALL FUNCTIONS.
func afterResourceName(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
	if start := startIndex(c); start == ts.Pos-2 && ts.Is(start+1, grammar.CqlLexerK_FUNCTIONS) {
		return start, afterResource
	}
	return -1, nil
}

// afterOne decides when the rule has taken one token.
func afterOne(follow *tokenSet) func(antlr.ParserRuleContext, *stream.Tokens) (int, *tokenSet) {
	return func(c antlr.ParserRuleContext, ts *stream.Tokens) (int, *tokenSet) {
		if start := startIndex(c); start == ts.Pos-1 {
			return start, follow
		}
		return -1, nil
	}
}

var (
	afterTerms = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerPLUS, grammar.CqlLexerMINUS,
		grammar.CqlLexerSTAR, grammar.CqlLexerSLASH, grammar.CqlLexerPERCENT, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerCOLON, grammar.CqlLexerRANGE,
		grammar.CqlLexerK_AND, grammar.CqlLexerK_IF, grammar.CqlLexerK_WHERE, grammar.CqlLexerK_GROUP,
		grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER, grammar.CqlLexerK_LIMIT, grammar.CqlLexerK_ALLOW,
		grammar.CqlLexerK_ASC, grammar.CqlLexerK_DESC, grammar.CqlLexerK_AS, grammar.CqlLexerK_PRIMARY,
		grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE, grammar.CqlLexerK_APPLY)

	afterSelection = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLBRACKET,
		grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerCOLON, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_AS, grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
		grammar.CqlLexerPERCENT, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER, grammar.CqlLexerK_LIMIT,
		grammar.CqlLexerK_ALLOW)

	afterTable = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLPAREN,
		grammar.CqlLexerK_JSON,
		grammar.CqlLexerK_WHERE, grammar.CqlLexerK_GROUP, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER,
		grammar.CqlLexerK_LIMIT, grammar.CqlLexerK_ALLOW, grammar.CqlLexerK_USING, grammar.CqlLexerK_SET,
		grammar.CqlLexerK_PRIMARY, grammar.CqlLexerK_WITH, grammar.CqlLexerK_ADD, grammar.CqlLexerK_ALTER,
		grammar.CqlLexerK_DROP, grammar.CqlLexerK_RENAME, grammar.CqlLexerK_TO, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_OF, grammar.CqlLexerK_NORECURSIVE, grammar.CqlLexerK_AS)

	afterResource = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerK_TO, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_OF, grammar.CqlLexerK_NORECURSIVE)

	afterIndex = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerCOMMA)

	afterFunction = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLPAREN,
		grammar.CqlLexerK_WITH)

	afterType = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerCOMMA,
		grammar.CqlLexerRPAREN,
		grammar.CqlLexerGT, grammar.CqlLexerK_STATIC, grammar.CqlLexerK_MASKED, grammar.CqlLexerK_PRIMARY,
		grammar.CqlLexerK_LANGUAGE, grammar.CqlLexerK_FINALFUNC, grammar.CqlLexerK_INITCOND)
)

// tokenSet is a set of token types, and of the end of the text.
type tokenSet [4]uint64

func setOf(tokens ...int) *tokenSet {
	set := &tokenSet{}
	for _, t := range tokens {
		set[(t+1)/64] |= 1 << ((t + 1) % 64)
	}
	return set
}

// has reports whether a token is in the set; a nil set is empty.
func (s *tokenSet) has(t int) bool { return s != nil && s[(t+1)/64]&(1<<((t+1)%64)) != 0 }
