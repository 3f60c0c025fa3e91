package parser

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/grammar"
)

// A snippet shows so many tokens around the one that is marked, blanks and comments counted as tokens.
const (
	snippetBefore = 10
	snippetAfter  = 2
)

// at is where a token stands: line 1:7. The end of the text has no place.
func (m *machine) at(pos int) string {
	t := &m.tokens.all[pos]
	if t.GetTokenType() == antlr.TokenEOF {
		return "line 0:-1"
	}
	return position(m.input.text, t.GetStart())
}

// position is a place in the text as line and column, the column in UTF-16 units from 0.
func position(text string, offset int) string {
	before := text[:offset]
	line := 1 + strings.Count(before, "\n")
	return fmt.Sprintf("line %d:%d", line, units(before[strings.LastIndexByte(before, '\n')+1:]))
}

// units is how long a text is in UTF-16, which Java counts and cuts by.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// fromUnits is a text from UTF-16. Half a character is sent as a question mark.
func fromUnits(text []uint16) string {
	var s strings.Builder
	for i := 0; i < len(text); i++ {
		r := rune(text[i])
		if utf16.IsSurrogate(r) {
			r = '?'
			if i+1 < len(text) {
				if whole := utf16.DecodeRune(rune(text[i]), rune(text[i+1])); whole != utf8.RuneError {
					r = whole
					i++
				}
			}
		}
		s.WriteRune(r)
	}
	return s.String()
}

// shown is a token as messages have it: strings and names without quotes, and nothing that may tell a password.
func (m *machine) shown(pos int) string {
	t := &m.tokens.all[pos]
	if t.GetTokenType() == antlr.TokenEOF {
		return "<EOF>"
	}
	if t.GetStop() >= secret.Start(m.input.text) {
		return secret.Stars
	}
	return content(m.input.text[t.GetStart():t.GetStop()+1], t.GetTokenType())
}

func content(word string, token int) string {
	switch token {
	case grammar.CqlLexerSTRING_LITERAL:
		return stringContent(word)
	case grammar.CqlLexerQUOTED_NAME:
		return strings.ReplaceAll(word[1:len(word)-1], `""`, `"`)
	}
	return word
}

// piece is a token or what stands between two of them, as the snippet counts them. A piece that is shown
// with its quotes ends as many UTF-16 units after its start as its content is long.
type piece struct {
	cql.Span
	shown int
}

// pieces cuts the text of the tokens from the one at index first to the one at last, and of what stands before them.
func (m *machine) pieces(first, last int) []piece {
	var out []piece
	end := 0
	if first > 0 {
		end = m.tokens.all[first-1].GetStop() + 1
	}
	for i := first; i <= last; i++ {
		t := &m.tokens.all[i]
		out = blanks(out, m.input.text, end, t.GetStart())
		end = t.GetStop() + 1
		word := m.input.text[t.GetStart():end]
		out = append(out, piece{tokenSpan(t), units(content(word, t.GetTokenType()))})
	}
	return out
}

// blanks adds the blanks and comments between two tokens.
func blanks(out []piece, text string, start, end int) []piece {
	for start < end {
		next := start
		gap := text[start:end]
		switch {
		case strings.HasPrefix(gap, "--"), strings.HasPrefix(gap, "//"):
			next += strings.IndexAny(gap, "\r\n") + 1
		case strings.HasPrefix(gap, "/*"):
			next += strings.Index(gap, "*/") + 2
		default:
			next += len(gap) - len(strings.TrimLeft(gap, " \t\r\n"))
		}
		if next <= start {
			next = end
		}
		out = append(out, piece{cql.Span{Start: start, End: next}, units(text[start:next])})
		start = next
	}
	return out
}

// snippet is the text around the token at pos, which is put in brackets: " (...from t [form] x)". There is
// none at the end of the text, and none when the parser has looked there already from close by.
func (m *machine) snippet(pos int) string {
	if m.tokens.all[pos].GetTokenType() == antlr.TokenEOF {
		return ""
	}
	first := max(0, pos-snippetBefore)
	before := len(m.pieces(first, pos)) - 1
	looked := max(m.tokens.looked, pos)
	atEnd := m.tokens.all[looked].GetTokenType() == antlr.TokenEOF
	if atEnd {
		looked--
	}
	last := min(looked, pos+snippetAfter+1)
	pieces := m.pieces(first, last)
	if atEnd && last == looked {
		pieces = blanks(pieces, m.input.text, pieces[len(pieces)-1].End, len(m.input.text))
		if before+snippetAfter >= len(pieces) {
			return ""
		}
	}
	from := pieces[max(0, before-snippetBefore)]
	to := pieces[min(len(pieces)-1, before+snippetAfter)]
	if start := secret.Start(m.input.text); start < to.End {
		return m.cut(from, pieces[before], start)
	}
	return m.marked(from, pieces[before], to)
}

// cut is the text of a snippet up to where a password may be.
func (m *machine) cut(from, mark piece, secretStart int) string {
	text := m.input.text
	var s strings.Builder
	s.WriteString(" (")
	if from.Start > 0 {
		s.WriteString("...")
	}
	if mark.End <= secretStart {
		s.WriteString(text[from.Start:mark.Start] + "[" + text[mark.Start:mark.End] + "]" + text[mark.End:secretStart])
	} else if from.Start < secretStart {
		s.WriteString(text[from.Start:secretStart])
	}
	s.WriteString(secret.Stars + ")")
	return strings.ReplaceAll(s.String(), "\n", "")
}

// marked is the text of a snippet between two pieces, the lines put together.
func (m *machine) marked(from, mark, to piece) string {
	text := m.input.text
	var s strings.Builder
	s.WriteString(" (")
	if from.Start > 0 {
		s.WriteString("...")
	}
	end := units(text[mark.Start:to.Start]) + to.shown
	rest := utf16.Encode([]rune(text[mark.Start:min(len(text), mark.Start+utf8.UTFMax*(end+2))]))
	s.WriteString(text[from.Start:mark.Start])
	s.WriteString("[" + fromUnits(rest[:mark.shown]) + "]")
	if end > mark.shown {
		s.WriteString(fromUnits(rest[mark.shown:end]))
	}
	if end < len(rest) {
		s.WriteString("...")
	}
	s.WriteString(")")
	return strings.ReplaceAll(s.String(), "\n", "")
}

// runeAt is the character at a place of the text, unless a password may be there.
func runeAt(text string, offset int) string {
	if offset >= len(text) {
		return "<EOF>"
	}
	if offset >= secret.Start(text) {
		return secret.Stars
	}
	_, size := utf8.DecodeRuneInString(text[offset:])
	return text[offset : offset+size]
}
