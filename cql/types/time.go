package types

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// timeType is a time of day in nanoseconds, a number of 8 bytes. It has no empty value. Bound values
// may lie outside the day.
type timeType struct{ native }

// The units that times of day are counted in.
const (
	nanoPerSecond = 1_000_000_000
	nanoPerDay    = 24 * 60 * 60 * nanoPerSecond
)

// Validate takes 8 bytes.
func (*timeType) Validate(b []byte) error {
	if len(b) != 8 {
		return invalidf("Expected 8 byte long for time (%d)", len(b))
	}
	return nil
}

// Compare orders by bytes, so that a number below 0 comes after all times of day.
func (*timeType) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey appends the bytes as they are, behind the mark of a value.
func (*timeType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, 0, desc)
}

// DecodeKey undoes AppendKey.
func (*timeType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 8, 0, desc)
}

// ParseLiteral takes HH:mm:ss with up to nine digits of fraction, or the nanoseconds of a day.
func (*timeType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch kind {
	case StringLiteral, IntegerLiteral:
	default:
		return nil, ErrKind
	}
	if isNumber(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n >= nanoPerDay {
			return nil, invalidf("Unable to make long (for time) from: '%s'", text)
		}
		return EncodeBigInt(n), nil
	}
	n, ok := parseTimeOfDay(text)
	if !ok {
		return nil, invalidf("(TimeType) Unable to coerce '%s' to a formatted time (long)", text)
	}
	return EncodeBigInt(n), nil
}

// isJavaSpace reports whether Java trims r off a text.
func isJavaSpace(r rune) bool { return r <= ' ' }

// parseTimeOfDay reads h:m:s with up to nine digits of fraction as nanoseconds.
func parseTimeOfDay(text string) (int64, bool) {
	text = strings.TrimFunc(text, isJavaSpace)
	clock, fraction, hasFraction := strings.Cut(text, ".")
	parts := strings.Split(clock, ":")
	if len(parts) != 3 {
		return 0, false
	}
	seconds := int64(0)
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 0 || n >= [...]int64{24, 60, 60}[i] {
			return 0, false
		}
		seconds = seconds*60 + n
	}
	if !hasFraction {
		return seconds * nanoPerSecond, true
	}
	nanos, ok := parseFraction(fraction)
	return seconds*nanoPerSecond + nanos, ok && fraction != ""
}

// parseFraction reads up to nine digits behind a decimal point as billionths.
func parseFraction(digits string) (int64, bool) {
	if len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+"000000000"[len(digits):], 10, 64)
	return n, err == nil
}

// Format prints HH:mm:ss.nnnnnnnnn in single quotes.
func (*timeType) Format(b []byte) string {
	if len(b) != 8 {
		return noLiteral
	}
	return quote.Text(FormatTimeOfDay(DecodeBigInt(b)))
}

// ParseJSON takes a string with a time of day.
func (*timeType) ParseJSON(v JSON) ([]byte, error) {
	return jsonString(Time, v, "a string representation of a time value")
}

// AppendJSON prints HH:mm:ss.nnnnnnnnn as a string.
func (*timeType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Time, b)
}

// FormatTimeOfDay prints nanoseconds of a day as HH:mm:ss with nine digits of fraction. Whole days are left out; of
// negative ones each part has its sign, behind the zeros.
func FormatTimeOfDay(nanos int64) string {
	var b strings.Builder
	seconds := nanos / nanoPerSecond
	for _, part := range [...]struct {
		number int64
		width  int
		before string
	}{
		{seconds / 3600 % 24, 2, ""},
		{seconds / 60 % 60, 2, ":"},
		{seconds % 60, 2, ":"},
		{nanos / 1e6 % 1000, 3, "."},
		{nanos / 1e3 % 1000, 3, ""},
		{nanos % 1000, 3, ""},
	} {
		b.WriteString(part.before)
		for limit, i := int64(10), 1; i < part.width; limit, i = limit*10, i+1 {
			if part.number < limit {
				b.WriteByte('0')
			}
		}
		b.WriteString(strconv.FormatInt(part.number, 10))
	}
	return b.String()
}
