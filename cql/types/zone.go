package types

import (
	"strings"
	"time"
	_ "time/tzdata" // a server in an empty container has no zone files
)

// zone is the time zone of a timestamp: a fixed offset, or the rules of a place.
type zone struct {
	seconds int64          // east of UTC
	place   *time.Location // nil: the offset is fixed
}

// maxZoneOffset is how far from UTC an offset may be.
const maxZoneOffset = 18 * 3600

// parseZone reads the zone after a time: nothing or Z, which is UTC; an offset such as +01, +0100 or +01:00; or a
// space and an offset, an offset from GMT, or the name of a zone.
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

// parseISOOffset reads the zone that any date may have: nothing, Z or z, +HH:mm or +HH:mm:ss.
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

// parseZoneName reads a place of the IANA data, a common name, or UTC, UT or GMT with an optional offset of hours and
// minutes.
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

// zoneNames maps zone names to the place whose rules they follow. As in Java a name means the zone, not one of its
// offsets: PST in July is daylight time. Some of Java's readings may surprise: BST is Bougainville, IST is UTC. The
// names were recorded from Cassandra; Java knows more.
var zoneNames = map[string]string{
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "PT": "America/Los_Angeles",
	"Pacific Standard Time": "America/Los_Angeles", "Pacific Daylight Time": "America/Los_Angeles",
	"Pacific Time": "America/Los_Angeles",

	"MST": "America/Denver", "MDT": "America/Denver",
	"Mountain Standard Time": "America/Denver", "Mountain Daylight Time": "America/Denver",
	"Mountain Time": "America/Denver",

	"CST": "America/Chicago", "CDT": "America/Chicago", "CT": "America/Chicago",
	"Central Standard Time": "America/Chicago", "Central Daylight Time": "America/Chicago",
	"Central Time": "America/Chicago",

	"EST": "America/New_York", "EDT": "America/New_York", "ET": "America/New_York",
	"Eastern Standard Time": "America/New_York", "Eastern Daylight Time": "America/New_York",
	"Eastern Time": "America/New_York",

	"AST": "America/Halifax", "ADT": "America/Halifax", "Atlantic Standard Time": "America/Halifax",
	"NST": "America/St_Johns", "NDT": "America/St_Johns",
	"AKST": "America/Anchorage", "AKDT": "America/Anchorage", "Alaska Standard Time": "America/Anchorage",
	"HST": "Pacific/Honolulu", "Hawaii-Aleutian Standard Time": "Pacific/Honolulu",

	"BRT": "America/Sao_Paulo", "Brasilia Standard Time": "America/Sao_Paulo",
	"ART": "America/Argentina/Buenos_Aires", "Argentina Standard Time": "America/Argentina/Buenos_Aires",
	"COT": "America/Bogota", "PET": "America/Lima", "ACST": "America/Rio_Branco",

	"Coordinated Universal Time": "UTC", "Greenwich Mean Time": "UTC",
	"British Summer Time": "UTC", "IST": "UTC",

	"WET": "Europe/Lisbon", "WEST": "Europe/Lisbon", "Western European Time": "Europe/Lisbon",
	"Western European Standard Time": "Europe/Lisbon", "Western European Summer Time": "Europe/Lisbon",

	"CET": "Europe/Berlin", "CEST": "Europe/Berlin", "Central European Time": "Europe/Berlin",
	"Central European Standard Time": "Europe/Berlin", "Central European Summer Time": "Europe/Berlin",

	"EET": "Europe/Athens", "EEST": "Europe/Athens", "Eastern European Time": "Europe/Athens",
	"Eastern European Standard Time": "Europe/Athens", "Eastern European Summer Time": "Europe/Athens",

	"MSK": "Europe/Moscow", "Moscow Standard Time": "Europe/Moscow",

	"WAT": "Africa/Lagos", "West Africa Standard Time": "Africa/Lagos",
	"CAT": "Africa/Maputo", "Central Africa Time": "Africa/Maputo",
	"EAT": "Africa/Nairobi", "East Africa Time": "Africa/Nairobi",
	"SAST": "Africa/Johannesburg", "South Africa Standard Time": "Africa/Johannesburg",

	"Israel Standard Time": "Asia/Jerusalem", "Gulf Standard Time": "Asia/Dubai",
	"PKT": "Asia/Karachi", "Pakistan Standard Time": "Asia/Karachi", "India Standard Time": "Asia/Kolkata",
	"ICT": "Asia/Bangkok", "Indochina Time": "Asia/Bangkok",
	"WIB": "Asia/Jakarta", "WITA": "Asia/Makassar",
	"HKT": "Asia/Hong_Kong", "Hong Kong Standard Time": "Asia/Hong_Kong",
	"SGT": "Asia/Singapore", "Singapore Standard Time": "Asia/Singapore",
	"China Standard Time": "Asia/Shanghai",
	"JST":                 "Asia/Tokyo", "Japan Standard Time": "Asia/Tokyo",
	"KST": "Asia/Seoul", "Korean Standard Time": "Asia/Seoul",

	"AWST": "Australia/Perth", "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney",
	"Australian Eastern Standard Time": "Australia/Sydney",
	"NZST":                             "Pacific/Auckland", "NZDT": "Pacific/Auckland",
	"New Zealand Standard Time": "Pacific/Auckland",
	"BST":                       "Pacific/Bougainville",
}
