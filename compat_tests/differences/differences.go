// Package differences reads docs/differences.md, the numbered list of differences between cqld and Cassandra.
//
// Parse checks the form of the page and returns each Difference. The test of compat_tests compares the list with the
// scripts that show the differences; the replay in compat_tests/wire takes its reasons from the list.
package differences

import (
	"fmt"
	"regexp"
	"strings"
)

// Page is the path of the list, from the root of the repository.
const Page = "docs/differences.md"

// Difference is one entry of the page.
//
//	**301** Sentences. [Script](../compat_tests/scripts/differences/301_name.txt)
//	**302** Sentences. (no script: Cassandra hangs)
type Difference struct {
	Number string // three digits; the first is the number of the area
	Text   string
	Script string // the name of its file, or "" if Reason is set
	Reason string // why there is no script
}

// maxText bounds the length of an entry. Divide a longer one into several differences.
const maxText = 480

var (
	heading = regexp.MustCompile(`^## (\d)\d\d: \S`)
	entry   = regexp.MustCompile(`(?s)^\*\*(\d{3})\*\* (.+)$`)
	linked  = regexp.MustCompile(`(?s)^(.+)\s\[Script\]\(\.\./compat_tests/scripts/differences/((\d{3})_[a-z0-9_]+\.txt)\)$`)
	reason  = regexp.MustCompile(`(?s)^(.+)\s\(no script: (.+)\)$`)
)

// Parse reads the page. Numbers ascend, and each has the first digit of the heading above it.
func Parse(page string) ([]Difference, error) {
	var all []Difference
	area, last := "", ""
	for paragraph := range strings.SplitSeq(strings.TrimSpace(page), "\n\n") {
		if m := heading.FindStringSubmatch(paragraph); m != nil {
			area = m[1]
			continue
		}
		if !strings.HasPrefix(paragraph, "**") {
			continue
		}
		d, err := parseEntry(paragraph)
		switch {
		case err != nil:
			return nil, err
		case d.Number <= last:
			return nil, fmt.Errorf("difference %s stands behind %s", d.Number, last)
		case d.Number[:1] != area:
			return nil, fmt.Errorf("difference %s stands in the area %s00", d.Number, area)
		}
		last = d.Number
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no differences")
	}
	return all, nil
}

func parseEntry(paragraph string) (Difference, error) {
	m := entry.FindStringSubmatch(paragraph)
	if m == nil {
		return Difference{}, fmt.Errorf("%.40q does not begin with a number", paragraph)
	}
	d := Difference{Number: m[1], Text: m[2]}
	if m := linked.FindStringSubmatch(d.Text); m != nil {
		d.Text, d.Script = m[1], m[2]
		if m[3] != d.Number {
			return d, fmt.Errorf("difference %s has the script of another, %s", d.Number, d.Script)
		}
	} else if m := reason.FindStringSubmatch(d.Text); m != nil {
		d.Text, d.Reason = m[1], m[2]
	} else {
		return d, fmt.Errorf("difference %s ends neither in the link to its script nor in (no script: the reason)", d.Number)
	}
	if len(d.Text) > maxText {
		return d, fmt.Errorf("difference %s has %d bytes of text, over %d: make it several", d.Number, len(d.Text), maxText)
	}
	return d, nil
}
