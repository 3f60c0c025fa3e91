package types

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONError is what is wrong with a JSON text, in the words of Jackson, the library that Cassandra reads it with.
type JSONError struct {
	Class   string // of Jackson's exception
	Message string // with the place in the text
}

// Error is the class of Jackson's exception and its message.
func (e *JSONError) Error() string { return e.Class + ": " + e.Message }

// The classes of Jackson's exceptions.
const (
	jsonParseError         = "com.fasterxml.jackson.core.JsonParseException"
	jsonEOFError           = "com.fasterxml.jackson.core.io.JsonEOFException"
	jsonLimitError         = "com.fasterxml.jackson.core.exc.StreamConstraintsException"
	jsonMismatchError      = "com.fasterxml.jackson.databind.exc.MismatchedInputException"
	jsonInvalidFormatError = "com.fasterxml.jackson.databind.exc.InvalidFormatException"
)

// place is where an offset of the text is, as Jackson says it: lines end with CR, LF or both, and columns are counted
// in units of UTF-16.
func (s *jsonScanner) place(at int) string {
	before := strings.ReplaceAll(strings.ReplaceAll(s.text[:at], "\r\n", "\n"), "\r", "\n")
	line := strings.Count(before, "\n") + 1
	before = before[strings.LastIndexByte(before, '\n')+1:]
	return jsonPlace(fmt.Sprintf("line: %d, column: %d", line, len(utf16.Encode([]rune(before)))+1))
}

// jsonPlace is a place with the words around it.
func jsonPlace(place string) string {
	return "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); " + place + "]"
}

// fail is an error at an offset.
func (s *jsonScanner) fail(class string, at int, format string, args ...any) error {
	return &JSONError{Class: class, Message: fmt.Sprintf(format, args...) + "\n at " + s.place(at)}
}

// ended is the error for a text that ends too early.
func (s *jsonScanner) ended(where string) error {
	return s.fail(jsonEOFError, len(s.text), "Unexpected end-of-input%s", where)
}

// unexpected is the error for the character before the next one.
func (s *jsonScanner) unexpected(comment string) error {
	at := s.at - 1
	for at > 0 && !utf8.RuneStart(s.text[at]) {
		at--
	}
	return s.fail(jsonParseError, at, "Unexpected character (%s): %s", describeChar(s.text[at:]), comment)
}

// unexpectedInNumber is the error for a character in a number, of which Jackson says that it stands at another offset.
func (s *jsonScanner) unexpectedInNumber(char string, at int, comment string) error {
	return s.fail(jsonParseError, at, "Unexpected character (%s) in numeric value: %s", describeChar(char), comment)
}

// token is the error for a word that is none of JSON's; from is where it begins, and the next character is the first
// that was not looked at.
func (s *jsonScanner) token(from int) error {
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
	return s.fail(jsonParseError, s.at, "Unrecognized token '%s': was expecting %s", string(word), jsonValueWords)
}

// jsonValueWords is how Jackson lists what may be a value.
const jsonValueWords = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

// tooLarge is the error for what exceeds a limit of Jackson's, which is named after a method.
func tooLarge(what string, n, limit int, method string) error {
	return &JSONError{Class: jsonLimitError, Message: fmt.Sprintf(
		"%s (%d) exceeds the maximum allowed (%d, from `StreamReadConstraints.%s()`)", what, n, limit, method)}
}

// describeChar is the first unit of UTF-16 in a text and its number.
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

// isJavaIdentifierPart reports whether an identifier of Java may have r in it.
func isJavaIdentifierPart(r rune) bool {
	ignorable := r <= 8 || r >= 0xE && r <= 0x1B || r >= 0x7F && r <= 0x9F
	return isJavaIdentifierStart(r) || ignorable ||
		r <= 0xFFFF && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Cf)
}
