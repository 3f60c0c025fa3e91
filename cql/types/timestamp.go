package types

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// timestampType is milliseconds since 1970, a signed number of 8 bytes.
type timestampType struct{ fixedSize }

// Bounds of timestamps and of their texts.
const (
	milliPerDay = 24 * 60 * 60 * 1000

	maxSeconds = math.MaxInt64 / 1000 // of a timestamp, before and after 1970
)

// ParseLiteral takes milliseconds, a date, or a date with a time of day; a zone may follow. Without one the time is
// in UTC. Only a Clock accepts the word now.
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

// parseTimestamp reads a date, or y-M-d h:m[:s[.fraction]] with a T or a space in the middle, and a zone. Every month
// accepts days up to 31; too large ones mean its last day. Years before 1 are for dates only.
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

// ParseJSON takes texts, and milliseconds that exceed an int.
func (*timestampType) ParseJSON(v json.Value) ([]byte, error) {
	if n, ok := v.(json.Integer); ok && n.Class() == "Long" {
		return fromString(Timestamp, string(n))
	}
	return jsonString(Timestamp, v, "a long or a datestring representation of a timestamp value")
}

// AppendJSON prints a space where Format has a T.
func (*timestampType) AppendJSON(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, `""`...)
	}
	return json.AppendString(dst, strings.Replace(FormatMillis(DecodeBigInt(b)), "T", " ", 1))
}

// FormatMillis prints milliseconds since 1970 as yyyy-MM-dd'T'HH:mm:ss.SSSZ, in UTC.
func FormatMillis(millis int64) string {
	days := floorDiv(millis, milliPerDay)
	year, month, day := civilDate(days)
	rest := millis - days*milliPerDay
	seconds := rest / 1000
	if year < 1 {
		year = 1 - year // BC, which is not printed
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

// Clock reads literals and JSON that depend on the current time: the timestamp literal now. Types alone have no clock
// and refuse it.
type Clock struct {
	Now   time.Time
	Asked bool // a value read depends on Now
}

// ParseLiteral is t.ParseLiteral with this clock, which may be nil.
func (c *Clock) ParseLiteral(t Type, kind LiteralKind, text string) ([]byte, error) {
	if kind == StringLiteral {
		t = c.For(text).timed(t)
	}
	return t.ParseLiteral(kind, text)
}

// ParseJSON is t.ParseJSON with this clock, which may be nil.
func (c *Clock) ParseJSON(t Type, v json.Value) ([]byte, error) { return c.timed(t).ParseJSON(v) }

// For returns the clock, or nil if the text cannot contain the word now, possibly escaped.
func (c *Clock) For(text string) *Clock {
	if c == nil {
		return nil
	}
	if strings.IndexByte(text, '\\') >= 0 {
		return c
	}
	for i := range len(text) - len(nowWord) + 1 {
		if text[i]|0x20 == nowWord[0] && strings.EqualFold(text[i:i+len(nowWord)], nowWord) {
			return c
		}
	}
	return nil
}

// timed returns t with timestamps that use the clock.
func (c *Clock) timed(t Type) Type {
	if c == nil {
		return t
	}
	if t, ok := t.(*timestampType); ok {
		return &timedTimestamp{t, c}
	}
	return replaceParts(t, c.timed)
}

// nowWord is the literal of the current time.
const nowWord = "now"

// timedTimestamp is a timestamp type with a clock.
type timedTimestamp struct {
	*timestampType
	clock *Clock
}

// ParseLiteral also takes the word now.
func (t *timedTimestamp) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != StringLiteral || !strings.EqualFold(text, nowWord) {
		return t.timestampType.ParseLiteral(kind, text)
	}
	t.clock.Asked = true
	return EncodeTimestamp(t.clock.Now), nil
}

// ParseJSON also takes the word now in a string.
func (t *timedTimestamp) ParseJSON(v json.Value) ([]byte, error) {
	if s, ok := v.(json.String); ok {
		return fromString(t, string(s))
	}
	return t.timestampType.ParseJSON(v)
}
