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
	case grammar.CqlParserRULE_createStatement:
		if pos == start+1 || ts.is(start+1, grammar.CqlLexerK_OR) {
			return start
		}
	case grammar.CqlParserRULE_dropStatement, grammar.CqlParserRULE_relation, grammar.CqlParserRULE_alterStatement,
		grammar.CqlParserRULE_grantStatement, grammar.CqlParserRULE_revokeStatement, grammar.CqlParserRULE_listStatement:
		if pos == start+1 {
			return start
		}
	case grammar.CqlParserRULE_roleOption:
		if ts.is(start, grammar.CqlLexerK_ACCESS) {
			return start
		}
	case grammar.CqlParserRULE_tableChange, grammar.CqlParserRULE_maskChange:
		if change := tableChangeStart(c, ts); change >= 0 {
			return change
		}
	case grammar.CqlParserRULE_resource:
		return start
	case grammar.CqlParserRULE_selectSuffix: // a.
		if operand := startIndex(c.GetParent()); operand == pos-2 && isName(ts.all[operand]) {
			return operand
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

// tableChangeStart is the word with which a change of a table began, as long as it is not decided which one it
// is: ALTER has two forms and DROP too. -1 if it is decided.
func tableChangeStart(c antlr.ParserRuleContext, ts *tokens) int {
	start, undecided := startIndex(c), 1
	if c.GetRuleIndex() == grammar.CqlParserRULE_maskChange {
		start = startIndex(c.GetParent())
	}
	switch {
	case ts.is(start+1, grammar.CqlLexerK_IF):
		return -1
	case ts.is(start, grammar.CqlLexerK_ALTER), ts.is(start+1, grammar.CqlLexerK_COMPACT):
		undecided = 2
	case !ts.is(start, grammar.CqlLexerK_DROP):
		return -1
	}
	if ts.pos > start+undecided {
		return -1
	}
	return start
}

// isName reports whether a token can only be a name.
func isName(t antlr.Token) bool {
	return t.GetTokenType() == grammar.CqlLexerIDENT || t.GetTokenType() == grammar.CqlLexerQUOTED_NAME
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
func matchStart(c antlr.ParserRuleContext, ts *tokens, wanted int) int {
	start, pos := startIndex(c), ts.pos
	switch c.GetRuleIndex() {
	case grammar.CqlParserRULE_functionName:
		if _, called := c.GetParent().(*grammar.CallContext); called {
			return start
		}
	case grammar.CqlParserRULE_property:
		return start
	case grammar.CqlParserRULE_query: // IF EXISTS x, which could be a condition
		if ts.is(pos-1, grammar.CqlLexerK_EXISTS) && ts.is(pos-2, grammar.CqlLexerK_IF) {
			return pos - 1
		}
	case grammar.CqlParserRULE_userPassword:
		if wanted == grammar.CqlParserK_PASSWORD && pos == start {
			return start
		}
	case grammar.CqlParserRULE_countTail:
		if pos == start+1 {
			return start - 1
		}
	case grammar.CqlParserRULE_createStatement:
		if wanted == grammar.CqlParserK_REPLACE {
			return start
		}
	case grammar.CqlParserRULE_inTuples:
		return pos - 1
	case grammar.CqlParserRULE_call, grammar.CqlParserRULE_otherTerm: // also CAST
		if wanted == grammar.CqlParserLPAREN || wanted == grammar.CqlParserRPAREN && pos == start+2 {
			return start
		}
	case grammar.CqlParserRULE_columnMask: // MASKED WITH function
		if wanted == grammar.CqlParserLPAREN {
			return start + 2
		}
		if wanted == grammar.CqlParserRPAREN && ts.is(pos-1, grammar.CqlLexerLPAREN) {
			return pos - 1
		}
	}
	return -1
}

// followDecisions are the rules, by their index, at whose end Cassandra decides whether the next token can
// follow. Each returns where the decision began, or -1 if there is none, and the tokens that can follow such a
// rule anywhere.
var followDecisions = [...]func(antlr.ParserRuleContext, *tokens) (int, *tokenSet){
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

// afterTerm begins with the token behind the term, or with the marker that the term is.
func afterTerm(_ antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	if ts.all[ts.pos-1].GetTokenType() == grammar.CqlLexerQMARK {
		return ts.pos - 1, afterTerms
	}
	return ts.pos, afterTerms
}

// afterSelected decides only about names and markers.
func afterSelected(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
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

// afterTableName looks for less behind a resource.
func afterTableName(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	follow := afterTable
	if _, ok := c.GetParent().(*grammar.ResourceContext); ok {
		follow = afterResource
	}
	return afterOne(follow)(c, ts)
}

// afterFunctionName decides about functions that are not called.
func afterFunctionName(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	if _, called := c.GetParent().(*grammar.CallContext); called {
		return -1, nil
	}
	return afterOne(afterFunction)(c, ts)
}

// afterDescribed decides nothing; behind the word for a list Cassandra has looked two tokens further.
func afterDescribed(_ antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	if ts.pos == 2 && !ts.is(1, grammar.CqlLexerK_SCHEMA) {
		ts.LT(2)
	}
	return -1, nil
}

// afterTypeName decides only about words that could also be the keyspace of a user type.
func afterTypeName(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	t := c.(*grammar.TypeNameContext)
	if t.GetNative() == nil && t.GetCollection() == nil {
		return -1, nil
	}
	return afterOne(afterType)(c, ts)
}

// afterResourceName decides behind ALL FUNCTIONS.
func afterResourceName(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
	if start := startIndex(c); start == ts.pos-2 && ts.is(start+1, grammar.CqlLexerK_FUNCTIONS) {
		return start, afterResource
	}
	return -1, nil
}

// afterOne decides when the rule has taken one token.
func afterOne(follow *tokenSet) func(antlr.ParserRuleContext, *tokens) (int, *tokenSet) {
	return func(c antlr.ParserRuleContext, ts *tokens) (int, *tokenSet) {
		if start := startIndex(c); start == ts.pos-1 {
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

	afterSelection = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLBRACKET, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
		grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerCOLON, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_AS, grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
		grammar.CqlLexerPERCENT, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER, grammar.CqlLexerK_LIMIT,
		grammar.CqlLexerK_ALLOW)

	afterTable = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLPAREN, grammar.CqlLexerK_JSON,
		grammar.CqlLexerK_WHERE, grammar.CqlLexerK_GROUP, grammar.CqlLexerK_ORDER, grammar.CqlLexerK_PER,
		grammar.CqlLexerK_LIMIT, grammar.CqlLexerK_ALLOW, grammar.CqlLexerK_USING, grammar.CqlLexerK_SET,
		grammar.CqlLexerK_PRIMARY, grammar.CqlLexerK_WITH, grammar.CqlLexerK_ADD, grammar.CqlLexerK_ALTER,
		grammar.CqlLexerK_DROP, grammar.CqlLexerK_RENAME, grammar.CqlLexerK_TO, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_OF, grammar.CqlLexerK_NORECURSIVE, grammar.CqlLexerK_AS)

	afterResource = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerK_TO, grammar.CqlLexerK_FROM,
		grammar.CqlLexerK_OF, grammar.CqlLexerK_NORECURSIVE)

	afterIndex = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerCOMMA)

	afterFunction = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerLPAREN, grammar.CqlLexerK_WITH)

	afterType = setOf(antlr.TokenEOF, grammar.CqlLexerSEMICOLON, grammar.CqlLexerDOT, grammar.CqlLexerCOMMA, grammar.CqlLexerRPAREN,
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

// has reports whether a token is in the set; nothing is in no set.
func (s *tokenSet) has(t int) bool { return s != nil && s[(t+1)/64]&(1<<((t+1)%64)) != 0 }
