package json

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string after its opening quote. kind and ending go into error messages.
func (s *scanner) quoted(kind, ending string) (string, error) {
	var b strings.Builder
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		if s.at%readAtOnce == 0 {
			if err := s.pace(); err != nil {
				return "", err
			}
		}
		switch {
		case c == '"':
			return b.String(), nil
		case c < ' ':
			return "", s.fail(parseError, s.at-1, "Illegal unquoted character (%s): has to be escaped using "+
				"backslash to be included in %s", describeChar(s.text[s.at-1:]), kind)
		case c != '\\':
			b.WriteByte(c)
		default:
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		}
	}
	return "", s.ended(ending)
}

// escape reads an escape sequence after its backslash.
func (s *scanner) escape() (rune, error) {
	const letters, meanings = `btnfr"/\`, "\b\t\n\f\r\"/\\"
	if s.at == len(s.text) {
		return 0, s.ended(" in character escape sequence")
	}
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += n
	if i := strings.IndexRune(letters, r); i >= 0 {
		return rune(meanings[i]), nil
	}
	if r != 'u' {
		return 0, s.fail(parseError, s.at-n, "Unrecognized character escape %s", describeChar(s.text[s.at-n:]))
	}
	unit, err := s.unit()
	if err != nil || !utf16.IsSurrogate(unit) {
		return unit, err
	}
	if !strings.HasPrefix(s.text[s.at:], `\u`) {
		return '?', nil // half a character, which Java cannot write
	}
	back := s.at
	s.at += len(`\u`)
	low, err := s.unit()
	if err != nil {
		return 0, err
	}
	if whole := utf16.DecodeRune(unit, low); whole != utf8.RuneError {
		return whole, nil
	}
	s.at = back
	return '?', nil
}

// unit reads the four digits of a unit of UTF-16.
func (s *scanner) unit() (rune, error) {
	from := s.at
	for s.at < from+4 {
		if s.at == len(s.text) {
			return 0, s.ended(" in character escape sequence")
		}
		_, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
		if _, err := strconv.ParseUint(s.text[s.at-n:s.at], 16, 8); err != nil {
			return 0, s.unexpected("expected a hex-digit for character escape sequence")
		}
	}
	v, err := strconv.ParseUint(s.text[from:s.at], 16, 16)
	return rune(v), err
}

// AppendString appends a string with quotes and escapes.
func AppendString(dst []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		default:
			if j := strings.IndexByte("\b\t\n\f\r", c); j >= 0 {
				dst = append(dst, '\\', "btnfr"[j])
				break
			}
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
		}
	}
	return append(dst, '"')
}

// AppendKey appends the object key for a CQL name: a name with upper case letters is quoted twice.
func AppendKey(dst []byte, name string) []byte {
	if strings.ToLower(name) != name {
		name = `"` + name + `"`
	}
	return AppendString(dst, name)
}
