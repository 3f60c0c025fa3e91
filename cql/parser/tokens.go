package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// tokens is the parser's token stream: all tokens of a text, the last being the end of the text. It
// remembers how far the parser looked, which errors depend on.
type tokens struct {
	all    []lexeme
	pos    int
	looked int // the highest index that was asked for
	sought int // where the last prediction ended, until a token is consumed
	source antlr.TokenSource

	folding folding
	nesting nesting
}

// read fills the stream from the lexer of a text.
func (ts *tokens) read(lexer *grammar.CqlLexer, in *input) {
	ts.begin(lexer)
	for ts.next(lexer, in) {
	}
}

// readStatement is read for the text of a statement: long runs of terms become one token, and a text with too many
// tokens besides is refused.
func (ts *tokens) readStatement(lexer *grammar.CqlLexer, in *input) error {
	ts.begin(lexer)
	count := counting{length: len(in.text)}
	for more := true; more; {
		if run := ts.folding.at(in.pos); run != nil {
			ts.addRun(run)
			in.pos = run.End
		}
		before := len(ts.all)
		more = ts.next(lexer, in)
		for _, t := range ts.all[before:] {
			ts.folding.begins(t.kind, ts.all[0].kind)
			if ts.folding.on {
				ts.folding.look(t.kind, in.text, in.pos)
			}
			if err := ts.nesting.add(t.kind); err != nil {
				return err
			}
			if err := count.add(t.kind, len(ts.all)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (ts *tokens) begin(lexer *grammar.CqlLexer) {
	ts.all, ts.pos, ts.looked, ts.source = ts.all[:0], 0, 0, lexer
	ts.folding.reset()
	ts.nesting.reset()
}

// next adds the next token, or the two of 1.. or 1..., and reports whether it was not the end of the text. The lexer's
// own method would make an object of each.
func (ts *tokens) next(lexer *grammar.CqlLexer, in *input) bool {
	for in.pos < len(in.text) {
		start := in.pos
		switch kind := lexer.Interpreter.Match(in, antlr.LexerDefaultMode); kind {
		case grammar.CqlLexerBLANK, grammar.CqlLexerLINE_COMMENT, grammar.CqlLexerBLOCK_COMMENT:
		case grammar.CqlLexerINTEGER_RANGE:
			ts.addRange(in.text, start, in.pos-1)
			return true
		default:
			ts.add(kind, start, in.pos-1)
			return true
		}
	}
	ts.add(antlr.TokenEOF, in.pos, in.pos-1)
	return false
}

func (ts *tokens) add(kind, start, stop int) {
	ts.all = append(ts.all, lexeme{int32(kind), int32(start), int32(stop), int32(len(ts.all))})
}

// addRange adds the two tokens of 1.. or 1...
func (ts *tokens) addRange(text string, start, stop int) {
	dots := stop - 1
	number := grammar.CqlLexerINTEGER
	if text[dots-1] == '.' {
		number = grammar.CqlLexerFLOAT
	}
	ts.add(number, start, dots-1)
	ts.add(grammar.CqlLexerRANGE, dots, stop)
}

// rewind goes back to the beginning for another attempt.
func (ts *tokens) rewind() { ts.pos, ts.looked, ts.sought = 0, 0, 0 }

// release forgets the tokens, so that a pooled stream does not keep a text alive.
func (ts *tokens) release() {
	ts.all = ts.all[:0]
	ts.folding.reset()
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
	return &ts.all[i]
}

// LA is the kind of the token k places ahead, as the generated parser asks for it.
func (ts *tokens) LA(k int) int { return ts.LT(k).GetTokenType() }

// Consume goes on to the next token; the end of the text stays.
func (ts *tokens) Consume() {
	if ts.pos < len(ts.all)-1 {
		ts.pos++
	}
	ts.sought = 0
}

// Reset goes back to the first token.
func (ts *tokens) Reset() { ts.pos = 0 }

// Get returns the token at an index.
func (ts *tokens) Get(i int) antlr.Token { return &ts.all[i] }

// Mark has nothing to do: all tokens are kept.
func (ts *tokens) Mark() int { return 0 }

// Release is the other half of Mark.
func (ts *tokens) Release(int) {}

// Index is the place of the next token.
func (ts *tokens) Index() int { return ts.pos }

// Size is the number of tokens, the end of the text among them.
func (ts *tokens) Size() int { return len(ts.all) }

// GetSourceName is the name that the runtime would print in messages of its own.
func (ts *tokens) GetSourceName() string { return "statement" }

// GetTokenSource returns the lexer.
func (ts *tokens) GetTokenSource() antlr.TokenSource { return ts.source }

// SetTokenSource sets the lexer that GetTokenSource returns; the tokens stay.
func (ts *tokens) SetTokenSource(s antlr.TokenSource) { ts.source = s }

// Seek goes back to where a prediction began.
func (ts *tokens) Seek(i int) {
	if ts.pos > i {
		ts.sought = ts.pos
	}
	ts.pos = i
}

// The stream's texts are not used by the generated parser; they belong to the interface.

// GetAllText joins the texts of all tokens.
func (ts *tokens) GetAllText() string {
	return ts.GetTextFromInterval(antlr.NewInterval(0, len(ts.all)-1))
}

// GetTextFromInterval joins the texts of tokens between two indexes, both inclusive.
func (ts *tokens) GetTextFromInterval(i antlr.Interval) string {
	text := ""
	for j := i.Start; j <= i.Stop; j++ {
		text += ts.all[j].GetText()
	}
	return text
}

// GetTextFromRuleContext joins the texts of the tokens that a rule matched.
func (ts *tokens) GetTextFromRuleContext(c antlr.RuleContext) string {
	return ts.GetTextFromInterval(c.GetSourceInterval())
}

// GetTextFromTokens joins the texts of tokens from one to another, both inclusive.
func (ts *tokens) GetTextFromTokens(start, end antlr.Token) string {
	return ts.GetTextFromInterval(antlr.NewInterval(start.GetTokenIndex(), end.GetTokenIndex()))
}

// is reports whether the token at an index is there and of a type.
func (ts *tokens) is(index, token int) bool {
	return index < len(ts.all) && ts.all[index].GetTokenType() == token
}
