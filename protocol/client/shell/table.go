package shell

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/diagram"
	"github.com/cqld/cqld/protocol/client/model"
)

// printResult prints the rows of a statement; colors are those of the columns' names, and next returns the following
// page. Like cqlsh it computes the widths of columns for each page.
//
//	 k | name
//	---+-------
//	 1 | Bären
//
//	(1 rows)
func (s *Session) printResult(r *client.Result, statement string, colors []string,
	next func() (*client.Result, error),
) error {
	if s.o.Format != FormatTable {
		return s.printRecords(r, next)
	}
	first := strings.ToLower(strings.TrimSpace(statement))
	if !strings.HasPrefix(first, "select") && !strings.HasPrefix(first, "list") {
		if len(r.Rows) > 0 { // of a conditional write
			fmt.Fprintln(s.out)
			s.printPage(r, colors, true, 0)
		}
		return nil
	}
	fmt.Fprintln(s.out)
	rows := 0
	for page := 0; ; page++ {
		for len(r.Rows) == 0 && r.PagingState != nil { // servers may send such pages while they filter
			var err error
			if r, err = next(); err != nil {
				return err
			}
		}
		if len(r.Rows) > 0 || page == 0 {
			s.printPage(r, colors, page == 0 || s.o.Terminal, rows)
			rows += len(r.Rows)
		}
		if r.PagingState == nil {
			break
		}
		if s.onTerminal() && s.o.More != nil {
			if err := s.out.Flush(); err != nil {
				return err
			}
			if !s.o.More() {
				return nil
			}
		}
		var err error
		if r, err = next(); err != nil {
			return err
		}
	}
	if !s.o.Terminal {
		fmt.Fprintln(s.out)
	}
	fmt.Fprintf(s.out, "(%d rows)\n", rows)
	return nil
}

// nameColors returns the colours of the names of columns: like cqlsh it shows the partition key, clustering columns and
// static columns each in another one. If their kinds cannot be read, they all have the same.
func (s *Session) nameColors(ctx context.Context, r *client.Result) []string {
	colors := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		colors[i] = magenta
		if !s.style.color || s.o.Format != FormatTable {
			continue
		}
		switch s.columnKinds(ctx, c.Keyspace, c.Table)[c.Name] {
		case "partition_key":
			colors[i] = red
		case "clustering":
			colors[i] = cyan
		case "static":
			colors[i] = white
		}
	}
	return colors
}

// columnKinds reads the kinds of the columns of a table, and keeps them until a statement of the session changes the
// schema.
func (s *Session) columnKinds(ctx context.Context, keyspace, table string) map[string]string {
	key := [2]string{keyspace, table}
	if kinds, ok := s.kinds[key]; ok {
		return kinds
	}
	if s.kinds == nil {
		s.kinds = map[[2]string]map[string]string{}
	}
	kinds := map[string]string{}
	s.kinds[key] = kinds
	for _, schema := range []string{"system_schema", "system_virtual_schema"} {
		r, err := s.all(ctx, "SELECT column_name, kind FROM "+schema+".columns WHERE keyspace_name = "+
			quote.Text(keyspace)+" AND table_name = "+quote.Text(table))
		if err != nil {
			continue
		}
		for row := range model.Records(r) {
			kinds[row.Text("column_name")] = row.Text("kind")
		}
		if len(kinds) > 0 {
			break
		}
	}
	return kinds
}

// printPage prints a page of rows; before is how many rows came on earlier pages.
func (s *Session) printPage(r *client.Result, colors []string, header bool, before int) {
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = s.style.paint(s.style.withoutColor(c.Name), colors[i])
	}
	cells := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		cells[i] = make([]string, len(row))
		for j, c := range r.Columns {
			cells[i][j] = s.style.cell(c.Type, row[j])
			if s.maxCell > 0 && s.onTerminal() {
				cells[i][j] = cut(cells[i][j], s.maxCell)
			}
		}
	}
	s.printCells(names, cells, header, before)
}

// withoutColor prints a text as a cell of a table without colours.
func (s *style) withoutColor(content string) string {
	plain := *s
	plain.color = false
	return plain.textCell(content, false)
}

// printCells prints a table, or its rows one below the other after EXPAND ON.
func (s *Session) printCells(names []string, cells [][]string, header bool, before int) {
	if s.expand && len(cells) > 0 {
		printVertical(s.out, names, cells, before)
		return
	}
	printTable(s.out, names, cells, header)
	if len(cells) == 0 || s.o.Terminal {
		fmt.Fprintln(s.out)
	}
}

// printTable prints a table with names aligned to the left and values to the right.
func printTable(out io.Writer, names []string, cells [][]string, header bool) {
	widths := make([]int, len(names))
	for i, name := range names {
		widths[i] = diagram.TextWidth(name)
	}
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], diagram.TextWidth(cell))
		}
	}
	var b strings.Builder
	if header {
		for i, name := range names {
			separate(&b, i, " ", " | ")
			b.WriteString(name)
			if i < len(names)-1 {
				pad(&b, widths[i]-diagram.TextWidth(name), ' ')
			}
		}
		b.WriteByte('\n')
		for i, w := range widths {
			separate(&b, i, "", "+")
			pad(&b, w+2, '-')
		}
		b.WriteByte('\n')
	}
	for _, row := range cells {
		for i, cell := range row {
			separate(&b, i, " ", " | ")
			pad(&b, widths[i]-diagram.TextWidth(cell), ' ')
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(out, b.String()) // the buffered writer keeps the error for its Flush
}

// printVertical prints rows one below the other.
func printVertical(out io.Writer, names []string, cells [][]string, before int) {
	left, right := 0, 0
	for _, name := range names {
		left = max(left, diagram.TextWidth(name))
	}
	for _, row := range cells {
		for _, cell := range row {
			right = max(right, diagram.TextWidth(cell))
		}
	}
	var b strings.Builder
	for n, row := range cells {
		fmt.Fprintf(&b, "@ Row %d\n", before+n+1)
		pad(&b, left+2, '-')
		b.WriteByte('+')
		pad(&b, right+2, '-')
		b.WriteByte('\n')
		for i, cell := range row {
			b.WriteString(" " + names[i])
			pad(&b, left-diagram.TextWidth(names[i]), ' ')
			b.WriteString(" | " + cell + "\n")
		}
		b.WriteByte('\n')
	}
	_, _ = io.WriteString(out, b.String()) // likewise
}

func separate(b *strings.Builder, column int, first, other string) {
	if column == 0 {
		b.WriteString(first)
		return
	}
	b.WriteString(other)
}

func pad(b *strings.Builder, n int, with byte) {
	for range n {
		b.WriteByte(with)
	}
}

// cut cuts a text to a number of terminal columns. A text that was cut ends with an ellipsis.
func cut(s string, width int) string {
	if diagram.TextWidth(s) <= width {
		return s
	}
	n, inside, color := 0, 0, ""
	for at, r := range s {
		switch {
		case at < inside:
		case r == '\x1b':
			inside = at + strings.IndexByte(s[at:], 'm') + 1
			color = s[at:inside]
		default:
			if n += diagram.TextWidth(string(r)); n < width {
				continue
			}
			if s = s[:at] + "…"; color != "" && color != resetColor {
				s += resetColor
			}
			return s
		}
	}
	return s
}

// onTerminal reports whether results are printed on a terminal.
func (s *Session) onTerminal() bool { return s.o.Terminal && s.capture == nil }
