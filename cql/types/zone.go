package types

import (
	"strings"
	"time"
	_ "time/tzdata" // a server in an empty container has no zone files
)

// zone is a time zone behind a timestamp: a fixed offset, or the rules of a place.
type zone struct {
	seconds int64          // east of UTC
	place   *time.Location // nil: the offset is fixed
}

// maxZoneOffset is how far from UTC an offset may be.
const maxZoneOffset = 18 * 3600

// parseZone reads what is behind a time: nothing, which is UTC; Z; an offset such as +01, +0100 or
// +01:00; or behind a space one of those, an offset from GMT, or a zone's name.
func parseZone(text string) (zone, bool) {
	if text == "" || text == "Z" {
		return zone{}, true
	}
	name, spaced := strings.CutPrefix(text, " ")
	if seconds, ok := parseOffset(name); ok {
		return zone{seconds: seconds}, true
	}
	if !spaced {
		return zone{}, false
	}
	if seconds, ok := parseISOOffset(name); ok && len(name) > 1 {
		return zone{seconds: seconds}, true
	}
	return parseZoneName(name)
}

// parseOffset reads Z, +HH, +HHmm or +HH:mm as seconds east of UTC.
func parseOffset(text string) (int64, bool) {
	if text == "Z" {
		return 0, true
	}
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	digits := text[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) == 2 {
		digits += "00"
	}
	if len(digits) != 4 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	hours := int64(digits[0]-'0')*10 + int64(digits[1]-'0')
	minutes := int64(digits[2]-'0')*10 + int64(digits[3]-'0')
	seconds := hours*3600 + minutes*60
	if minutes > 59 || seconds > maxZoneOffset {
		return 0, false
	}
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// parseISOOffset reads what may stand behind every date: nothing, Z or z, +HH:mm or +HH:mm:ss.
func parseISOOffset(text string) (int64, bool) {
	switch {
	case text == "", text == "z":
		return 0, true
	case len(text) == len("+HH:mm:ss") && text[6] == ':' && isDigit(text[7]) && isDigit(text[8]) && text[7] < '6':
		minutes, ok := parseISOOffset(text[:6])
		seconds := int64(text[7]-'0')*10 + int64(text[8]-'0')
		if text[0] == '-' {
			return minutes - seconds, ok && minutes-seconds >= -maxZoneOffset
		}
		return minutes + seconds, ok && minutes+seconds <= maxZoneOffset
	case len(text) == len("+HH:mm") && text[3] == ':' || text == "Z":
		return parseOffset(text)
	}
	return 0, false
}

// parseZoneName reads a place of the IANA data, a name that people use, or UTC, UT or GMT, which an
// offset with hours and minutes may follow.
func parseZoneName(name string) (zone, bool) {
	for _, prefix := range [...]string{"UTC", "UT", "GMT"} {
		if offset, found := strings.CutPrefix(name, prefix); found {
			if offset == "" {
				return zone{}, true
			}
			if seconds, ok := parseOffset(offset); ok && len(offset) == len("+01:00") {
				return zone{seconds: seconds}, true
			}
		}
	}
	if place, ok := zoneNames[name]; ok {
		name = place
	}
	switch {
	case name == "", name == "Local", strings.HasPrefix(name, "posix/"), strings.HasPrefix(name, "right/"),
		strings.HasPrefix(name, "Etc/GMT+"), strings.HasPrefix(name, "Etc/GMT-"):
		return zone{}, false
	}
	place, err := time.LoadLocation(name)
	return zone{place: place}, err == nil
}

// offsetAtLocal is the zone's offset from UTC when its clocks show local, in seconds since 1970. A time
// that clocks show twice is the first of the two, and one they skip is taken as if they had not.
func (z zone) offsetAtLocal(local int64) int64 {
	if z.place == nil {
		return z.seconds
	}
	const day = 24 * 3600
	before, after := z.offsetAt(local-day), z.offsetAt(local+day)
	if z.offsetAt(local-before) != before && z.offsetAt(local-after) == after {
		return after
	}
	return before
}

// offsetAt is the offset of a place at a moment.
func (z zone) offsetAt(unix int64) int64 {
	_, seconds := time.Unix(unix, 0).In(z.place).Zone()
	return int64(seconds)
}
