package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// tokens is the parser's token stream: all tokens of a text, the last being the end of the text. It
// remembers how far the parser looked, which errors depend on.
type tokens struct {
	all    []antlr.Token
	pos    int
	looked int // the highest index that was asked for
	sought int // where the last prediction ended, until a token is consumed
	source antlr.TokenSource
}

// read fills the stream from the lexer of a text.
func (ts *tokens) read(lexer *grammar.CqlLexer, text string) {
	ts.all, ts.pos, ts.looked, ts.source = ts.all[:0], 0, 0, lexer
	for {
		t := lexer.NextToken()
		if t.GetTokenType() == grammar.CqlLexerINTEGER_RANGE {
			ts.splitRange(t, text)
		} else {
			ts.add(t)
		}
		if t.GetTokenType() == antlr.TokenEOF {
			return
		}
	}
}

func (ts *tokens) add(t antlr.Token) {
	t.SetTokenIndex(len(ts.all))
	ts.all = append(ts.all, t)
}

// splitRange adds the two tokens of 1.. or 1...
func (ts *tokens) splitRange(t antlr.Token, text string) {
	dots := t.GetStop() - 1
	number := grammar.CqlLexerINTEGER
	if text[dots-1] == '.' {
		number = grammar.CqlLexerFLOAT
	}
	factory := antlr.CommonTokenFactoryDEFAULT
	ts.add(factory.Create(t.GetSource(), number, "", antlr.TokenDefaultChannel,
		t.GetStart(), dots-1, t.GetLine(), t.GetColumn()))
	ts.add(factory.Create(t.GetSource(), grammar.CqlLexerRANGE, "", antlr.TokenDefaultChannel,
		dots, t.GetStop(), t.GetLine(), t.GetColumn()+dots-t.GetStart()))
}

// rewind goes back to the beginning for another attempt.
func (ts *tokens) rewind() { ts.pos, ts.looked, ts.sought = 0, 0, 0 }

// release forgets the tokens, so that a pooled stream does not keep a text alive.
func (ts *tokens) release() {
	clear(ts.all)
	ts.all = ts.all[:0]
}

// LT returns the token k places ahead, the next being at 1.
func (ts *tokens) LT(k int) antlr.Token {
	i := ts.pos + k - 1
	if k < 0 {
		i++
	}
	if i < 0 {
		return nil
	}
	i = min(i, len(ts.all)-1)
	ts.looked = max(ts.looked, i)
	return ts.all[i]
}

func (ts *tokens) LA(k int) int { return ts.LT(k).GetTokenType() }

func (ts *tokens) Consume() {
	if ts.pos < len(ts.all)-1 {
		ts.pos++
	}
	ts.sought = 0
}

func (ts *tokens) Reset()                             { ts.pos = 0 }
func (ts *tokens) Get(i int) antlr.Token              { return ts.all[i] }
func (ts *tokens) Mark() int                          { return 0 }
func (ts *tokens) Release(int)                        {}
func (ts *tokens) Index() int                         { return ts.pos }
func (ts *tokens) Size() int                          { return len(ts.all) }
func (ts *tokens) GetSourceName() string              { return "statement" }
func (ts *tokens) GetTokenSource() antlr.TokenSource  { return ts.source }
func (ts *tokens) SetTokenSource(s antlr.TokenSource) { ts.source = s }

// Seek goes back to where a prediction began.
func (ts *tokens) Seek(i int) {
	if ts.pos > i {
		ts.sought = ts.pos
	}
	ts.pos = i
}

// The stream's texts are not used by the generated parser; they belong to the interface.

func (ts *tokens) GetAllText() string {
	return ts.GetTextFromInterval(antlr.NewInterval(0, len(ts.all)-1))
}

func (ts *tokens) GetTextFromInterval(i antlr.Interval) string {
	text := ""
	for _, t := range ts.all[i.Start : i.Stop+1] {
		text += t.GetText()
	}
	return text
}

func (ts *tokens) GetTextFromRuleContext(c antlr.RuleContext) string {
	return ts.GetTextFromInterval(c.GetSourceInterval())
}

func (ts *tokens) GetTextFromTokens(start, end antlr.Token) string {
	return ts.GetTextFromInterval(antlr.NewInterval(start.GetTokenIndex(), end.GetTokenIndex()))
}

// is reports whether the token at an index is there and of a type.
func (ts *tokens) is(index, token int) bool {
	return index < len(ts.all) && ts.all[index].GetTokenType() == token
}
