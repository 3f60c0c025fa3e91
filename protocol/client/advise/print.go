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

// String is the finding with its evidence, over several lines.
func (f *Finding) String() string {
	text := fmt.Sprintf("%s: %s (%s): %s", f.Table, f.Rule, f.Severity, f.Message)
	for _, e := range f.Evidence {
		text += "\n  " + e.String()
	}
	if f.Better != "" {
		text += "\n" + f.Better
	}
	if f.Proof != nil {
		text += "\n" + f.Proof.String()
	}
	return text
}

// color is the colour of a severity on a terminal.
func (s Severity) color() string {
	switch s {
	case Error:
		return "\x1b[31m"
	case Warning:
		return "\x1b[33m"
	}
	return "\x1b[36m"
}

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
	table, proposed := "", map[string]bool{}
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
		const indent = "\n          "
		message := strings.ReplaceAll(wrap(f.Rule+": "+f.Message), "\n", indent)
		fmt.Fprintf(&b, "  %s %s\n", paint(f.Severity.color(), fmt.Sprintf("%-7s", f.Severity)), message)
		for _, e := range f.Evidence {
			b.WriteString(indent[1:] + e.String() + "\n")
		}
		if f.Better != "" && !proposed[f.Better] {
			proposed[f.Better] = true
			b.WriteString(indent[1:] + paint(faint, strings.ReplaceAll(f.Better, "\n", indent)) + "\n")
		}
		if f.Proof != nil {
			b.WriteString(indent[1:] + strings.ReplaceAll(f.Proof.String(), "\n", indent) + "\n")
		}
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	b.WriteString(r.Summary() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// width is how many characters of a message are on one line.
const width = 100

// wrap breaks a text into lines at its spaces.
func wrap(text string) string {
	line, lines := "", []string{}
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
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
	if e.Form != "" {
		parts = append(parts, plural(int(e.Count), "time"))
	}
	if e.RowsRead > 0 {
		parts = append(parts, plural(int(e.RowsRead), "row")+" read")
	}
	if e.RowsRead > 0 || e.Tombstones > 0 {
		parts = append(parts, fmt.Sprintf("%d returned", e.Returned))
	}
	if e.Tombstones > 0 {
		parts = append(parts, plural(int(e.Tombstones), "tombstone"))
	}
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
