package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// Our grammar shares the common beginnings of alternatives and decides on the next token; Cassandra's
// decides at the beginning and looks further. What follows says where Cassandra's decisions begin, as the
// snippets show it.

func startIndex(c antlr.Tree) int {
	return c.(antlr.ParserRuleContext).GetStart().GetTokenIndex()
}

// blockStart is the token at which the decision between alternatives began that found none.
func blockStart(c antlr.ParserRuleContext, ts *tokens) int {
	start, pos := startIndex(c), ts.pos
	switch c.GetRuleIndex() {
	case grammar.CqlParserRULE_createStatement, grammar.CqlParserRULE_dropStatement, grammar.CqlParserRULE_relation:
		if pos == start+1 {
			return start
		}
	case grammar.CqlParserRULE_call, grammar.CqlParserRULE_functionName, grammar.CqlParserRULE_property:
		return start
	case grammar.CqlParserRULE_inValues:
		if parent, ok := c.GetParent().(*grammar.RelationContext); ok {
			return startIndex(parent)
		}
	case grammar.CqlParserRULE_tupleValue:
		return pos - 1
	case grammar.CqlParserRULE_insertStatement:
		if start+3 == pos { // INSERT INTO table
			return pos - 1
		}
	case grammar.CqlParserRULE_simpleTerm:
		operand := c.GetParent()
		if startIndex(operand) == pos && startIndex(operand.GetParent()) < pos && isArithmetic(ts.all[pos-1].GetTokenType()) {
			return pos - 1
		}
	case grammar.CqlParserRULE_ident:
		if suffix, ok := c.GetParent().(*grammar.SelectSuffixContext); ok {
			return startIndex(suffix.GetParent())
		}
	}
	return pos
}

func isArithmetic(token int) bool {
	switch token {
	case grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
		grammar.CqlLexerPERCENT:
		return true
	}
	return false
}

// matchStart is the token at which a decision began that Cassandra takes before it comes to the token that
// does not match, or -1 if there is no such decision.
func matchStart(c antlr.ParserRuleContext, pos, wanted int) int {
	start := startIndex(c)
	switch c.GetRuleIndex() {
	case grammar.CqlParserRULE_functionName, grammar.CqlParserRULE_property:
		return start
	case grammar.CqlParserRULE_inTuples:
		return pos - 1
	case grammar.CqlParserRULE_call, grammar.CqlParserRULE_simpleTerm: // also CAST
		if wanted == grammar.CqlParserLPAREN || wanted == grammar.CqlParserRPAREN && pos == start+2 {
			return start
		}
	case grammar.CqlParserRULE_columnMask: // MASKED WITH function
		if wanted == grammar.CqlParserLPAREN {
			return start + 2
		}
	}
	return -1
}

// followDecisions are the rules at whose end Cassandra decides whether the next token can follow. Each
// returns where the decision began, or -1 if there is none, and the tokens that can follow such a rule
// anywhere.
var followDecisions = map[int]func(antlr.ParserRuleContext, *tokens) (int, map[int]bool){
	grammar.CqlParserRULE_term:          afterTerm,
	grammar.CqlParserRULE_assignedSum:   afterTerm,
	grammar.CqlParserRULE_selectOperand: afterSelected,
	grammar.CqlParserRULE_tableName:     afterOne(afterTable),
	grammar.CqlParserRULE_typeName:      afterOne(afterType),
	grammar.CqlParserRULE_deleteTarget:  afterOne(nil),
}

// afterTerm begins with the token behind the term, or with the marker that the term is.
func afterTerm(_ antlr.ParserRuleContext, ts *tokens) (int, map[int]bool) {
	if ts.all[ts.pos-1].GetTokenType() == grammar.CqlLexerQMARK {
		return ts.pos - 1, afterTerms
	}
	return ts.pos, afterTerms
}

// afterSelected decides only about names and markers.
func afterSelected(c antlr.ParserRuleContext, ts *tokens) (int, map[int]bool) {
	if startIndex(c) != ts.pos-1 {
		return -1, nil
	}
	switch ts.all[ts.pos-1].GetTokenType() {
	case grammar.CqlLexerSTRING_LITERAL, grammar.CqlLexerINTEGER, grammar.CqlLexerFLOAT, grammar.CqlLexerBOOLEAN,
		grammar.CqlLexerDURATION, grammar.CqlLexerUUID, grammar.CqlLexerHEXNUMBER, grammar.CqlLexerK_NULL:
		ts.LT(2)
		return -1, nil
	}
	return ts.pos - 1, afterSelection
}

// afterOne decides when the rule has taken one token.
func afterOne(follow map[int]bool) func(antlr.ParserRuleContext, *tokens) (int, map[int]bool) {
	return func(c antlr.ParserRuleContext, ts *tokens) (int, map[int]bool) {
		if start := startIndex(c); start == ts.pos-1 {
			return start, follow
		}
		return -1, nil
	}
}

var (
	afterTerms = tokenSet(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerCOLON, grammar.CqlLexerRANGE,
		grammar.CqlLexerK_AND, grammar.CqlLexerK_IF, grammar.CqlLexerK_WHERE, grammar.CqlLexerK_GROUP,
		grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER, grammar.CqlLexerK_LIMIT, grammar.CqlLexerK_ALLOW,
		grammar.CqlLexerK_ASC, grammar.CqlLexerK_DESC, grammar.CqlLexerK_AS, grammar.CqlLexerK_PRIMARY,
		grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE, grammar.CqlLexerK_APPLY)

	afterSelection = tokenSet(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerCOLON, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_AS, grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
		grammar.CqlLexerPERCENT, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER, grammar.CqlLexerK_LIMIT,
		grammar.CqlLexerK_ALLOW)

	afterTable = tokenSet(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerLPAREN, grammar.CqlLexerK_JSON,
		grammar.CqlLexerK_WHERE, grammar.CqlLexerK_GROUP, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER,
		grammar.CqlLexerK_LIMIT, grammar.CqlLexerK_ALLOW, grammar.CqlLexerK_USING, grammar.CqlLexerK_SET,
		grammar.CqlLexerK_PRIMARY, grammar.CqlLexerK_WITH, grammar.CqlLexerK_ADD, grammar.CqlLexerK_ALTER,
		grammar.CqlLexerK_DROP, grammar.CqlLexerK_RENAME, grammar.CqlLexerK_TO, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_OF, grammar.CqlLexerK_NORECURSIVE)

	afterType = tokenSet(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerGT, grammar.CqlLexerK_STATIC, grammar.CqlLexerK_MASKED, grammar.CqlLexerK_PRIMARY)
)

func tokenSet(tokens ...int) map[int]bool {
	set := map[int]bool{}
	for _, t := range tokens {
		set[t] = true
	}
	return set
}
