package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// defaultTimeFormat is the format of timestamps.
const defaultTimeFormat = "%Y-%m-%d %H:%M:%S.%f%z"

// layouts are the directives of strftime that are also layouts of package time.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'z': "-0700", 'Z': "MST", 'y': "06",
	'b': "Jan", 'B': "January",
	'a': "Mon", 'A': "Monday", 'p': "PM", 'I': "03", 'j': "002",
}

// strftime formats a time as Python does. With millis, %f has three digits instead of six.
func strftime(format string, t time.Time, millis bool) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch layout, ok := layouts[format[i]]; {
		case format[i] == 'f' && millis:
			fmt.Fprintf(&b, "%03d", t.Nanosecond()/1e6)
		case format[i] == 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1e3)
		case format[i] == '%':
			b.WriteByte('%')
		case ok:
			b.WriteString(t.Format(layout))
		default:
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}

// strptime parses a time in a format of strftime. Without %z the time is in UTC.
func strptime(format, s string) (time.Time, error) {
	layout := strings.Builder{}
	fraction := time.Duration(0)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			layout.WriteByte(format[i])
			continue
		}
		i++
		known, ok := layouts[format[i]]
		switch {
		case format[i] == 'f':
			// Package time has no layout for a fraction after other text than a point: take it out.
			at := fractionPlace(layout.String(), s)
			n := span(s[at:], isDigit)
			micros, err := strconv.Atoi((s[at:at+n] + "000000")[:6])
			if n == 0 || err != nil {
				return time.Time{}, fmt.Errorf("time data %s does not match format %s", pythonString(s),
					pythonString(format))
			}
			fraction = time.Duration(micros) * time.Microsecond
			s = s[:at] + s[at+n:]
		case format[i] == '%':
			layout.WriteByte('%')
		case ok:
			layout.WriteString(known)
		default:
			return time.Time{}, fmt.Errorf("the time format %s has %%%c, which cannot be read", pythonString(format),
				format[i])
		}
	}
	t, err := time.Parse(layout.String(), s)
	if err != nil {
		return t, fmt.Errorf("time data %s does not match format %s", pythonString(s), pythonString(format))
	}
	return t.Add(fraction), nil
}

// fractionPlace returns where the text that the layout covers ends in s. All numbers of a layout have a fixed width,
// and so have the texts printed by it, unless it has names of months or days.
func fractionPlace(layout, s string) int {
	return min(len(time.Unix(0, 0).UTC().Format(layout)), len(s))
}
