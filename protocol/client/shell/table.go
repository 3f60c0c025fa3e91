package shell

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/cqld/cqld/protocol"
)

// printTable prints rows as cqlsh does, with names aligned to the left and values to the right.
//
//	 k | name
//	---+-------
//	 1 | Bären
//
//	(1 rows)
func printTable(out io.Writer, columns []protocol.ColumnSpec, rows [][][]byte) {
	cells := make([][]string, len(rows))
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = textWidth(c.Name)
	}
	for r, row := range rows {
		cells[r] = make([]string, len(columns))
		for i, c := range columns {
			cells[r][i] = formatCell(c.Type, row[i])
			widths[i] = max(widths[i], textWidth(cells[r][i]))
		}
	}
	var b strings.Builder
	b.WriteByte('\n')
	for i, c := range columns {
		separate(&b, i, " ", " | ")
		b.WriteString(c.Name)
		if i < len(columns)-1 {
			pad(&b, widths[i]-textWidth(c.Name), ' ')
		}
	}
	b.WriteByte('\n')
	for i, w := range widths {
		separate(&b, i, "", "+")
		pad(&b, w+2, '-')
	}
	b.WriteByte('\n')
	for _, row := range cells {
		for i, cell := range row {
			separate(&b, i, " ", " | ")
			pad(&b, widths[i]-textWidth(cell), ' ')
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	if len(rows) == 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n(%d rows)\n", len(rows))
	_, _ = io.WriteString(out, b.String()) // the buffered writer keeps the error for its Flush
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

// textWidth is the number of terminal columns that a text takes.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), unicode.Is(unicode.Cf, r):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wideRanges are the characters that take two columns: Hangul, CJK, kana, full-width forms and emoji.
var wideRanges = [][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

func isWide(r rune) bool {
	for _, w := range wideRanges {
		if r >= w[0] && r <= w[1] {
			return true
		}
	}
	return false
}
