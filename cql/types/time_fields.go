package types

import (
	"strconv"
	"strings"
)

// Bounds of years in the texts of dates and timestamps, which are those of Java's.
const (
	maxYear      = 999_999_999
	maxISOYear   = 10 // digits of a date's
	maxZonedYear = 19 // digits of one with a time or a zone other than +HH:mm
)

// year is a year as it was written.
type year struct {
	sign   string // "", "+" or "-"
	digits int
	number int64 // negative behind a minus
}

// year reads a year with its sign; there is none that is minus zero.
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

// padded reports whether the year is written as ISO 8601 wants it: in four digits or more, with a sign if they are more
// and without a plus if not.
func (y year) padded() bool {
	return y.digits == 4 && y.sign != "+" || y.digits > 4 && y.sign != ""
}

// fieldParser reads the numbers of a time; ok stays false after the first that is not there.
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

// counted is number with the number of digits.
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

// expect reads a sign that must be there.
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
