package control

import (
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// values are the bytes of columns by their names; nil is null.
type values map[string][]byte

// text returns a text, or "".
func (v values) text(name string) string { return string(v[name]) }

// int returns a number, with a default. It refuses numbers below 0.
func (v values) int(name string, otherwise int) (int, error) {
	if v[name] == nil {
		return otherwise, nil
	}
	n := int(types.DecodeInt(v[name]))
	if n < 0 {
		return 0, cqlerr.Invalidf("%s is %d, and cannot be negative", name, n)
	}
	return n, nil
}

// bool returns a boolean, or false.
func (v values) bool(name string) bool { return types.DecodeBoolean(v[name]) }

// duration returns a duration, or 0. A day has 24 hours; months have no length.
func (v values) duration(name string) (time.Duration, error) {
	if v[name] == nil {
		return 0, nil
	}
	months, days, nanos := types.DecodeDuration(v[name])
	if months != 0 {
		return 0, cqlerr.Invalidf("%s has months, which are not equally long", name)
	}
	const most = int64(100 * 365 * 24 * time.Hour)
	if hours := days * 24; days > most/int64(24*time.Hour) || -days > most/int64(24*time.Hour) || nanos > most || -nanos > most {
		return 0, cqlerr.Invalidf("%s is longer than a hundred years", name)
	} else if d := time.Duration(hours)*time.Hour + time.Duration(nanos); d.Abs() <= time.Duration(most) {
		return d, nil
	}
	return 0, cqlerr.Invalidf("%s is longer than a hundred years", name)
}

// setDuration sets a duration that is null when zero.
func (v values) setDuration(name string, d time.Duration) {
	if d != 0 {
		v[name] = types.EncodeDuration(0, 0, int64(d))
	}
}

// setText sets a text that is null when empty.
func (v values) setText(name, text string) {
	if text != "" {
		v[name] = types.EncodeText(text)
	}
}

// setInt sets a number.
func (v values) setInt(name string, n int) { v[name] = types.EncodeInt(int32(n)) }

// setBool sets a boolean.
func (v values) setBool(name string, yes bool) { v[name] = types.EncodeBoolean(yes) }
