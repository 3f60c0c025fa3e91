package antlr3

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

// Our grammar factors out common prefixes of alternatives and decides on the next token; Cassandra's decides at the
// beginning of an alternative and looks further ahead. The functions below return where Cassandra's decisions begin,
// as its snippets show.

func startIndex(c antlr.Tree) int {
	return c.(antlr.ParserRuleContext).GetStart().GetTokenIndex()
}

// blockStart is the first token of the decision that found no alternative.
func blockStart(c antlr.ParserRuleContext, ts *stream.Tokens) int {
	start, pos := startIndex(c), ts.Pos
	switch c.GetRuleIndex() {
	case grammar.CqlParserRULE_createStatement:
		if pos == start+1 || ts.Is(start+1, grammar.CqlLexerK_OR) {
			return start
		}
	case grammar.CqlParserRULE_dropStatement, grammar.CqlParserRULE_relation, grammar.CqlParserRULE_alterStatement,
		grammar.CqlParserRULE_grantStatement, grammar.CqlParserRULE_revokeStatement, grammar.CqlParserRULE_listStatement:
		if pos == start+1 {
			return start
		}
	case grammar.CqlParserRULE_roleOption:
		if ts.Is(start, grammar.CqlLexerK_ACCESS) {
			return start
		}
	case grammar.CqlParserRULE_tableChange, grammar.CqlParserRULE_maskChange:
		if change := tableChangeStart(c, ts); change >= 0 {
			return change
		}
	case grammar.CqlParserRULE_resource:
		return start
	case grammar.CqlParserRULE_selectSuffix: // a.
		if operand := startIndex(c.GetParent()); operand == pos-2 && isName(&ts.All[operand]) {
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
		if startIndex(operand) == pos && startIndex(operand.GetParent()) < pos && isArithmetic(ts.All[pos-1].GetTokenType()) {
			return pos - 1
		}
	case grammar.CqlParserRULE_ident:
		if suffix, ok := c.GetParent().(*grammar.SelectSuffixContext); ok {
			return startIndex(suffix.GetParent())
		}
	}
	return pos
}

// tableChangeStart is the first token of a change of a table while its form (ALTER and DROP have two) is undecided,
// else -1.
func tableChangeStart(c antlr.ParserRuleContext, ts *stream.Tokens) int {
	start, undecided := startIndex(c), 1
	if c.GetRuleIndex() == grammar.CqlParserRULE_maskChange {
		start = startIndex(c.GetParent())
	}
	switch {
	case ts.Is(start+1, grammar.CqlLexerK_IF):
		return -1
	case ts.Is(start, grammar.CqlLexerK_ALTER), ts.Is(start+1, grammar.CqlLexerK_COMPACT):
		undecided = 2
	case !ts.Is(start, grammar.CqlLexerK_DROP):
		return -1
	}
	if ts.Pos > start+undecided {
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

// matchStart is the first token of a decision that Cassandra makes before it reaches the mismatched token, or -1 if
// there is none.
func matchStart(c antlr.ParserRuleContext, ts *stream.Tokens, wanted int) int {
	start, pos := startIndex(c), ts.Pos
	switch c.GetRuleIndex() {
	case grammar.CqlParserRULE_functionName:
		if _, called := c.GetParent().(*grammar.CallContext); called {
			return start
		}
	case grammar.CqlParserRULE_property:
		return start
	case grammar.CqlParserRULE_query: // IF EXISTS x, which could be a condition
		if ts.Is(pos-1, grammar.CqlLexerK_EXISTS) && ts.Is(pos-2, grammar.CqlLexerK_IF) {
			return pos - 1
		}
	case grammar.CqlParserRULE_updateStatement: // x = 1 + x, where x could be a function
		if wanted == grammar.CqlParserK_WHERE && addsColumn(c.(*grammar.UpdateStatementContext)) {
			return pos - 2
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
		if wanted == grammar.CqlParserRPAREN && ts.Is(pos-1, grammar.CqlLexerLPAREN) {
			return pos - 1
		}
	}
	return -1
}

// addsColumn reports whether the last assignment of an UPDATE ends with + and a column.
func addsColumn(c *grammar.UpdateStatementContext) bool {
	all := c.GetAssignments()
	if len(all) == 0 {
		return false
	}
	plain := all[len(all)-1].GetPlain()
	return plain != nil && plain.GetSum() != nil && plain.GetColumn() != nil
}
