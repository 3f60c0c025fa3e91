package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// pagePath is the page, seen from the folder of the module.
const pagePath = "compat_tests/SUITES.md"

// The program writes the part of the page between these lines.
const (
	pageBegin = "<!-- written by make suites: begin -->\n"
	pageEnd   = "<!-- written by make suites: end -->\n"
)

// tableHead is the head of the page's table.
const tableHead = "| suite | version | protocol | tests run | passed here | passed on Cassandra |\n|---|---|---|---|---|---|\n"

// entry is the part of the page about one suite: a row of the table and a section below it.
type entry struct{ row, section string }

// writePage updates the entries of the compared suites, and leaves the others.
func writePage(path, release string, done []comparison) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := updated(string(content), release, done)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

func updated(page, release string, done []comparison) (string, error) {
	head, rest, begin := strings.Cut(page, pageBegin)
	body, tail, end := strings.Cut(rest, pageEnd)
	if !begin || !end {
		return "", fmt.Errorf("lines that the program writes between are not there: %q, %q", pageBegin, pageEnd)
	}
	entries := readEntries(body)
	for _, c := range done {
		entries[c.suite.name] = entryOf(c)
	}
	var table, sections strings.Builder
	for _, s := range suites {
		table.WriteString(entries[s.name].row)
		sections.WriteString(entries[s.name].section)
	}
	body = fmt.Sprintf("\nrecorded from: Cassandra %s\n\n%s%s\n%s", release, tableHead, table.String(), sections.String())
	return head + pageBegin + body + pageEnd + tail, nil
}

// readEntries finds the rows and sections of a page by the names of suites.
func readEntries(body string) map[string]entry {
	entries := map[string]entry{}
	table, rest, _ := strings.Cut(body, "### ")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			name := strings.TrimPrefix(cells[0], "| ")
			entries[name] = entry{row: line}
		}
	}
	if rest == "" {
		return entries
	}
	for _, section := range strings.Split(rest, "\n### ") {
		name, _, _ := strings.Cut(section, "\n")
		e := entries[name]
		e.section = "### " + strings.TrimRight(section, "\n") + "\n\n"
		entries[name] = e
	}
	return entries
}

func entryOf(c comparison) entry {
	s := c.suite
	var section strings.Builder
	fmt.Fprintf(&section, "### %s\n\n", s.name)
	if len(c.here)+len(c.both)+len(c.there) == 0 {
		section.WriteString("Both pass all tests.\n\n")
	}
	writeDifferences(&section, "Cassandra passes, cqld does not:", c.here)
	writeDifferences(&section, "Neither passes, and why Cassandra does not:", c.both)
	writeDifferences(&section, "cqld passes, Cassandra does not:", c.there)
	return entry{
		row:     fmt.Sprintf("| %s | %s | %s | %d | %d | %d |\n", s.name, s.version, s.protocol, c.ran, c.passed, c.passedReal),
		section: section.String(),
	}
}

// writeDifferences lists tests by cause, the cause of most tests first.
func writeDifferences(w *strings.Builder, title string, list []difference) {
	if len(list) == 0 {
		return
	}
	tests := map[string][]string{}
	var order []string
	for _, d := range list {
		text := d.cause
		if text == "" {
			text = "**unexplained**"
		}
		if tests[text] == nil {
			order = append(order, text)
		}
		tests[text] = append(tests[text], "`"+d.test+"`")
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(tests[b]) - len(tests[a]) })
	fmt.Fprintf(w, "%s\n\n", title)
	for _, text := range order {
		fmt.Fprintf(w, "- %s: %s\n", text, strings.Join(tests[text], ", "))
	}
	w.WriteString("\n")
}
