// Package stream turns a text into the token stream of the parser.
//
// Input feeds the generated lexer, Tokens is the stream and Lexeme a token. ReadStatement limits the number of tokens
// and their nesting (limits.go), and folds long runs of plain terms into single tokens (run.go).
package stream

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// Tokens is the parser's token stream: all tokens of a text. It records how far the parser looked ahead, which error
// messages depend on.
type Tokens struct {
	Text     string
	All      []Lexeme // ends with the end of the text
	Pos      int      // index of the next token
	Looked   int      // the highest index that was asked for
	Furthest int      // where the last prediction ended, until a token is consumed

	source  antlr.TokenSource
	folding folding
	nesting nesting
}

// Read fills the stream from the lexer of a text.
func (ts *Tokens) Read(lexer *grammar.CqlLexer, in *Input) {
	ts.open(lexer, in)
	for ts.next(lexer, in) {
	}
}

// ReadStatement is Read for the text of a statement. It folds long runs of terms into one token, and refuses a text
// with too many tokens or too deep nesting.
func (ts *Tokens) ReadStatement(lexer *grammar.CqlLexer, in *Input, maxDepth int) error {
	ts.open(lexer, in)
	ts.nesting.maxDepth = maxDepth
	count := counting{length: len(in.text)}
	for more := true; more; {
		if run := ts.folding.take(in.pos); run != nil {
			ts.addRun(run)
			in.pos = run.End
		}
		before := len(ts.All)
		more = ts.next(lexer, in)
		for _, t := range ts.All[before:] {
			ts.folding.enable(t.kind, ts.All[0].kind)
			if ts.folding.on {
				ts.folding.find(t.kind, in.text, in.pos)
			}
			if err := ts.nesting.check(t.kind); err != nil {
				return err
			}
			if err := count.check(t.kind, len(ts.All)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (ts *Tokens) open(lexer *grammar.CqlLexer, in *Input) {
	ts.Text, ts.All, ts.Pos, ts.Looked, ts.source = in.text, ts.All[:0], 0, 0, lexer
	ts.folding.reset()
	ts.nesting.reset()
}

// next adds the next token, or both tokens of 1.. or 1..., and returns false at the end of the text. The lexer's own
// method would allocate each token.
func (ts *Tokens) next(lexer *grammar.CqlLexer, in *Input) bool {
	for in.pos < len(in.text) {
		start := in.pos
		kind := in.skipLiteral()
		if kind == antlr.TokenInvalidType {
			kind = lexer.Interpreter.Match(in, antlr.LexerDefaultMode)
		}
		switch kind {
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

func (ts *Tokens) add(kind, start, stop int) {
	ts.All = append(ts.All, Lexeme{int32(kind), int32(start), int32(stop), int32(len(ts.All))})
}

// addRange adds the two tokens of 1.. or 1...
func (ts *Tokens) addRange(text string, start, stop int) {
	dots := stop - 1
	number := grammar.CqlLexerINTEGER
	if text[dots-1] == '.' {
		number = grammar.CqlLexerFLOAT
	}
	ts.add(number, start, dots-1)
	ts.add(grammar.CqlLexerRANGE, dots, stop)
}

// Rewind goes back to the beginning for another attempt.
func (ts *Tokens) Rewind() { ts.Pos, ts.Looked, ts.Furthest = 0, 0, 0 }

// Clear removes the text, so that a pooled stream does not keep it alive.
func (ts *Tokens) Clear() {
	ts.Text, ts.All = "", ts.All[:0]
	ts.folding.reset()
}

// LT returns the token k places ahead; 1 is the next.
func (ts *Tokens) LT(k int) antlr.Token {
	i := ts.Pos + k - 1
	if k < 0 {
		i++
	}
	if i < 0 {
		return nil
	}
	i = min(i, len(ts.All)-1)
	ts.Looked = max(ts.Looked, i)
	return &ts.All[i]
}

// LA returns the type of the token k places ahead.
func (ts *Tokens) LA(k int) int { return ts.LT(k).GetTokenType() }

// Consume moves to the next token, but not past the end of the text.
func (ts *Tokens) Consume() {
	if ts.Pos < len(ts.All)-1 {
		ts.Pos++
	}
	ts.Furthest = 0
}

// Reset goes back to the first token.
func (ts *Tokens) Reset() { ts.Pos = 0 }

// Get returns the token at an index.
func (ts *Tokens) Get(i int) antlr.Token { return &ts.All[i] }

// Mark does nothing: all tokens are kept.
func (ts *Tokens) Mark() int { return 0 }

// Release is the other half of Mark.
func (ts *Tokens) Release(int) {}

// Index is the index of the next token.
func (ts *Tokens) Index() int { return ts.Pos }

// Size is the number of tokens, the end of the text included.
func (ts *Tokens) Size() int { return len(ts.All) }

// GetSourceName returns a name for messages of the runtime.
func (ts *Tokens) GetSourceName() string { return "statement" }

// GetTokenSource returns the lexer.
func (ts *Tokens) GetTokenSource() antlr.TokenSource { return ts.source }

// SetTokenSource sets the lexer that GetTokenSource returns; the tokens stay.
func (ts *Tokens) SetTokenSource(s antlr.TokenSource) { ts.source = s }

// Seek returns to the place where a prediction began.
func (ts *Tokens) Seek(i int) {
	if ts.Pos > i {
		ts.Furthest = ts.Pos
	}
	ts.Pos = i
}

// The generated parser does not use the texts of the stream; the interface requires them.

// GetAllText joins the texts of all tokens.
func (ts *Tokens) GetAllText() string {
	return ts.GetTextFromInterval(antlr.NewInterval(0, len(ts.All)-1))
}

// GetTextFromInterval joins the texts of tokens between two indexes, both inclusive.
func (ts *Tokens) GetTextFromInterval(i antlr.Interval) string {
	text := ""
	for j := i.Start; j <= i.Stop; j++ {
		text += ts.All[j].GetText()
	}
	return text
}

// GetTextFromRuleContext joins the texts of the tokens that a rule matched.
func (ts *Tokens) GetTextFromRuleContext(c antlr.RuleContext) string {
	return ts.GetTextFromInterval(c.GetSourceInterval())
}

// GetTextFromTokens joins the texts of tokens from one to another, both inclusive.
func (ts *Tokens) GetTextFromTokens(start, end antlr.Token) string {
	return ts.GetTextFromInterval(antlr.NewInterval(start.GetTokenIndex(), end.GetTokenIndex()))
}

// Is reports whether the token at an index exists and has a type.
func (ts *Tokens) Is(index, token int) bool {
	return index < len(ts.All) && ts.All[index].GetTokenType() == token
}

// Input is the text for the lexer, which reads it byte by byte: positions are byte offsets, and runes are not decoded.
// Only strings, names and comments may have bytes outside ASCII.
type Input struct {
	text string
	pos  int
}

// Consume moves to the next byte.
func (in *Input) Consume() { in.pos++ }

// symbols maps each byte to the symbol that the lexer gets. The lexer caches decisions for ASCII only, so other bytes
// become DEL, with which no token begins, except the bytes of µ in durations, C2 and B5, which become 1 and 2.
var symbols = func() (s [256]byte) {
	for b := range s {
		s[b] = byte(b)
		if b >= 0x80 || b == 1 || b == 2 {
			s[b] = 0x7F
		}
	}
	s[0xC2], s[0xB5] = 1, 2
	return s
}()

// skipLiteral skips a string or a blob and returns its kind, or antlr.TokenInvalidType if the text goes on with
// something else. The lexer would take about 35 ns for each byte.
func (in *Input) skipLiteral() (kind int) {
	rest := in.text[in.pos:]
	switch {
	case rest[0] == '\'':
		end := 1
		for {
			i := strings.IndexByte(rest[end:], '\'')
			if i < 0 {
				return antlr.TokenInvalidType
			}
			end += i + 1
			if end == len(rest) || rest[end] != '\'' {
				break
			}
			end++
		}
		in.pos += end
		return grammar.CqlLexerSTRING_LITERAL
	case strings.HasPrefix(rest, "$$"):
		i := strings.Index(rest[2:], "$$")
		if i < 0 {
			return antlr.TokenInvalidType
		}
		in.pos += i + 4
		return grammar.CqlLexerSTRING_LITERAL
	case strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X"):
		in.pos += len(rest) - len(strings.TrimLeft(rest[2:], "0123456789abcdefABCDEF"))
		return grammar.CqlLexerHEXNUMBER
	}
	return antlr.TokenInvalidType
}

// LA returns the symbol k places ahead, the next being at 1, or antlr.TokenEOF.
func (in *Input) LA(k int) int {
	if k < 0 {
		k++
	}
	if i := in.pos + k - 1; i >= 0 && i < len(in.text) {
		return int(symbols[in.text[i]])
	}
	return antlr.TokenEOF
}

// Mark does nothing: the whole text is kept.
func (in *Input) Mark() int { return -1 }

// Release is the other half of Mark.
func (in *Input) Release(int) {}

// Index is the byte offset of the next symbol.
func (in *Input) Index() int { return in.pos }

// Seek moves to a byte offset.
func (in *Input) Seek(i int) { in.pos = i }

// Size is the number of bytes.
func (in *Input) Size() int { return len(in.text) }

// GetSourceName returns a name for messages of the runtime.
func (in *Input) GetSourceName() string { return "statement" }

// GetText returns the text between two offsets, both inclusive.
func (in *Input) GetText(start, stop int) string {
	stop = min(stop, len(in.text)-1)
	if start > stop {
		return ""
	}
	return in.text[start : stop+1]
}

// GetTextFromTokens returns the text from the first byte of one token to the last of another.
func (in *Input) GetTextFromTokens(start, end antlr.Token) string {
	return in.GetText(start.GetStart(), end.GetStop())
}

// GetTextFromInterval is GetText for an interval of offsets.
func (in *Input) GetTextFromInterval(i antlr.Interval) string { return in.GetText(i.Start, i.Stop) }

// Lexeme is a token of 16 bytes: a text has as many as words.
type Lexeme struct {
	kind, start, stop, index int32
}

// GetTokenType is a token type of the generated lexer, or antlr.TokenEOF.
func (t *Lexeme) GetTokenType() int { return int(t.kind) }

// GetStart is the byte offset of the token.
func (t *Lexeme) GetStart() int { return int(t.start) }

// GetStop is the byte offset of its last byte.
func (t *Lexeme) GetStop() int { return int(t.stop) }

// GetTokenIndex is its index among the tokens of the text.
func (t *Lexeme) GetTokenIndex() int { return int(t.index) }

// SetTokenIndex is called by the runtime for tokens that it inserts.
func (t *Lexeme) SetTokenIndex(i int) { t.index = int32(i) }

// GetChannel is the default channel: blanks and comments are no tokens.
func (*Lexeme) GetChannel() int { return antlr.TokenDefaultChannel }

// SetText does nothing: the text of a token is in the statement.
func (*Lexeme) SetText(string) {}

// String is empty, like GetText.
func (t *Lexeme) String() string { return t.GetText() }

// The interface requires the following methods; the generated parser does not call them.

// GetText is empty: a token does not know its statement.
func (*Lexeme) GetText() string { return "" }

// GetLine is 0: errors count lines themselves.
func (*Lexeme) GetLine() int { return 0 }

// GetColumn is 0: errors count columns themselves.
func (*Lexeme) GetColumn() int { return 0 }

// GetSource is nil, to keep tokens small.
func (*Lexeme) GetSource() *antlr.TokenSourceCharStreamPair { return nil }

// GetTokenSource is nil, to keep tokens small.
func (*Lexeme) GetTokenSource() antlr.TokenSource { return nil }

// GetInputStream is nil, to keep tokens small.
func (*Lexeme) GetInputStream() antlr.CharStream { return nil }

// NewInput returns the input for a text.
func NewInput(text string) Input { return Input{text: text} }

// DropBad removes invalid tokens from the stream, as Cassandra's lexer does after reporting them. It returns the first
// one and the index of the token after it: the error counts if the parser looked as far as that token.
func (ts *Tokens) DropBad() (bad *Lexeme, before int) {
	kept := ts.All[:0]
	for _, t := range ts.All {
		if t.kind >= grammar.CqlLexerBAD_UUID {
			if bad == nil {
				bad, before = &Lexeme{kind: t.kind, start: t.start, stop: t.stop}, len(kept)
			}
			continue
		}
		t.index = int32(len(kept))
		kept = append(kept, t)
	}
	ts.All = kept
	return bad, before
}

// Content is the text of a token, of strings and names without quotes.
func Content(word string, token int) string {
	switch {
	case token == grammar.CqlLexerSTRING_LITERAL && word[0] == '$':
		return word[2 : len(word)-2]
	case token == grammar.CqlLexerSTRING_LITERAL:
		return strings.ReplaceAll(word[1:len(word)-1], "''", "'")
	case token == grammar.CqlLexerQUOTED_NAME:
		return strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)
	}
	return word
}
