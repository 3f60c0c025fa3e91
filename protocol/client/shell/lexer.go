package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a token, as cqlsh tells them apart.
type tokenKind uint8

const (
	word     tokenKind = iota // a keyword or a name without quotes
	name                      // a name in double quotes
	text                      // a string in single quotes or between $$
	number                    // a number, blob or UUID
	symbol                    // an operator or bracket
	lineEnd                   // \n
	terminal                  // a semicolon, or a line end that ends a command
	unclosed                  // a string, name or comment that has no end yet
)

// token is a token of a statement with its place in the text.
type token struct {
	kind       tokenKind
	text       string
	start, end int // byte offsets
}

// is reports whether the token is the given keyword.
func (t *token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// lexError is a character that begins no token.
type lexError struct {
	line   int    // counted from 1
	column int    // in characters, counted from 1
	text   string // the line
}

// Error is the first line that cqlsh prints for it.
func (e *lexError) Error() string {
	return fmt.Sprintf("Invalid syntax at line %d, char %d", e.line, e.column)
}

// lex splits a text into the tokens of cqlsh, which are coarser than those of CQL and include its commands. Comments
// and spaces are dropped; the line end of a comment belongs to it.
func lex(source string) (all []token, err error) {
	for at := 0; at < len(source); {
		n, kind := scan(source[at:])
		if n == 0 {
			return nil, newLexError(source, at)
		}
		if kind != space {
			all = append(all, token{kind, source[at : at+n], at, at + n})
		}
		at += n
	}
	return all, nil
}

func newLexError(source string, at int) *lexError {
	begin := strings.LastIndexByte(source[:at], '\n') + 1
	line, _, _ := strings.Cut(source[begin:], "\n")
	return &lexError{
		line: strings.Count(source[:at], "\n") + 1, column: utf8.RuneCountInString(source[begin:at]) + 1, text: line,
	}
}

// space is the kind of white space and comments, which are no tokens.
const space tokenKind = 255

// scan returns the length and kind of the first token of s; 0 if there is none.
func scan(s string) (n int, kind tokenKind) {
	c := s[0]
	switch {
	case c == '\n':
		return 1, lineEnd
	case strings.IndexByte(" \t\r\f\v", c) >= 0:
		return span(s, func(c byte) bool { return strings.IndexByte(" \t\r\f\v", c) >= 0 }), space
	case strings.HasPrefix(s, "--"), strings.HasPrefix(s, "//"):
		if end := strings.IndexAny(s, "\n\r"); end >= 0 {
			return end + 1, space
		}
		return len(s), space
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4, space
		}
		return len(s), unclosed
	case c == '\'':
		return quoted(s, text)
	case c == '"':
		return quoted(s, name)
	case strings.HasPrefix(s, "$$"):
		if end := strings.Index(s[2:], "$$"); end >= 0 {
			return end + 4, text
		}
		return len(s), unclosed
	}
	if n := scanNumber(s); n > 0 {
		return n, number
	}
	switch {
	case isLetter(c):
		return span(s, func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }), word
	case c == ';':
		return 1, terminal
	case strings.IndexByte("<>!", c) >= 0 && len(s) > 1 && s[1] == '=':
		return 2, symbol
	case strings.IndexByte("-+=%/,().:*<>![]{}?", c) >= 0:
		return 1, symbol
	}
	return 0, 0
}

// quoted scans a string or name with doubled quotes inside.
func quoted(s string, kind tokenKind) (int, tokenKind) {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if i+1 < len(s) && s[i+1] == s[0] {
			i++
			continue
		}
		return i + 1, kind
	}
	return len(s), unclosed
}

// uuidGroups are the lengths of the groups of hexadecimal digits in a UUID.
var uuidGroups = []int{8, 4, 4, 4, 12}

// scanNumber returns the length of a number, blob or UUID at the beginning of s, or 0.
func scanNumber(s string) int {
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	whole := span(digits, isDigit)
	if whole > 0 && whole+1 < len(digits) && digits[whole] == '.' && isDigit(digits[whole+1]) {
		return len(s) - len(digits) + whole + 1 + span(digits[whole+1:], isDigit)
	}
	if n := scanUUID(s); n > 0 {
		return n
	}
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		if n := span(s[2:], isHex); n > 0 {
			return n + 2
		}
	}
	if s[0] == '-' {
		return 0 // the minus of an integer is a token
	}
	return whole
}

func scanUUID(s string) int {
	at := 0
	for i, n := range uuidGroups {
		if i > 0 {
			if at >= len(s) || s[at] != '-' {
				return 0
			}
			at++
		}
		if len(s) < at+n || span(s[at:at+n], isHex) < n {
			return 0
		}
		at += n
	}
	return at
}

// span returns how many bytes at the beginning of s satisfy is.
func span(s string, is func(byte) bool) int {
	for i := range len(s) {
		if !is(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// lineCommands are the commands that end with their line; they need no semicolon.
var lineCommands = map[string]bool{
	"help": true, "?": true, "consistency": true, "serial": true, "describe": true, "desc": true, "show": true,
	"source": true, "capture": true, "login": true, "tracing": true, "expand": true, "paging": true, "exit": true,
	"quit": true, "clear": true, "cls": true, "history": true,
}

// split splits tokens into statements as cqlsh does. Each ends with its terminal, except for the last one of a text
// that is not complete. A batch is one statement. Unlike cqlsh it skips empty statements. open means that the end of
// the text is inside a batch.
func split(tokens []token) (statements [][]token, open bool) {
	var pieces [][]token
	var now []token
	for _, t := range tokens {
		if t.kind == lineEnd {
			if len(now) == 0 || !lineCommands[strings.ToLower(now[0].text)] {
				continue
			}
			t.kind = terminal
		}
		if t.kind == terminal && len(now) == 0 {
			continue
		}
		if now = append(now, t); t.kind == terminal {
			pieces, now = append(pieces, now), nil
		}
	}
	if len(now) > 0 {
		pieces = append(pieces, now)
	}
	for _, p := range pieces {
		if open {
			last := &statements[len(statements)-1]
			*last = append(*last, p...)
		} else {
			statements = append(statements, p)
		}
		if len(p) > 2 {
			switch {
			case p[len(p)-3].is("APPLY"):
				open = false
			case p[0].is("BEGIN"):
				open = true
			}
		}
	}
	return statements, open
}

// complete reports whether a text needs no further line: it has no statement, or its last one is complete.
func complete(statements [][]token, open bool) bool {
	if len(statements) == 0 {
		return true
	}
	last := statements[len(statements)-1]
	return !open && last[len(last)-1].kind == terminal
}

// Part is a part of a text that a prompt shows in its own colour.
type Part struct {
	Kind       PartKind
	Start, End int  // byte offsets
	Open       bool // it goes on after the end of the text
}

// PartKind is the kind of a part.
type PartKind uint8

// The kinds of parts.
const (
	PartWord   PartKind = iota // a keyword or a name without quotes
	PartName                   // a name in double quotes
	PartText                   // a string in single quotes or between $$
	PartNumber                 // a number, blob or UUID
	PartComment
)

// Parts splits a text, which may end anywhere, into parts. Spaces, symbols and characters that begin no token belong to
// none.
func Parts(source string) (all []Part) {
	for at, n := 0, 0; at < len(source); at += n {
		rest := source[at:]
		var kind tokenKind
		if n, kind = scan(rest); n == 0 {
			n = 1
			continue
		}
		p := Part{Start: at, End: at + n, Open: kind == unclosed}
		switch {
		case kind == word:
			p.Kind = PartWord
		case kind == number:
			p.Kind = PartNumber
		case rest[0] == '"':
			p.Kind = PartName
		case rest[0] == '\'', strings.HasPrefix(rest, "$$"):
			p.Kind = PartText
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
			p.Kind = PartComment
		default:
			continue
		}
		all = append(all, p)
	}
	return all
}
