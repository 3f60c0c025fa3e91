package json

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// number reads a number after its first character.
func (s *scanner) number(c byte) (Value, error) {
	from := s.at - 1
	if c == '-' {
		switch {
		case s.at == len(s.text):
			return nil, s.ended("No digit following sign")
		case s.text[s.at] == '.':
			s.at++
			return nil, s.unexpected("expected a valid value " + valueWords)
		case !isDigit(s.text[s.at]):
			return nil, s.sign(true)
		}
		c = s.text[s.at]
		s.at++
	}
	if c == '0' && s.at < len(s.text) && isDigit(s.text[s.at]) {
		return nil, s.fail(parseError, s.at, "Invalid numeric value: Leading zeroes not allowed")
	}
	digits := 1 + s.digits()
	whole := s.at
	n, err := s.fraction(c == '0')
	if err == nil && len(s.open) == 0 && s.at < len(s.text) && !strings.ContainsRune(" \t\r\n", rune(s.text[s.at])) {
		s.at++
		err = s.unexpected("Expected space separating root-level values")
	}
	if digits += n; err == nil && digits > maxNumber {
		err = tooLarge("Number value length", digits, maxNumber, "getMaxNumberLength")
	}
	if err != nil {
		return nil, err
	}
	text := s.text[from:s.at]
	switch {
	case s.at > whole:
		f, _ := strconv.ParseFloat(text, 64) // infinite when out of range
		return Double(f), nil
	case text == "-0":
		return Integer("0"), nil
	}
	return Integer(text), nil
}

// digits skips digits and returns their number.
func (s *scanner) digits() int {
	from := s.at
	for s.at < len(s.text) && isDigit(s.text[s.at]) {
		s.at++
	}
	return s.at - from
}

// fraction reads the fraction and exponent of a number and counts their digits. Jackson reports an error at the place
// where the fraction begins; exactly (after a leading zero) at the wrong character.
func (s *scanner) fraction(exactly bool) (digits int, err error) {
	begin := s.at
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if digits = s.digits(); digits == 0 {
			return 0, s.noDigit(begin, exactly, "Decimal point not followed by a digit")
		}
	}
	if s.at == len(s.text) || s.text[s.at]|0x20 != 'e' {
		return digits, nil
	}
	s.at++
	if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
		s.at++
	}
	n := s.digits()
	switch {
	case n > 0:
		return digits + n, nil
	case s.at == len(s.text):
		return 0, s.ended("expected a digit for number exponent")
	}
	return 0, s.noDigit(begin, exactly, "Exponent indicator not followed by a digit")
}

// noDigit is the error for the next character, or the last one of the text, where a digit is expected.
func (s *scanner) noDigit(begin int, exactly bool, comment string) error {
	at := min(s.at, len(s.text)-1)
	if exactly {
		begin = at
	}
	return s.unexpectedInNumber(s.text[at:], begin, comment)
}

// sign is the error for a sign without a number.
func (s *scanner) sign(negative bool) error {
	sign := "+"
	if negative {
		sign = "-"
	}
	at := s.at
	for n := range 2 {
		if s.at == len(s.text) {
			return s.ended(" in a Number value")
		}
		at = s.at
		_, size := utf8.DecodeRuneInString(s.text[at:])
		s.at += size
		switch c := s.text[at]; {
		case n == 0 && c == 'I':
			continue
		case n == 1 && (c == 'N' || c == 'n'):
			name := sign + map[byte]string{'N': "INF", 'n': "Infinity"}[c]
			if err := s.word(name, len("+IN")); err != nil {
				return err
			}
			return s.nonStandard(name)
		}
		break
	}
	if negative {
		return s.unexpectedInNumber(s.text[at:], at, "expected digit (0-9) to follow minus sign, for valid numeric value")
	}
	return s.unexpectedInNumber("+", at, "JSON spec does not allow numbers to have plus signs: enable "+
		"`JsonReadFeature.ALLOW_LEADING_PLUS_SIGN_FOR_NUMBERS` to allow")
}
