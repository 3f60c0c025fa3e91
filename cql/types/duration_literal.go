package types

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// errNotDuration says that a text is not of any form of duration.
var errNotDuration = errors.New("types: not a duration")

// The parts of a duration, as indexes.
const (
	inMonths = iota
	inDays
	inNanos
)

// literalUnit is a unit of duration literals: what one of it adds, and to which part.
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
	next   int // the least index of a unit that may follow
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

// parseUnits reads numbers, each with a unit behind it.
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

// addAll adds a number, perhaps "", of each unit from the first.
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
