package types

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// durationType is three signed vints: months, days and nanoseconds, none of which is converted into another.
// Durations have no order and cannot be keys; their bytes order them where an order is needed.
type durationType struct{ byteString }

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

// ParseLiteral takes 1y2mo3d4h5m6s7ms8us9ns and the ISO 8601 forms P1Y2M3DT4H5M6S, P1W and P0001-02-03T04:05:06, each
// with an optional minus.
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

// Format prints 1y2mo3d4h5m6s7ms8us9ns, without units that are 0; the zero duration prints as an empty text.
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

// ParseJSON takes a string. Cassandra returns the error of an invalid one without its usual prefix.
func (*durationType) ParseJSON(v json.Value) ([]byte, error) {
	b, err := jsonString(Duration, v, "a string representation of a duration")
	if _, ok := v.(json.String); ok && err != nil {
		err = &ValueError{Message: err.Error(), Request: true}
	}
	return b, err
}

// AppendJSON prints the literal as a string.
func (*durationType) AppendJSON(dst, b []byte) []byte {
	return appendJSONQuoted(dst, Duration, b)
}

// magnitude is the absolute value of a part, but 0 for the minimum: Java's absolute value overflows there.
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

// appendUnits prints v in units from the greatest to the least, without units that are 0.
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

// durationLimits are the maxima of the parts. Cassandra's message about nanoseconds names a wrong one.
var durationLimits = [...]int64{math.MaxInt32, math.MaxInt32, math.MaxInt64}

// errNotDuration says that a text is not of any form of duration.
var errNotDuration = errors.New("types: not a duration")

// The parts of a duration, as indexes.
const (
	inMonths = iota
	inDays
	inNanos
)

// literalUnit is a unit of duration literals: its size, in units of one part.
type literalUnit struct {
	plural string
	part   int
	size   int64
}

// literalUnits has the units from the greatest to the least, the order they must be written in.
var literalUnits = [...]literalUnit{
	{"years", inMonths, 12},
	{"months", inMonths, 1},
	{"weeks", inDays, 7},
	{"days", inDays, 1},
	{"hours", inNanos, 3600 * nanoPerSecond},
	{"minutes", inNanos, 60 * nanoPerSecond},
	{"seconds", inNanos, nanoPerSecond},
	{"milliseconds", inNanos, 1e6},
	{"microseconds", inNanos, 1e3},
	{"nanoseconds", inNanos, 1},
}

// unitIndex finds the unit of a symbol in lower case.
var unitIndex = map[string]int{
	"y": 0, "mo": 1, "w": 2, "d": 3, "h": 4, "m": 5, "s": 6, "ms": 7, "us": 8, "µs": 8, "ns": 9,
}

// durationBuilder adds up a duration and checks that units come in order, each once.
type durationBuilder struct {
	totals [3]int64
	next   int // the smallest index of a unit that may follow
}

// add adds a number of a unit, which is an index of literalUnits.
func (d *durationBuilder) add(digits string, unit int) error {
	u := literalUnits[unit]
	if unit < d.next {
		last := literalUnits[d.next-1]
		if unit == d.next-1 {
			return invalidf("Invalid duration. The %s are specified multiple times", u.plural)
		}
		return invalidf("Invalid duration. The %s should be after %s", last.plural, u.plural)
	}
	d.next = unit + 1
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return invalidf("Invalid duration. The number of %s is out of range: %s", u.plural, digits)
	}
	limit := durationLimits[u.part]
	if n > (limit-d.totals[u.part])/u.size {
		return invalidf("Invalid duration. The total number of %s must be less or equal to %d",
			[...]string{"months", "days", "nanoseconds"}[u.part], math.MaxInt32)
	}
	d.totals[u.part] += n * u.size
	return nil
}

// parseUnits reads numbers, each followed by its unit.
func (d *durationBuilder) parseUnits(text string) error {
	if text == "" {
		return errNotDuration
	}
	for text != "" {
		symbol := strings.TrimLeft(text, "0123456789")
		digits := text[:len(text)-len(symbol)]
		end := strings.IndexAny(symbol, "0123456789")
		if end < 0 {
			end = len(symbol)
		}
		unit, ok := unitIndex[strings.ToLower(symbol[:end])]
		if !ok || digits == "" {
			return errNotDuration
		}
		if err := d.add(digits, unit); err != nil {
			return err
		}
		text = symbol[end:]
	}
	return nil
}

// The ISO 8601 forms; the groups are the units of isoUnits.
var (
	isoDuration = regexp.MustCompile(
		`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)
	isoAlternative = regexp.MustCompile(
		`^P(\d{4})-(\d{2})()-(\d{2})T(\d{2}):(\d{2}):(\d{2})$`)
)

// parseISO reads P1Y2M3DT4H5M6S, or weeks alone.
func (d *durationBuilder) parseISO(text string) error {
	groups := isoDuration.FindStringSubmatch(text)
	if groups == nil || groups[3] != "" && text != "P"+groups[3]+"W" {
		return errNotDuration
	}
	return d.addAll(groups[1:])
}

// parseISOAlternative reads P0001-02-03T04:05:06.
func (d *durationBuilder) parseISOAlternative(text string) error {
	groups := isoAlternative.FindStringSubmatch(text)
	if groups == nil {
		return errNotDuration
	}
	return d.addAll(groups[1:])
}

// addAll adds a number of each unit in turn; "" adds nothing.
func (d *durationBuilder) addAll(groups []string) error {
	for unit, digits := range groups {
		if digits == "" {
			continue
		}
		if err := d.add(digits, unit); err != nil {
			return err
		}
	}
	return nil
}
