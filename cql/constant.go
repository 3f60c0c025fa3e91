package cql

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// constantKind returns the kind of an unquoted constant. ok is false for other words and for rare spellings of
// durations.
func constantKind(word string) (kind LiteralKind, ok bool) {
	unsigned := strings.TrimPrefix(word, "-")
	if unsigned == "" {
		return 0, false
	}
	if c := unsigned[0]; c < '0' || c > '9' {
		return namedConstant(word, unsigned)
	}
	n := digits(unsigned)
	switch rest := unsigned[n:]; {
	case rest == "":
		return IntegerLiteral, true
	case isUUID(word):
		return UUIDLiteral, true
	case rest[0] == '.', isExponent(rest):
		return FloatLiteral, isFraction(word, rest)
	case rest[0]|0x20 == 'x':
		return HexLiteral, word[0] == '0' && n == 1 && isHex(rest[1:])
	}
	return DurationLiteral, isDuration(unsigned)
}

// namedConstant is constantKind for words that begin with a letter.
func namedConstant(word, unsigned string) (LiteralKind, bool) {
	switch {
	case len(word) == 36:
		return UUIDLiteral, isUUID(word)
	case len(unsigned) > len("infinity"):
		return 0, false
	}
	switch strings.ToLower(unsigned) {
	case "nan", "infinity":
		return FloatLiteral, true
	case "true", "false":
		return BooleanLiteral, word == unsigned
	case "null":
		return NullLiteral, word == unsigned
	}
	return 0, false
}

// FloatText normalizes the text of a float literal: NaN has no sign, and NaN and Infinity have one spelling.
func FloatText(word string) string {
	unsigned, negative := strings.CutPrefix(word, "-")
	switch {
	case strings.EqualFold(unsigned, "nan"):
		return "NaN"
	case !strings.EqualFold(unsigned, "infinity"):
		return word
	case negative:
		return "-Infinity"
	}
	return "Infinity"
}

// digits is the number of digits at the beginning of a text.
func digits(text string) int {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return i
		}
	}
	return len(text)
}

// isExponent reports whether a text is e5, E+5 or e-5.
func isExponent(text string) bool {
	if text == "" || text[0]|0x20 != 'e' {
		return false
	}
	text = text[1:]
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	return text != "" && digits(text) == len(text)
}

// isFraction reports whether a word whose digits are followed by rest is a number in the range of a double.
func isFraction(word, rest string) bool {
	if rest[0] == '.' {
		rest = rest[1:]
		if rest = rest[digits(rest):]; rest != "" && !isExponent(rest) {
			return false
		}
	}
	if rest == "" && len(word) < 300 {
		return true
	}
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

func isHex(text string) bool {
	for i := range len(text) {
		if !isHexDigit(text[i]) {
			return false
		}
	}
	return true
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func isUUID(word string) bool {
	if len(word) != 36 {
		return false
	}
	for i := range len(word) {
		switch i {
		case 8, 13, 18, 23:
			if word[i] != '-' {
				return false
			}
		default:
			if !isHexDigit(word[i]) {
				return false
			}
		}
	}
	return true
}

// isDuration reports whether a text consists of numbers with units: 1h30m.
func isDuration(text string) bool {
	for text != "" {
		n := digits(text)
		if n == 0 {
			return false
		}
		text = text[n:]
		unit := len(text)
		for i := range len(text) {
			if '0' <= text[i] && text[i] <= '9' {
				unit = i
				break
			}
		}
		switch strings.ToLower(text[:unit]) {
		case "y", "mo", "w", "d", "h", "m", "s", "ms", "us", "µs", "ns":
		default:
			return false
		}
		text = text[unit:]
	}
	return true
}

// isFieldName reports whether a word can be the name of a field of a user type without quotes.
func isFieldName(word string) bool {
	if word == "" || len(word) > 64 || !isLetter(word[0]) || word[0] == 'P' && len(word) > 1 && digits(word[1:2]) == 1 {
		return false
	}
	for i := range len(word) {
		if c := word[i]; !isLetter(c) && c != '_' && digits(word[i:i+1]) == 0 {
			return false
		}
	}
	name := strings.ToLower(word)
	return !quote.IsReserved(name) && name != "true" && name != "false"
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
