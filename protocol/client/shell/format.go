package shell

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// The formats of results.
const (
	FormatTable    = "table"
	formatJSON     = "json"
	formatLines    = "jsonl"
	formatCSV      = "csv"
	formatMarkdown = "markdown"
	formatVertical = "vertical"
)

// Formats are the formats of results: cqlsh's tables, and others for programs and documents, without the number of
// rows.
var Formats = []string{FormatTable, formatJSON, formatLines, formatCSV, formatMarkdown, formatVertical}

// printRecords prints the rows of a statement in another format than a table; next returns the following page.
func (s *Session) printRecords(r *client.Result, next func() (*client.Result, error)) error {
	if len(r.Columns) == 0 {
		return nil
	}
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Name)
	}
	rows := 0
	s.printHead(names)
	for {
		for _, row := range r.Rows {
			if err := s.printRecord(names, r, row, rows); err != nil {
				return err
			}
			rows++
		}
		if r.PagingState == nil {
			break
		}
		var err error
		if r, err = next(); err != nil {
			return err
		}
	}
	if s.o.Format == formatJSON {
		if rows > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprintln(s.out, "]")
	}
	return nil
}

// printHead prints the lines before the first row.
func (s *Session) printHead(names []string) {
	switch s.o.Format {
	case formatJSON:
		fmt.Fprintln(s.out, "[")
	case formatCSV:
		s.writeCSV(names)
	case formatMarkdown:
		fmt.Fprintf(s.out, "| %s |\n|%s\n", strings.Join(markdownCells(names), " | "), strings.Repeat(" --- |",
			len(names)))
	}
}

// printRecord prints a row; rows is how many came before.
func (s *Session) printRecord(names []string, r *client.Result, row [][]byte, rows int) error {
	if s.o.Format == formatJSON || s.o.Format == formatLines {
		object := []byte("{")
		for i, c := range r.Columns {
			if i > 0 {
				object = append(object, ", "...)
			}
			key, err := json.Marshal(c.Name)
			if err != nil {
				return err
			}
			object = append(append(object, key...), ": "...)
			if row[i] == nil {
				object = append(object, "null"...)
				continue
			}
			object = c.Type.AppendJSON(object, row[i])
		}
		object = append(object, '}')
		switch {
		case s.o.Format == formatLines:
			fmt.Fprintf(s.out, "%s\n", object)
		case rows > 0:
			fmt.Fprintf(s.out, ",\n  %s", object)
		default:
			fmt.Fprintf(s.out, "  %s", object)
		}
		return nil
	}
	cells := make([]string, len(row))
	for i, c := range r.Columns {
		cells[i] = s.rawCell(c.Type, row[i])
	}
	switch s.o.Format {
	case formatCSV:
		s.writeCSV(cells)
	case formatMarkdown:
		fmt.Fprintf(s.out, "| %s |\n", strings.Join(markdownCells(cells), " | "))
	default:
		for i, c := range r.Columns {
			cells[i] = s.style.cell(c.Type, row[i])
		}
		printVertical(s.out, names, [][]string{cells}, rows)
	}
	return nil
}

// rawCell prints a value for another program: texts are as they are, and null is empty.
func (s *Session) rawCell(t types.Type, b []byte) string {
	switch {
	case b == nil:
		return ""
	case t == types.Text || t == types.ASCII:
		return string(b)
	}
	plain := s.style
	plain.color, plain.float, plain.double = false, exactDigits, exactDigits
	return plain.cell(t, b)
}

// exactDigits are enough digits for each double.
const exactDigits = 17

func (s *Session) writeCSV(fields []string) {
	w := csv.NewWriter(s.out)
	_ = w.Write(fields) // the buffered writer keeps the error for its Flush
	w.Flush()
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "\r\n", "<br>", "\n", "<br>", `\`, `\\`, "<", "&lt;")

func markdownCells(cells []string) []string {
	all := make([]string, len(cells))
	for i, c := range cells {
		all[i] = markdownEscapes.Replace(c)
	}
	return all
}
