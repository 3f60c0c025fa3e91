package shell

import (
	"context"
	"strings"

	"github.com/cqld/cqld/protocol/client/model"
)

// diagramCommand draws the tables of a keyspace as boxes.
func (s *Session) diagramCommand(ctx context.Context, rest string) error {
	keyspace := s.keyspace
	if rest != "" {
		tokens, err := lex(rest)
		if err != nil || len(tokens) != 1 || !tokens[0].isName() {
			return shown(`\diagram takes the name of a keyspace.`)
		}
		keyspace = tokens[0].identifier()
	}
	if keyspace == "" {
		return shown(`\diagram needs the name of a keyspace: none is in use.`)
	}
	tables, err := model.Tables(ctx, s.all, keyspace, "")
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return shownf("There is no table in the keyspace %s.", keyspace)
	}
	for _, t := range tables {
		s.print("%s\n", box(t))
	}
	s.print("K: partition key, C: clustering, S: static\n")
	return nil
}

// box draws a table.
//
//	┌ hotels ──────────┐
//	│ K  city  text    │
//	│ C  id    int     │
//	│    name  text    │
//	└──────────────────┘
func box(t *model.Table) string {
	title := t.Name
	if t.Of != "" {
		title += " (view of " + t.Of + ")"
	}
	names, kinds := 0, map[string]string{"partition_key": "K", "clustering": "C", "static": "S", "regular": " "}
	for _, c := range t.Columns {
		names = max(names, textWidth(c.Name))
	}
	var lines []string
	width := textWidth(title) + 1
	for _, c := range t.Columns {
		line := kinds[c.Kind] + "  " + c.Name + strings.Repeat(" ", names-textWidth(c.Name)) + "  " + c.Type
		if c.Desc {
			line += " desc"
		}
		if c.Index != "" {
			line += "  ← " + c.Index
		}
		lines, width = append(lines, line), max(width, textWidth(line))
	}
	var b strings.Builder
	b.WriteString("┌ " + title + " " + strings.Repeat("─", width-textWidth(title)) + "┐\n")
	for _, line := range lines {
		b.WriteString("│ " + line + strings.Repeat(" ", width-textWidth(line)) + " │\n")
	}
	b.WriteString("└" + strings.Repeat("─", width+2) + "┘\n")
	return b.String()
}
