package advise

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// JSON prints the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	shown := *r
	if shown.Findings == nil {
		shown.Findings = []Finding{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(shown)
}

// colors of severities on a terminal, and of CQL.
var colors = map[Severity]string{Error: "\x1b[31m", Warning: "\x1b[33m", Note: "\x1b[36m"}

const (
	faint = "\x1b[2m"
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

// Print prints the report for people, by table.
func (r *Report) Print(w io.Writer, color bool) error {
	paint := func(code, text string) string {
		if !color || text == "" {
			return text
		}
		return code + text + plain
	}
	var b strings.Builder
	byTable := slices.Clone(r.Findings)
	slices.SortStableFunc(byTable, func(a, b Finding) int { return strings.Compare(a.Table, b.Table) })
	table := ""
	for i := range byTable {
		f := &byTable[i]
		if f.Table != table {
			table = f.Table
			b.WriteString(paint(bold, table))
			if f.File != "" {
				fmt.Fprintf(&b, "  %s:%d", f.File, f.Line)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  %s %s: %s\n", paint(colors[f.Severity], fmt.Sprintf("%-7s", f.Severity)), f.Rule, f.Message)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "          %s\n", e)
		}
		if f.Better != "" {
			b.WriteString(paint(faint, "          "+strings.ReplaceAll(f.Better, "\n", "\n          ")) + "\n")
		}
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	b.WriteString(r.Summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	counts := map[Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	found := "nothing to report"
	if len(r.Findings) > 0 {
		var all []string
		for _, s := range []Severity{Error, Warning, Note} {
			if counts[s] > 0 {
				all = append(all, plural(counts[s], string(s)))
			}
		}
		found = strings.Join(all, ", ")
	}
	looked := plural(r.Tables, "table") + " and " + plural(r.Statements, "statement")
	if !r.Recorded {
		looked = plural(r.Tables, "table") + "; no statements were recorded, so only rules of the schema apply"
	}
	return found + " in " + looked
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// String is the evidence on one line.
func (e Evidence) String() string {
	var parts []string
	add := func(n int64, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if e.Form != "" {
		parts = append(parts, plural(int(e.Count), "time"))
	}
	add(e.RowsRead, "rows read")
	if e.RowsRead > 0 || e.Tombstones > 0 {
		parts = append(parts, fmt.Sprintf("%d returned", e.Returned))
	}
	add(e.Tombstones, "tombstones")
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	text := strings.Join(parts, ", ")
	if e.Form != "" {
		text = shorten(e.Form) + "  (" + text + ")"
	}
	return text
}

// maxShown is how many characters of a statement are printed.
const maxShown = 160

// shorten is a statement on one line without its middle if it is long.
func shorten(form string) string {
	form = strings.Join(strings.Fields(form), " ")
	if runes := []rune(form); len(runes) > maxShown {
		return string(runes[:maxShown*2/3]) + " … " + string(runes[len(runes)-maxShown/3:])
	}
	return form
}
