package script

import (
	"strings"

	"github.com/cqld/cqld/protocol"
)

// formatRows prints a result: a line of names with their types, and a line for each row, in CQL's literals.
func formatRows(columns []protocol.ColumnSpec, rows [][][]byte) []string {
	if len(columns) == 0 {
		return []string{"ok"} // a statement that returns no rows
	}
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.Name + " " + c.Type.String()
	}
	lines := []string{strings.Join(header, " | ")}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = formatValue(columns[i], v)
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// formatValue prints a value; an empty one of a type that has no literal for it shows as (empty).
func formatValue(c protocol.ColumnSpec, v []byte) string {
	if v == nil {
		return "null"
	}
	text := c.Type.Format(v)
	if text == "" || len(v) == 0 && text == "null" {
		return "(empty)"
	}
	return text
}
