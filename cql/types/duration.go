package types

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// durationType is three signed vints: months, days and nanoseconds, none of which is converted into
// another. It has no order of its own and is no key; its bytes order it where something must.
type durationType struct{ native }

// Validate takes three vints of one sign, of which the first two fit in 32 bits.
func (*durationType) Validate(b []byte) error {
	if len(b) < 3 {
		return invalidf("Expected at least 3 bytes for a duration (%d)", len(b))
	}
	months, days, nanos, ok := splitDuration(b)
	switch {
	case !ok:
		return invalidf("Not enough bytes to read a duration")
	case months != int64(int32(months)):
		return invalidf("The duration months must be a 32 bits integer but was: %d", months)
	case days != int64(int32(days)):
		return invalidf("The duration days must be a 32 bits integer but was: %d", days)
	case (months < 0 || days < 0 || nanos < 0) && (months > 0 || days > 0 || nanos > 0):
		return invalidf("The duration months, days and nanoseconds must be all of the same sign (%d, %d, %d)",
			months, days, nanos)
	}
	return nil
}

// splitDuration reads the three parts; ok is false when b ends before the last.
func splitDuration(b []byte) (months, days, nanos int64, ok bool) {
	var parts [3]int64
	for i := range parts {
		v, n := signedVInt(b)
		if n == 0 {
			return 0, 0, 0, false
		}
		parts[i], b = v, b[n:]
	}
	return parts[0], parts[1], parts[2], true
}

// Compare orders by bytes, for what must have an order: 1mo and 30d cannot be compared.
func (*durationType) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey escapes zero bytes, as appendBytesKey says.
func (*durationType) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey takes the escapes of zero bytes away again.
func (*durationType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

// ParseLiteral takes 1y2mo3d4h5m6s7ms8us9ns and the ISO 8601 forms P1Y2M3DT4H5M6S, P1W and
// P0001-02-03T04:05:06, each perhaps behind a minus.
func (*durationType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != DurationLiteral && kind != IntegerLiteral {
		return nil, ErrKind
	}
	var d durationBuilder
	unsigned, negative := strings.CutPrefix(text, "-")
	var err error
	switch {
	case !strings.HasPrefix(unsigned, "P"):
		err = d.parseUnits(unsigned)
	case strings.Contains(unsigned, "-"):
		err = d.parseISOAlternative(unsigned)
	default:
		err = d.parseISO(unsigned)
	}
	if err == errNotDuration {
		return nil, invalidf("Unable to convert '%s' to a duration", unsigned)
	}
	if err != nil {
		return nil, err
	}
	if negative {
		return EncodeDuration(-d.totals[inMonths], -d.totals[inDays], -d.totals[inNanos]), nil
	}
	return EncodeDuration(d.totals[inMonths], d.totals[inDays], d.totals[inNanos]), nil
}

// Format prints 1y2mo3d4h5m6s7ms8us9ns, without the units that are 0; the duration of nothing is no text.
func (t *durationType) Format(b []byte) string {
	months, days, nanos, ok := splitDuration(b)
	if !ok {
		return ""
	}
	var s strings.Builder
	if months < 0 || days < 0 || nanos < 0 {
		s.WriteByte('-')
	}
	appendUnits(&s, magnitude(months, inMonths), []durationUnit{{"y", 12}, {"mo", 1}})
	appendUnits(&s, magnitude(days, inDays), []durationUnit{{"d", 1}})
	appendUnits(&s, magnitude(nanos, inNanos), []durationUnit{
		{"h", 3600 * nanoPerSecond},
		{"m", 60 * nanoPerSecond},
		{"s", nanoPerSecond},
		{"ms", 1e6},
		{"us", 1e3},
		{"ns", 1},
	})
	return s.String()
}

// ParseJSON takes a string. Cassandra passes the error of a wrong one on without its usual words in front.
func (*durationType) ParseJSON(v JSON) ([]byte, error) {
	b, err := jsonString(Duration, v, "a string representation of a duration")
	if _, ok := v.(JSONString); ok && err != nil {
		err = &ValueError{Message: err.Error(), Request: true}
	}
	return b, err
}

// AppendJSON prints a string with what Format prints.
func (*durationType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Duration, b)
}

// magnitude is the absolute value of a part, but 0 of the least that it can be: Java has no number for that.
func magnitude(v int64, part int) int64 {
	switch {
	case v < -durationLimits[part]:
		return 0
	case v < 0:
		return -v
	}
	return v
}

// durationUnit is a unit that durations are printed in.
type durationUnit struct {
	name string
	size int64
}

// appendUnits prints v in units from the greatest to the least, leaving out those it has none of.
func appendUnits(s *strings.Builder, v int64, units []durationUnit) {
	for _, u := range units {
		if n := v / u.size; n > 0 {
			s.WriteString(strconv.FormatInt(n, 10))
			s.WriteString(u.name)
		}
		v %= u.size
	}
}

// EncodeDuration returns a duration; its parts must not differ in sign.
func EncodeDuration(months, days, nanos int64) []byte {
	b := appendSignedVInt(make([]byte, 0, 16), months)
	return appendSignedVInt(appendSignedVInt(b, days), nanos)
}

// DecodeDuration reads a valid duration.
func DecodeDuration(b []byte) (months, days, nanos int64) {
	months, days, nanos, _ = splitDuration(b)
	return months, days, nanos
}

// Each part of a duration has a greatest value. Cassandra's sentence about nanoseconds names the wrong one.
var durationLimits = [...]int64{math.MaxInt32, math.MaxInt32, math.MaxInt64}
