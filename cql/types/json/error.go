package json

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Error says why a text is not valid JSON, in Jackson's words.
type Error struct {
	Class   string // of Jackson's exception
	Message string // with the place in the text
}

// Error is the class and the message.
func (e *Error) Error() string { return e.Class + ": " + e.Message }

// The classes of Jackson's exceptions.
const (
	parseError    = "com.fasterxml.jackson.core.JsonParseException"
	endError      = "com.fasterxml.jackson.core.io.JsonEOFException"
	limitError    = "com.fasterxml.jackson.core.exc.StreamConstraintsException"
	mismatchError = "com.fasterxml.jackson.databind.exc.MismatchedInputException"
	formatError   = "com.fasterxml.jackson.databind.exc.InvalidFormatException"
)

// place prints an offset of the text as Jackson does: lines end with CR, LF or both, and columns count UTF-16 units.
func (s *scanner) place(at int) string {
	before := strings.ReplaceAll(strings.ReplaceAll(s.text[:at], "\r\n", "\n"), "\r", "\n")
	line := strings.Count(before, "\n") + 1
	before = before[strings.LastIndexByte(before, '\n')+1:]
	return sourceAt(fmt.Sprintf("line: %d, column: %d", line, len(utf16.Encode([]rune(before)))+1))
}

func sourceAt(place string) string {
	return "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); " + place + "]"
}

func (s *scanner) fail(class string, at int, format string, args ...any) error {
	return &Error{Class: class, Message: fmt.Sprintf(format, args...) + "\n at " + s.place(at)}
}

func (s *scanner) ended(where string) error {
	return s.fail(endError, len(s.text), "Unexpected end-of-input%s", where)
}

// unexpected is the error for the character that was read last.
func (s *scanner) unexpected(comment string) error {
	at := s.at - 1
	for at > 0 && !utf8.RuneStart(s.text[at]) {
		at--
	}
	return s.fail(parseError, at, "Unexpected character (%s): %s", describeChar(s.text[at:]), comment)
}

// unexpectedInNumber is the error for a character in a number; Jackson reports it at another offset.
func (s *scanner) unexpectedInNumber(char string, at int, comment string) error {
	return s.fail(parseError, at, "Unexpected character (%s) in numeric value: %s", describeChar(char), comment)
}

// token is the error for an unknown word that begins at from; s.at is the first character that was not examined.
func (s *scanner) token(from int) error {
	const maxToken = 256
	word := []rune(s.text[from:s.at])
	for _, r := range s.text[s.at:] {
		if !isJavaIdentifierPart(r) {
			break
		}
		s.at += utf8.RuneLen(r)
		if word = append(word, r); len(word) >= maxToken {
			word = append(word, '.', '.', '.')
			break
		}
	}
	return s.fail(parseError, s.at, "Unrecognized token '%s': was expecting %s", string(word), valueWords)
}

const valueWords = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

// tooLarge is the error for a text that exceeds one of Jackson's limits; method is the getter of the limit.
func tooLarge(measure string, n, limit int, method string) error {
	return &Error{Class: limitError, Message: fmt.Sprintf(
		"%s (%d) exceeds the maximum allowed (%d, from `StreamReadConstraints.%s()`)", measure, n, limit, method)}
}

// describeChar prints the first UTF-16 unit of a text and its code.
func describeChar(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	shown := string(r)
	if high, _ := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		r, shown = high, "?"
	}
	switch {
	case unicode.IsControl(r):
		return fmt.Sprintf("(CTRL-CHAR, code %d)", r)
	case r > 255:
		return fmt.Sprintf("'%s' (code %d / 0x%x)", shown, r, r)
	}
	return fmt.Sprintf("'%s' (code %d)", shown, r)
}

// isJavaIdentifierStart reports whether an identifier of Java may begin with r.
func isJavaIdentifierStart(r rune) bool {
	return r <= 0xFFFF && unicode.In(r, unicode.Letter, unicode.Nl, unicode.Sc, unicode.Pc)
}

// isJavaIdentifierPart reports whether an identifier of Java may contain r.
func isJavaIdentifierPart(r rune) bool {
	ignorable := r <= 8 || r >= 0xE && r <= 0x1B || r >= 0x7F && r <= 0x9F
	return isJavaIdentifierStart(r) || ignorable ||
		r <= 0xFFFF && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Cf)
}
