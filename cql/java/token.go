package java

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// CompileError says why a body is refused, with the place in the body where the reason is.
type CompileError struct {
	Line, Column int
	Message      string

	// Generated is the line in the source that Cassandra makes of a body, for an error in the method around it; else 0.
	Generated int
}

// Error is Cassandra's text for a body that does not compile, without the generated source.
func (e *CompileError) Error() string {
	if e.Generated > 0 {
		return fmt.Sprintf("Java source compilation failed:\nGENERATED SOURCE ERROR: line %d (in generated source): %s\n",
			e.Generated, e.Message)
	}
	return fmt.Sprintf("Java source compilation failed:\nLine %d: %s\n", e.Line, e.Message)
}

// pos is a place in a body. Lines and columns count from 1.
type pos struct{ line, column int }

// refuse ends the compilation. Compile recovers the error.
func refuse(p pos, format string, args ...any) {
	panic(&CompileError{Line: p.line, Column: p.column, Message: fmt.Sprintf(format, args...)})
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	identifierToken
	keywordToken
	operatorToken
	intToken
	longToken
	floatToken
	doubleToken
	charToken
	stringToken
)

// token is one word of a body. The text of a string or character literal is its meaning, as UTF-16.
type token struct {
	kind  tokenKind
	text  string
	units []uint16
	pos   pos
}

// keywords are the reserved words of Java. true, false and null count as keywords here.
var keywords = makeSet(`abstract assert boolean break byte case catch char class const continue default do double else
	enum extends final finally float for goto if implements import instanceof int interface long native new package
	private protected public return short static strictfp super switch synchronized this throw throws transient try void
	volatile while _ true false null`)

func makeSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// operators has the longer ones first, so that the first that matches is the right one.
var operators = []string{
	">>>=", "<<=", ">>=", "...", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "&=",
	"|=", "^=", "%=", "<<", "(", ")", "{", "}", "[", "]", ";", ",", ".", "@", "=", ">", "<", "!", "~", "?", ":", "+", "-",
	"*", "/", "&", "|", "^", "%",
}

// lexer cuts a body into tokens. Each > is a token; the parser joins shift operators, which generic types cannot
// contain.
type lexer struct {
	src string
	at  int
	pos pos
}

// tokenize returns the tokens of a body, the last of which is endToken.
func tokenize(src string) []token {
	x := &lexer{src: src, pos: pos{1, 1}}
	var tokens []token
	for {
		x.skipSpace()
		tok := x.next()
		tokens = append(tokens, tok)
		if tok.kind == endToken {
			return tokens
		}
	}
}

// advance moves over n bytes.
func (x *lexer) advance(n int) {
	for _, r := range x.src[x.at : x.at+n] {
		if r == '\n' {
			x.pos = pos{x.pos.line + 1, 1}
		} else {
			x.pos.column++
		}
	}
	x.at += n
}

func (x *lexer) skipSpace() {
	for x.at < len(x.src) {
		rest := x.src[x.at:]
		switch {
		case strings.ContainsRune(" \t\n\r\f", rune(rest[0])):
			x.advance(1)
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			x.advance(end)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				refuse(x.pos, "Unexpected end of comment")
			}
			x.advance(end + 4)
		default:
			return
		}
	}
}

func (x *lexer) next() token {
	tok := token{pos: x.pos}
	rest := x.src[x.at:]
	if rest == "" {
		return tok
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '_' || r == '$' || unicode.IsLetter(r):
		for size < len(rest) {
			r, n := utf8.DecodeRuneInString(rest[size:])
			if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			size += n
		}
		tok.kind, tok.text = identifierToken, rest[:size]
		if keywords[tok.text] {
			tok.kind = keywordToken
		}
		x.advance(size)
	case '0' <= r && r <= '9', r == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
		x.number(&tok)
	case r == '"':
		tok.kind, tok.units = stringToken, x.quoted('"', "String literal is not properly closed by a double-quote")
	case r == '\'':
		tok.kind, tok.units = charToken, x.quoted('\'', "Invalid character constant")
		if len(tok.units) != 1 {
			refuse(tok.pos, "Invalid character constant")
		}
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				tok.kind, tok.text = operatorToken, op
				x.advance(len(op))
				return tok
			}
		}
		refuse(x.pos, "Syntax error on token \"%s\", delete this token", rest[:size])
	}
	return tok
}

// quoted reads a literal up to its closing quote.
func (x *lexer) quoted(quote byte, unclosed string) []uint16 {
	start := x.pos
	units := []uint16{}
	for x.advance(1); ; {
		if x.at >= len(x.src) || x.src[x.at] == '\n' || x.src[x.at] == '\r' {
			refuse(start, "%s", unclosed)
		}
		switch c := x.src[x.at]; {
		case c == quote:
			x.advance(1)
			return units
		case c == '\\':
			units = x.escape(units)
		default:
			r, size := utf8.DecodeRuneInString(x.src[x.at:])
			units = utf16.AppendRune(units, r)
			x.advance(size)
		}
	}
}

// escape reads a backslash and the characters after it.
func (x *lexer) escape(units []uint16) []uint16 {
	start := x.pos
	rest := x.src[x.at+1:]
	if rest == "" {
		refuse(start, "Invalid escape sequence (valid ones are  \\b  \\t  \\n  \\f  \\r  \\\"  \\'  \\\\ )")
	}
	if i := strings.IndexByte(`btnfr"'\`, rest[0]); i >= 0 {
		x.advance(2)
		return append(units, uint16("\b\t\n\f\r\"'\\"[i]))
	}
	if rest[0] == 'u' {
		digits := strings.TrimLeft(rest, "u")
		skipped := len(rest) - len(digits)
		if len(digits) >= 4 {
			if n, err := strconv.ParseUint(digits[:4], 16, 16); err == nil {
				x.advance(1 + skipped + 4)
				return append(units, uint16(n))
			}
		}
		refuse(start, "Invalid unicode")
	}
	n, size := 0, 0
	for size < 3 && size < len(rest) && '0' <= rest[size] && rest[size] <= '7' && n*8+int(rest[size]-'0') < 256 {
		n = n*8 + int(rest[size]-'0')
		size++
	}
	if size == 0 {
		refuse(start, "Invalid escape sequence (valid ones are  \\b  \\t  \\n  \\f  \\r  \\\"  \\'  \\\\ )")
	}
	x.advance(1 + size)
	return append(units, uint16(n))
}

// maxNumber is how many characters a number may have.
const maxNumber = 1000

// numberEnd is where a number ends at the latest.
func numberEnd(s string) int {
	points := 0
	for i := range min(len(s), maxNumber+1) {
		c := s[i]
		switch {
		case c == '.':
			if points++; points > 1 {
				return i
			}
		case c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
		case (c == '+' || c == '-') && i > 0 && s[i-1]|0x20 == 'e':
		default:
			return i
		}
	}
	return min(len(s), maxNumber+1)
}

// number reads a number. Its sign is an operator before it.
func (x *lexer) number(tok *token) {
	rest := x.src[x.at:]
	rest = rest[:numberEnd(rest)]
	lower := strings.ToLower(rest)
	size := 0
	digits := func(valid string) {
		for size < len(lower) && (strings.IndexByte(valid, lower[size]) >= 0 || lower[size] == '_') {
			size++
		}
	}
	tok.kind = intToken
	switch {
	case strings.HasPrefix(lower, "0x"):
		size = 2
		digits("0123456789abcdef")
		if size < len(lower) && (lower[size] == 'p' || lower[size] == '.') {
			refuse(x.pos, "hexadecimal floating point literals are not supported")
		}
	case strings.HasPrefix(lower, "0b"):
		size = 2
		digits("01")
	default:
		digits("0123456789")
		if size < len(lower) && lower[size] == '.' {
			tok.kind = doubleToken
			size++
			digits("0123456789")
		}
		if size < len(lower) && lower[size] == 'e' {
			tok.kind = doubleToken
			size++
			if size < len(lower) && (lower[size] == '+' || lower[size] == '-') {
				size++
			}
			digits("0123456789")
		}
	}
	if size > maxNumber {
		refuse(x.pos, "The literal is too long")
	}
	tok.text = strings.ReplaceAll(lower[:size], "_", "")
	if rest[size-1] == '_' {
		refuse(x.pos, "Underscores have to be located within digits")
	}
	if size < len(lower) {
		switch suffix := lower[size]; {
		case suffix == 'l' && tok.kind == intToken:
			tok.kind = longToken
			size++
		case suffix == 'f' && !strings.HasPrefix(tok.text, "0x"):
			tok.kind = floatToken
			size++
		case suffix == 'd' && !strings.HasPrefix(tok.text, "0x"):
			tok.kind = doubleToken
			size++
		}
	}
	x.advance(size)
}
