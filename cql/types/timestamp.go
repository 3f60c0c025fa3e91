package types

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/quote"
)

// timestampType is milliseconds since 1970, a signed number of 8 bytes.
type timestampType struct{ native }

// Bounds of timestamps and of their texts.
const (
	milliPerDay = 24 * 60 * 60 * 1000

	maxSeconds = math.MaxInt64 / 1000 // of a timestamp, before and after 1970
)

// FixedLength is 8.
func (*timestampType) FixedLength() int { return 8 }

// Validate takes 8 bytes or none.
func (*timestampType) Validate(b []byte) error {
	if len(b) != 8 && len(b) != 0 {
		return invalidf("Expected 8 or 0 byte long for date (%d)", len(b))
	}
	return nil
}

// Compare orders by the milliseconds, those before 1970 first.
func (*timestampType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(DecodeBigInt(a), DecodeBigInt(b))
}

// AppendKey inverts the sign bit, so that times before 1970 come first.
func (*timestampType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

// DecodeKey inverts the sign bit back.
func (*timestampType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 8, signBit, desc)
}

// ParseLiteral takes milliseconds, a date, or a date with a time of day; a zone may follow. Without one the time is in
// UTC. The word now is taken by a Clock.
func (*timestampType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch {
	case kind != StringLiteral && kind != IntegerLiteral:
		return nil, ErrKind
	case text == "":
		return []byte{}, nil
	case isNumber(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, invalidf("Unable to make long (for date) from: '%s'", text)
		}
		return EncodeBigInt(n), nil
	}
	seconds, millis, ok := parseTimestamp(text)
	switch {
	case !ok:
		return nil, invalidf("Unable to parse a date/time from '%s'", text)
	case seconds > maxSeconds, seconds < -maxSeconds, seconds == maxSeconds && millis > math.MaxInt64%1000:
		return nil, invalidf("The timestamp is out of range: '%s'", text)
	}
	return EncodeBigInt(seconds*1000 + millis), nil
}

// parseTimestamp reads a date, or y-M-d h:m[:s[.fraction]] with a T or a space in the middle, and a zone. Days up to
// 31 are taken in every month, and are its last day if it has not so many. Years before 1 are for dates only.
func parseTimestamp(text string) (seconds, millis int64, ok bool) {
	p := fieldParser{rest: text, ok: true}
	y := p.year()
	p.expect("-")
	month, monthDigits := p.counted(1, 12)
	p.expect("-")
	day, dayDigits := p.counted(1, 31)
	if !p.ok {
		return 0, 0, false
	}
	seconds = daysSince1970(y.number, month, min(day, monthLength(y.number, month))) * (milliPerDay / 1000)

	if n := len(p.rest); n > 1 && (p.rest[0] == 'T' || p.rest[0] == ' ') && isDigit(p.rest[1]) {
		p.rest = p.rest[1:]
		var ofDay int64
		ofDay, millis = p.timeOfDay()
		seconds += ofDay
		p.ok = p.ok && y.sign == "" && y.number > 0 && y.digits <= maxZonedYear
	} else if !y.padded() || monthDigits != 2 || dayDigits != 2 {
		return 0, 0, false
	} else if offset, iso := parseISOOffset(p.rest); iso && y.digits <= maxISOYear {
		return seconds - offset, 0, true
	} else {
		p.ok = y.number > 0 && y.digits <= maxZonedYear && p.rest != ""
	}
	zone, zoneOK := parseZone(p.rest)
	if !p.ok || !zoneOK {
		return 0, 0, false
	}
	return seconds - zone.offsetAtLocal(seconds), millis, true
}

// Format prints yyyy-MM-ddTHH:mm:ss.SSSZ in single quotes, null for the empty value.
func (*timestampType) Format(b []byte) string {
	if len(b) != 8 {
		return noLiteral
	}
	return quote.Text(FormatMillis(DecodeBigInt(b)))
}

// ParseJSON takes texts and milliseconds; of these only such as an int does not hold.
func (*timestampType) ParseJSON(v JSON) ([]byte, error) {
	if n, ok := v.(JSONInteger); ok && n.class() == "Long" {
		return fromString(Timestamp, string(n))
	}
	return jsonString(Timestamp, v, "a long or a datestring representation of a timestamp value")
}

// AppendJSON prints a space where Format has a T.
func (*timestampType) AppendJSON(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return appendJSONString(dst, strings.Replace(FormatMillis(DecodeBigInt(b)), "T", " ", 1))
}

// FormatMillis prints milliseconds since 1970 as yyyy-MM-dd'T'HH:mm:ss.SSSZ, in UTC.
func FormatMillis(millis int64) string {
	days := floorDiv(millis, milliPerDay)
	year, month, day := civilDate(days)
	rest := millis - days*milliPerDay
	seconds := rest / 1000
	if year < 1 {
		year = 1 - year // of the era before ours, which goes without saying
	}
	sign := ""
	if year > 9999 {
		sign = "+"
	}
	return fmt.Sprintf("%s%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", sign, year, month, day,
		seconds/3600, seconds/60%60, seconds%60, rest%1000)
}

// EncodeTimestamp returns the timestamp of t.
func EncodeTimestamp(t time.Time) []byte { return EncodeBigInt(t.UnixMilli()) }
