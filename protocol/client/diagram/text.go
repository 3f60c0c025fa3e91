package diagram

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// summary describes the diagram in a sentence.
func (d *Diagram) summary() string {
	var names []string
	for _, f := range d.frames {
		names = append(names, f.keyspace)
	}
	kind := "Physical"
	if d.logical {
		kind = "Logical"
	}
	return fmt.Sprintf("%s data model of %s: %s, %s", kind, strings.Join(names, ", "), count(d.Tables(), "table"),
		count(len(d.patterns), "access pattern"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// labels returns the text at an arrow.
func labels(patterns []Pattern) string {
	var all []string
	for _, p := range patterns {
		all = append(all, p.label())
	}
	return strings.Join(all, ", ")
}

// explain returns the texts of patterns.
func explain(patterns []Pattern) string {
	var all []string
	for _, p := range patterns {
		all = append(all, p.label()+": "+p.Text)
	}
	return strings.Join(all, " / ")
}

// explained is a line of the legend.
type explained struct{ name, text string }

// legend explains the names of patterns, and the marks and signs that the diagram has.
func (d *Diagram) legend() (all []explained) {
	shown := map[string]bool{}
	for _, p := range d.patterns {
		text := p.Text
		if p.Table == "" {
			text += " (no table)"
		}
		if name := p.label(); !shown[name] {
			all, shown[name] = append(all, explained{name, text}), true
		}
	}
	has := map[string]bool{}
	for _, f := range d.frames {
		for _, b := range f.boxes {
			for _, one := range b.lines {
				for mark := range strings.FieldsSeq(one.mark) {
					has[mark] = true
				}
				has[one.sign] = one.sign != "" || has[""]
			}
		}
	}
	var notation []string
	for _, one := range [][2]string{
		{"K", "K partition key"},
		{"C↑", "C↑ clustering, ascending"},
		{"C↓", "C↓ clustering, descending"},
		{"S", "S static"},
		{"IDX", "IDX indexed"},
		{"++", "++ counter"},
		{"[]", "[list]"},
		{"{}", "{set}"},
		{"<>", "<map>"},
		{"**", "*user-defined type*"},
		{"()", "(tuple)"},
	} {
		if has[one[0]] {
			notation = append(notation, one[1])
		}
	}
	if len(notation) > 0 {
		all = append(all, explained{"", strings.Join(notation, " · ")})
	}
	return all
}

// Limits of texts in terminal columns.
const (
	maxTextTitle = 80
	maxTextName  = 48
	maxTextType  = 64
)

// Text writes the diagram as boxes of characters. Arrows are lines above the boxes that they lead to:
//
//	Q7 ─▶
//	hotels ─ Q3 ─▶
//	┌ pois_by_hotel ─────┐
//	│ hotel_id  text  K  │
//	│ poi_name  text  C↑ │
//	└────────────────────┘
func Text(w io.Writer, d *Diagram) error {
	var b strings.Builder
	from := map[string][]Pattern{}
	for _, p := range d.patterns {
		if p.Table != "" && p.From != "" {
			from[p.Table] = append(from[p.Table], p)
		}
	}
	for i, f := range d.frames {
		if !d.logical && len(d.frames) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "keyspace %s\n\n", cutColumns(clean(f.keyspace), maxTextTitle))
		}
		for j, one := range f.boxes {
			if j > 0 {
				b.WriteByte('\n')
			}
			if len(one.into) > 0 {
				b.WriteString(labels(one.into) + " ─▶\n")
			}
			for _, p := range from[one.key] {
				name := strings.TrimPrefix(p.From, f.keyspace+".")
				fmt.Fprintf(&b, "%s ─ %s ─▶\n", cutColumns(clean(name), maxTextTitle), p.label())
			}
			one.write(&b, d.logical)
		}
	}
	legend := d.legend()
	names := 0
	for _, one := range legend {
		names = max(names, TextWidth(one.name)+2)
	}
	if len(legend) > 0 {
		b.WriteByte('\n')
	}
	for _, one := range legend {
		if one.name != "" {
			one.text = one.name + strings.Repeat(" ", names-TextWidth(one.name)) + one.text
		}
		b.WriteString(one.text + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes a box of characters. Physical ones have the names of indexes.
func (one *box) write(b *strings.Builder, logical bool) {
	title := cutColumns(one.title, maxTextTitle)
	if one.note != "" {
		title += " (" + cutColumns(one.note, maxTextTitle) + ")"
	}
	widths, n := [3]int{}, 0
	cells := func(c line) [3]string {
		marks := c.mark
		if c.index != "" && !logical {
			marks += " " + cutColumns(c.index, maxTextName)
		}
		return [3]string{cutColumns(c.name, maxTextName), cutColumns(c.typ, maxTextType), marks}
	}
	for _, c := range one.lines {
		for i, cell := range cells(c) {
			widths[i] = max(widths[i], TextWidth(cell))
		}
	}
	for _, w := range widths {
		if w > 0 {
			n += w + 2
		}
	}
	n = max(n, TextWidth(title)+3)
	b.WriteString("┌ " + title + " " + strings.Repeat("─", n-2-TextWidth(title)) + "┐\n")
	for _, c := range one.lines {
		text, used := "", 0
		for i, cell := range cells(c) {
			if widths[i] > 0 {
				text += cell + strings.Repeat(" ", widths[i]-TextWidth(cell)+2)
				used += widths[i] + 2
			}
		}
		b.WriteString("│ " + strings.TrimSuffix(text+strings.Repeat(" ", n-used), " ") + "│\n")
	}
	b.WriteString("└" + strings.Repeat("─", n) + "┘\n")
}

// Markdown writes a page with a table for each table, and the text of the diagram.
func Markdown(w io.Writer, d *Diagram) error {
	var b strings.Builder
	kind := "Physical"
	if d.logical {
		kind = "Logical"
	}
	fmt.Fprintf(&b, "# %s data model\n", kind)
	if len(d.patterns) > 0 {
		b.WriteString("\n## Access patterns\n\n| Name | Query | Table | After | Runs |\n|---|---|---|---|---|\n")
	}
	for _, p := range d.patterns {
		runs := ""
		if p.Count > 0 {
			runs = fmt.Sprint(p.Count)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdown(p.Name), markdown(p.Text), markdown(p.Table),
			markdown(p.From), runs)
	}
	for _, f := range d.frames {
		fmt.Fprintf(&b, "\n## Keyspace %s\n", markdown(f.keyspace))
		for _, one := range f.boxes {
			fmt.Fprintf(&b, "\n### %s\n\n", markdown(one.title))
			if one.note != "" {
				fmt.Fprintf(&b, "A %s.\n\n", markdown(one.note))
			}
			head, rule := "| Column | Type | Key |", "|---|---|---|"
			if d.logical {
				head, rule = "| Column | Key |", "|---|---|"
			}
			fmt.Fprintf(&b, "%s\n%s\n", head, rule)
			for _, c := range one.lines {
				fmt.Fprintf(&b, "| %s |", markdown(c.name))
				if !d.logical {
					fmt.Fprintf(&b, " %s |", markdown(c.typ))
				}
				fmt.Fprintf(&b, " %s |\n", markdown(c.mark))
			}
		}
	}
	b.WriteString("\n## Diagram\n\n")
	var text strings.Builder
	if err := Text(&text, d); err != nil {
		return err
	}
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	fmt.Fprintf(&b, "%s\n%s%s\n", fence, text.String(), fence)
	_, err := io.WriteString(w, b.String())
	return err
}

// special matches what Markdown and its tables give a meaning. Underscores inside words have none.
var special = regexp.MustCompile("[\\\\`*{}\\[\\]<>|~&]|\\b_|_\\b")

// markdown makes a text safe in a table of Markdown.
func markdown(s string) string { return special.ReplaceAllString(clean(s), `\$0`) }
