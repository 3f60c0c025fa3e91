package types

// zoneNames has names of zones that are not places, with the place whose rules they stand for. As in
// Java a name stands for the zone and not for one of its offsets: PST in July is an hour ahead. Java
// reads a few abbreviations in ways that may surprise, which are kept: BST is Bougainville, IST is UTC. The
// table has the names that were asked of Cassandra; Java has more.
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
