package types

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
