package guardrail

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// unit is how the number of a setting is written.
type unit int

const (
	plain     unit = iota // a number
	count                 // a number, -1 for none
	bytes                 // 10KiB, or nothing
	kibibytes             // 10KiB, and no B
	micros                // 5m, or nothing
	millis                // 5m, and no us
)

// Read returns the defaults with the values that are given by name. Errors about a value have Cassandra's text,
// if it has one.
func Read(given map[string]string) (*Settings, error) {
	s := Default()
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names) // the first mistake is always the same
	for _, name := range names {
		if err := s.set(name, given[name]); err != nil {
			return nil, err
		}
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	s.settle()
	return s, nil
}

// set gives a setting its value.
func (s *Settings) set(name, value string) error {
	set := s.setter(name)
	if set == nil {
		return refuseForeign(name)
	}
	shown, err := set(value)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s.shown[name] = shown; shown == "" {
		delete(s.shown, name)
	}
	return nil
}

// setter finds the function that reads the value of a setting and returns it as Cassandra shows it; nil: there is no
// such setting. A value that is shown as null is returned as "".
func (s *Settings) setter(name string) func(value string) (shown string, err error) {
	for _, t := range thresholds {
		field := t.field(s)
		switch name {
		case t.name + "_warn_threshold":
			return setNumber(t.unit, &field.Warn)
		case t.name + "_fail_threshold":
			return setNumber(t.unit, &field.Fail)
		}
	}
	for _, n := range numbers {
		if n.name == name {
			return setNumber(n.unit, n.field(s))
		}
	}
	for _, f := range flags {
		if f.name == name {
			return setFlag(f.field(s))
		}
	}
	for _, l := range levelLists {
		if l.name == name {
			return setLevels(l.field(s))
		}
	}
	for _, l := range propertyLists {
		if l.name == name {
			return setProperties(l.field(s))
		}
	}
	return nil
}

// setNumber reads a number in a unit.
func setNumber(u unit, field *int64) func(string) (string, error) {
	return func(value string) (shown string, err error) {
		*field, err = u.parse(value)
		return value, err
	}
}

var (
	sizeText     = regexp.MustCompile(`^(\d+)(B|KiB|MiB|GiB)$`)
	durationText = regexp.MustCompile(`^(\d+)(d|h|m|s|ms|us|µs)$`)
)

// sizes and durations are the units of values that have one.
var (
	sizes     = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	durations = map[string]int64{
		"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1, "µs": 1,
	}
)

// parse reads a number.
func (u unit) parse(value string) (int64, error) {
	var match []string
	var units map[string]int64
	switch u {
	case bytes, kibibytes:
		if value == "" && u == bytes {
			return Off, nil
		}
		if match, units = sizeText.FindStringSubmatch(value), sizes; match == nil || u == kibibytes && match[2] == "B" {
			accepted := "[BYTES, KIBIBYTES, MEBIBYTES, GIBIBYTES]"
			if u == kibibytes {
				accepted = "[KIBIBYTES, MEBIBYTES, GIBIBYTES]"
			}
			return 0, cqlerr.Configf("Invalid data storage: %s Accepted units:%s where case matters and only non-negative values "+
				"are accepted", value, accepted)
		}
	case micros, millis:
		if value == "" && u == micros {
			return Off, nil
		}
		match, units = durationText.FindStringSubmatch(value), durations
		if match == nil || u == millis && units[match[2]] == 1 {
			accepted := "[MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS]"
			if u == millis {
				accepted = "[MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS]"
			}
			return 0, cqlerr.Configf("Invalid duration: %s Accepted units:%s where case matters and only non-negative values.",
				value, accepted)
		}
	default:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number from %d to %d", value, math.MinInt32, math.MaxInt32)
		}
		return n, nil
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if factor := units[match[2]]; err == nil && n <= math.MaxInt64/factor {
		if n *= factor; u == millis {
			n /= 1000
		}
		return n, nil
	}
	return 0, fmt.Errorf("%s is too much", value)
}

// setFlag reads true or false.
func setFlag(field *bool) func(string) (string, error) {
	return func(value string) (shown string, err error) {
		switch strings.ToLower(value) {
		case "true":
			*field = true
		case "false":
			*field = false
		default:
			return "", fmt.Errorf("%q is neither true nor false", value)
		}
		return strings.ToLower(value), nil
	}
}

// words splits a list: a, b or [a, b].
func words(value string) (list []string) {
	value = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(value), "["), "]")
	for _, w := range strings.Split(value, ",") {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// setLevels reads consistency levels.
func setLevels(field *[]cqlerr.Consistency) func(string) (string, error) {
	return func(value string) (shown string, err error) {
		*field = nil
		for _, w := range words(value) {
			level := cqlerr.Any
			for level.Known() && level.String() != w {
				level++
			}
			if !level.Known() {
				return "", fmt.Errorf("%s is not a consistency level", w)
			}
			*field = append(*field, level)
		}
		slices.Sort(*field)
		return listText(*field), nil
	}
}

// listText prints values as Java prints a list: [a, b].
func listText[T fmt.Stringer](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// setProperties reads names of table properties.
func setProperties(field *[]string) func(string) (string, error) {
	return func(value string) (shown string, err error) {
		list := words(strings.ToLower(value))
		var unknown []string
		for _, name := range list {
			if !schema.IsTableProperty(name) {
				unknown = append(unknown, name)
			}
		}
		if len(unknown) > 0 {
			return "", fmt.Errorf("'%s' do not parse as valid table properties", schema.HashSet(unknown))
		}
		*field = list
		return schema.HashSet(slices.Clone(list)), nil
	}
}

// Shown lists all settings with their values as system_views.settings shows them. A value of nil is null.
func (s *Settings) Shown() []Shown {
	var all []Shown
	add := func(name, byDefault string) {
		value, ok := s.shown[name]
		if !ok {
			value = byDefault
		}
		all = append(all, Shown{Name: name, Value: value, Null: value == ""})
	}
	for _, t := range thresholds {
		byDefault := ""
		if t.unit == count {
			byDefault = strconv.Itoa(Off)
		}
		add(t.name+"_warn_threshold", byDefault)
		add(t.name+"_fail_threshold", byDefault)
	}
	for _, n := range numbers {
		add(n.name, strconv.FormatInt(*n.field(s), 10))
	}
	for _, f := range flags {
		add(f.name, strconv.FormatBool(*f.field(s)))
	}
	for _, l := range levelLists {
		add(l.name, "[]")
	}
	for _, l := range propertyLists {
		add(l.name, "[]")
	}
	return all
}

// Shown is a setting as system_views.settings shows it.
type Shown struct {
	Name, Value string
	Null        bool
}
