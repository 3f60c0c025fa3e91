package transcripts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// In a file the answers of all versions are below each other: a line "< text" is in the answers of all, a line
// "<34 text" only in the answers of v3 and v4.

// line adds a line of a file.
func (a Answers) line(line string, all []protocol.Version) error {
	digits, text, _ := strings.Cut(line[1:], " ")
	versions := all
	if digits != "" {
		versions = nil
		for _, d := range strings.Split(digits, "") {
			v, err := parseVersion(d)
			if err != nil || !slices.Contains(all, v) {
				return fmt.Errorf("an answer of version %s, which the session has not", d)
			}
			versions = append(versions, v)
		}
	}
	for _, v := range versions {
		a[v] = append(a[v], text)
	}
	return nil
}

// lines are the lines of a file: each is for as many versions as possible.
func (a Answers) lines() []string {
	rest := maps.Clone(a)
	versions := slices.Sorted(maps.Keys(a))
	var lines []string
	for {
		text, in := next(rest, versions)
		if in == nil {
			return lines
		}
		digits := ""
		for _, v := range in {
			rest[v] = rest[v][1:]
			if len(in) < len(versions) {
				digits += fmt.Sprint(byte(v))
			}
		}
		lines = append(lines, strings.TrimRight("<"+digits+" "+text, " "))
	}
}

// next chooses the line to print next among the first ones of each version: one that no version has further
// down, or else the first. It also returns the versions whose first line that is, none if nothing is left.
func next(rest Answers, versions []protocol.Version) (text string, in []protocol.Version) {
	for _, v := range versions {
		if len(rest[v]) == 0 {
			continue
		}
		head := rest[v][0]
		var with []protocol.Version
		later := false
		for _, other := range versions {
			switch slices.Index(rest[other], head) {
			case 0:
				with = append(with, other)
			case -1:
			default:
				later = true
			}
		}
		if in == nil || !later {
			text, in = head, with
		}
		if !later {
			break
		}
	}
	return text, in
}
