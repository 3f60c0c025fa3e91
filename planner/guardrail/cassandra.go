package guardrail

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// cassandraTable is what SELECT * FROM system_views.settings shows in a Cassandra 5.0.8 with 2 GiB of heap. A line has
// a name and a value, separated by a tab. Old names are followed by the setting that has replaced them:
//
//	read_request_timeout_in_ms  5000  read_request_timeout  ms
//
// has the value of read_request_timeout as a number of milliseconds; without a unit it would be the same text. Folders
// and addresses of Cassandra's machine are null. Where cqld always does what another value than the default asks for,
// the table has that value: cqld has views and SASI indexes, never takes snapshots, and a users' function that takes
// too long does not end the node.
//
//go:embed cassandra.txt
var cassandraTable string

// cassandraSetting is a line of the table.
type cassandraSetting struct {
	Shown
	replacement, unit string // of an old name
}

// cassandraSettings reads the table, in its order, which is that of the names.
var cassandraSettings = sync.OnceValue(func() (all []cassandraSetting) {
	for line := range strings.Lines(cassandraTable) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "")
		s := cassandraSetting{Shown{Name: f[0], Value: f[1]}, f[2], f[3]}
		if s.Value == "null" {
			s.Value, s.Null = "", true
		}
		all = append(all, s)
	}
	return all
})

// isCassandras reports whether Cassandra has a setting of this name.
func isCassandras(name string) bool {
	return slices.ContainsFunc(cassandraSettings(), func(s cassandraSetting) bool { return s.Name == name })
}

// ShownWithCassandras lists the rows of system_views.settings: Cassandra's settings and applyToAll. Their values come
// from s, or from the given ones, for which the server has other means such as flags, or are Cassandra's defaults.
func (s *Settings) ShownWithCassandras(given map[string]string) []Shown {
	own := map[string]Shown{}
	for _, shown := range s.Shown() {
		own[shown.Name] = shown
	}
	for name, value := range given {
		own[name] = Shown{Name: name, Value: value}
	}
	all := []Shown{own[applyToAll]}
	for _, c := range cassandraSettings() {
		shown := c.Shown
		if set, ok := own[c.Name]; ok {
			shown = set
		} else if set, ok := own[c.replacement]; ok {
			shown = Shown{Name: c.Name, Value: inUnit(set.Value, c.unit), Null: set.Null}
		}
		all = append(all, shown)
	}
	return all
}

// inUnit returns a size or a duration as a number of a unit: 2s in ms is 2000. Without a unit it returns the value.
func inUnit(value, unit string) string {
	text, units := sizeText, sizes
	if durations[unit] != 0 {
		text, units = durationText, durations
	}
	match := text.FindStringSubmatch(value)
	if match == nil || unit == "" {
		return value
	}
	n, _ := strconv.ParseInt(match[1], 10, 64) // the value was read before
	return strconv.FormatInt(n*units[match[2]]/units[unit], 10)
}
