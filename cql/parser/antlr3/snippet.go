package antlr3

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/cql/secret"
)

// The numbers of tokens that a snippet shows around the marked one. Blanks and comments count as tokens.
const (
	snippetBefore = 10
	snippetAfter  = 2
)

// at prints the position of a token: line 1:7. The end of the text has none.
func at(ts *stream.Tokens, pos int) string {
	t := &ts.All[pos]
	if t.GetTokenType() == antlr.TokenEOF {
		return "line 0:-1"
	}
	return position(ts.Text, t.GetStart())
}

// position prints an offset as line and column; columns count UTF-16 units from 0.
func position(text string, offset int) string {
	before := text[:offset]
	line := 1 + strings.Count(before, "\n")
	return fmt.Sprintf("line %d:%d", line, units(before[strings.LastIndexByte(before, '\n')+1:]))
}

// units is the length of a text in UTF-16, as in Java.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// fromUnits decodes UTF-16. Half a character becomes a question mark.
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

// shown is a token as printed in messages: strings and names without quotes, and stars for a possible password.
func shown(ts *stream.Tokens, pos int) string {
	t := &ts.All[pos]
	if t.GetTokenType() == antlr.TokenEOF {
		return "<EOF>"
	}
	if t.GetStop() >= secret.Start(ts.Text) {
		return secret.Stars
	}
	return stream.Content(ts.Text[t.GetStart():t.GetStop()+1], t.GetTokenType())
}

// piece is a token, or blanks or a comment between tokens. As in Cassandra a quoted piece is cut at the length of its
// content, in UTF-16 units.
type piece struct {
	cql.Span
	shown int
}

// pieces returns the pieces from the gap before the token at index first to the token at index last.
func pieces(ts *stream.Tokens, first, last int) []piece {
	var out []piece
	end := 0
	if first > 0 {
		end = ts.All[first-1].GetStop() + 1
	}
	for i := first; i <= last; i++ {
		t := &ts.All[i]
		out = blanks(out, ts.Text, end, t.GetStart())
		end = t.GetStop() + 1
		word := ts.Text[t.GetStart():end]
		shown := units(stream.Content(word, t.GetTokenType()))
		out = append(out, piece{cql.Span{Start: t.GetStart(), End: end}, shown})
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

// snippet prints the text around the token at pos: " (...from t [form] x)". It is empty at the end of the text, and if
// the parser has looked at the end from a token close to it.
func snippet(ts *stream.Tokens, pos int) string {
	if ts.All[pos].GetTokenType() == antlr.TokenEOF {
		return ""
	}
	first := max(0, pos-snippetBefore)
	before := len(pieces(ts, first, pos)) - 1
	looked := max(ts.Looked, pos)
	atEnd := ts.All[looked].GetTokenType() == antlr.TokenEOF
	if atEnd {
		looked--
	}
	last := min(looked, pos+snippetAfter+1)
	pieces := pieces(ts, first, last)
	if atEnd && last == looked {
		pieces = blanks(pieces, ts.Text, pieces[len(pieces)-1].End, len(ts.Text))
		if before+snippetAfter >= len(pieces) {
			return ""
		}
	}
	from := pieces[max(0, before-snippetBefore)]
	to := pieces[min(len(pieces)-1, before+snippetAfter)]
	if start := secret.Start(ts.Text); start < to.End {
		return cut(ts, from, pieces[before], start)
	}
	return marked(ts, from, pieces[before], to)
}

// cut is a snippet that ends where a password may begin.
func cut(ts *stream.Tokens, from, mark piece, secretStart int) string {
	text := ts.Text
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

// marked is the snippet between two pieces, on one line.
func marked(ts *stream.Tokens, from, mark, to piece) string {
	text := ts.Text
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

// runeAt is the character at an offset, or stars if a password may be there.
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
