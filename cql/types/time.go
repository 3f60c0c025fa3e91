package types

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// timeType is a time of day in nanoseconds, a number of 8 bytes. It has no empty value. Bound values
// may lie outside the day.
type timeType struct{ fixedSize }

// The units that times of day are counted in.
const (
	nanoPerSecond = 1_000_000_000
	nanoPerDay    = 24 * 60 * 60 * nanoPerSecond
)

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

// isJavaSpace reports whether Java's trim removes r.
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

// parseFraction reads up to nine digits after a decimal point as billionths.
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
func (*timeType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(Time, v, "a string representation of a time value")
}

// AppendJSON prints HH:mm:ss.nnnnnnnnn as a string.
func (*timeType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Time, b)
}

// FormatTimeOfDay prints nanoseconds of a day as HH:mm:ss with nine digits of fraction, modulo a day. In negative
// times each part has its sign, after the padding zeros.
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

// Limits of years in dates and timestamps, as in Java.
const (
	maxYear      = 999_999_999
	maxISOYear   = 10 // digits of a date's
	maxZonedYear = 19 // digits of a timestamp's with a time or a zone other than +HH:mm
)

// year is a year as written.
type year struct {
	sign   string // "", "+" or "-"
	digits int
	number int64 // negative after a minus
}

// year reads a year with its sign; minus zero is invalid.
func (p *fieldParser) year() (y year) {
	if len(p.rest) > 0 && (p.rest[0] == '+' || p.rest[0] == '-') {
		y.sign, p.rest = p.rest[:1], p.rest[1:]
	}
	y.number, y.digits = p.counted(0, maxYear)
	if y.sign == "-" {
		p.ok = p.ok && y.number > 0
		y.number = -y.number
	}
	return y
}

// padded reports whether the year has the form of ISO 8601: four digits without a plus, or more digits with a sign.
func (y year) padded() bool {
	return y.digits == 4 && y.sign != "+" || y.digits > 4 && y.sign != ""
}

// fieldParser reads the numbers of a time; ok becomes false at the first one that is missing.
type fieldParser struct {
	rest string
	ok   bool
}

// isDigit takes the ten digits of ASCII only, as all literals do.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads digits as a number between low and high.
func (p *fieldParser) number(low, high int64) int64 {
	v, _ := p.counted(low, high)
	return v
}

// counted is number; it also returns the number of digits.
func (p *fieldParser) counted(low, high int64) (number int64, digits int) {
	n := 0
	for n < len(p.rest) && isDigit(p.rest[n]) {
		n++
	}
	v, err := strconv.ParseInt(p.rest[:n], 10, 64)
	p.ok = p.ok && err == nil && v >= low && v <= high
	p.rest = p.rest[n:]
	return v, n
}

// expect reads s, which must follow.
func (p *fieldParser) expect(s string) {
	var found bool
	p.rest, found = strings.CutPrefix(p.rest, s)
	p.ok = p.ok && found
}

// timeOfDay reads h:m[:s[.fraction]]. 24:00 is the end of the day.
func (p *fieldParser) timeOfDay() (seconds, millis int64) {
	hour := p.number(0, 24)
	p.expect(":")
	seconds = hour*3600 + p.number(0, 59)*60
	nanos := int64(0)
	if strings.HasPrefix(p.rest, ":") {
		p.expect(":")
		seconds += p.number(0, 59)
		if strings.HasPrefix(p.rest, ".") {
			digits := p.rest[1:]
			n := 0
			for n < len(digits) && n < 9 && isDigit(digits[n]) {
				n++
			}
			nanos, _ = parseFraction(digits[:n])
			p.rest = digits[n:]
		}
	}
	if hour == 24 && (seconds > 24*3600 || nanos > 0) {
		p.ok = false
	}
	return seconds, nanos / 1e6
}
