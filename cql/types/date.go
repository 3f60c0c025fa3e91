package types

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// dateType is a day: an unsigned number of 4 bytes in which 2^31 is 1970-01-01. It has no empty value.
type dateType struct{ fixedSize }

// dateEpoch is 1970-01-01 as stored.
const dateEpoch = 1 << 31

// ParseLiteral takes yyyy-MM-dd, or the stored number: the days since 1970 plus 2^31.
func (*dateType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch kind {
	case StringLiteral, IntegerLiteral:
	default:
		return nil, ErrKind
	}
	if isNumber(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > math.MaxUint32 {
			return nil, invalidf("Unable to make unsigned int (for date) from: '%s'", text)
		}
		return binary.BigEndian.AppendUint32(nil, uint32(n)), nil
	}
	days, ok := parseISODate(text)
	switch {
	case !ok:
		return nil, invalidf("Unable to coerce '%s' to a formatted date (long)", text)
	case days > math.MaxInt32:
		return nil, invalidf("Input date %s is greater than max supported date +5881580-07-11T00:00Z", text)
	case days < math.MinInt32:
		return nil, invalidf("Input date %s is less than min supported date -5877641-06-23T00:00Z", text)
	}
	return EncodeDate(days), nil
}

// isNumber reports whether text is digits after an optional minus: a raw date or time.
func isNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// maxMilliDays is the last day whose milliseconds since 1970 fit in 64 bits.
const maxMilliDays = math.MaxInt64 / milliPerDay

// parseISODate reads yyyy-MM-dd as days since 1970. A year of more than four digits has a sign; one of
// four has none unless it is negative.
func parseISODate(text string) (days int64, ok bool) {
	p := fieldParser{rest: text, ok: true}
	y := p.year()
	p.expect("-")
	month, monthDigits := p.counted(1, 12)
	p.expect("-")
	day, dayDigits := p.counted(1, 31)
	if !p.ok || !y.padded() || y.digits > maxISOYear || monthDigits != 2 || dayDigits != 2 || p.rest != "" ||
		day > monthLength(y.number, month) {
		return 0, false
	}
	days = daysSince1970(y.number, month, day)
	return days, days <= maxMilliDays && days >= -maxMilliDays
}

// monthLength is the number of days of a month.
func monthLength(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// The calendar repeats every 400 years, which have this many days.
const (
	cycleYears = 400
	cycleDays  = 146097
)

// daysSince1970 counts the days to a date. The standard library counts too, but not so many years.
func daysSince1970(year, month, day int64) int64 {
	cycles := floorDiv(year, cycleYears)
	t := time.Date(int(year-cycles*cycleYears)+cycleYears, time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	return floorDiv(t.Unix(), milliPerDay/1000) + (cycles-1)*cycleDays
}

// civilDate is the date that many days after 1970-01-01.
func civilDate(days int64) (year, month, day int64) {
	cycles := floorDiv(days, cycleDays)
	t := time.Unix((days-cycles*cycleDays)*(milliPerDay/1000), 0).UTC()
	return int64(t.Year()) + cycles*cycleYears, int64(t.Month()), int64(t.Day())
}

// floorDiv divides rounding towards negative infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Format prints yyyy-MM-dd in single quotes.
func (*dateType) Format(b []byte) string {
	if len(b) != 4 {
		return noLiteral
	}
	return quote.Text(FormatDays(DecodeDate(b)))
}

// ParseJSON takes a string with a date.
func (*dateType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(Date, v, "a string representation of a date value")
}

// AppendJSON prints yyyy-MM-dd as a string.
func (*dateType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Date, b)
}

// FormatDays prints a date that many days after 1970-01-01 as yyyy-MM-dd; years of more than four digits
// have a sign.
func FormatDays(days int64) string {
	year, month, day := civilDate(days)
	format := "%04d-%02d-%02d"
	switch {
	case year > 9999:
		format = "+%d-%02d-%02d"
	case year < 0:
		format = "%05d-%02d-%02d"
	}
	return fmt.Sprintf(format, year, month, day)
}

// EncodeDate returns the date that many days after 1970-01-01.
func EncodeDate(days int64) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(days+dateEpoch))
}

// DecodeDate reads a valid date as days since 1970-01-01.
func DecodeDate(b []byte) int64 {
	if len(b) != 4 {
		return 0
	}
	return int64(binary.BigEndian.Uint32(b)) - dateEpoch
}
