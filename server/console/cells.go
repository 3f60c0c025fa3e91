package console

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/types"
)

// maxCell is how many bytes of a cell a page shows, maxLiteral the longest value that it can edit.
const (
	maxCell    = 2000
	maxLiteral = 4000
)

// maxRows is how many bytes of values a page of rows shows. Those after them are cut to maxBrief, because a page is
// made in memory: a thousand rows of long values were a page of 76 MB.
const (
	maxRows  = 1 << 20
	maxBrief = 40
)

// cell is a value as a page shows it.
type cell struct {
	Text    string
	Class   string // null, number, text, blob or other
	Size    int    // bytes of a value that is not shown in full, else 0
	Literal string // in CQL; "": it is too long to edit
}

// newCell prints a value. Long ones are cut before they are printed where possible.
func newCell(t types.Type, b []byte) cell {
	if b == nil {
		return cell{Text: "null", Class: "null", Literal: "null"}
	}
	c := cell{Class: classOf(t)}
	whole := len(b) <= maxLiteral
	switch {
	case c.Class == "text" && whole:
		c.Text, c.Literal = string(b), t.Format(b)
	case c.Class == "text":
		c.Text = string(b[:maxCell])
	case c.Class == "blob" && whole:
		c.Text = t.Format(b)
		c.Literal = c.Text
	case c.Class == "blob":
		c.Text = "0x" + hex.EncodeToString(b[:maxCell/2])
	default:
		c.Text = t.Format(b)
		if len(c.Text) <= maxLiteral {
			c.Literal = c.Text
		}
		c.Text = unquoted(t, c.Text)
	}
	if shown := shortened(c.Text, maxCell); shown != c.Text || !whole {
		c.Text, c.Size = shown, len(b)
	}
	return c
}

// brief is the cell of a value of some bytes on a page that has no room for more.
func (c cell) brief(size int) cell {
	if short := shortened(c.Text, maxBrief); short != c.Text {
		c.Text, c.Size, c.Literal = short, size, ""
	}
	return c
}

// classOf is the class of the values of a type.
func classOf(t types.Type) string {
	switch t {
	case types.Text, types.ASCII:
		return "text"
	case types.Blob:
		return "blob"
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.VarInt, types.Counter, types.Float, types.Double, types.Decimal:
		return "number"
	}
	return "other"
}

// shortened cuts a text at the beginning of a character.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.ToValidUTF8(text[:limit], "\uFFFD") + "…"
}

// csvField is a value in a CSV file: texts as they are, blobs in hexadecimal, null empty.
func csvField(t types.Type, b []byte) string {
	if b != nil && classOf(t) == "text" {
		return string(b)
	} else if b != nil {
		return unquoted(t, t.Format(b))
	}
	return ""
}

// unquoted is a literal of a type such as date or inet without its quotes.
func unquoted(t types.Type, literal string) string {
	if _, native := types.Native(t.String()); native && len(literal) > 1 && literal[0] == '\'' {
		return literal[1 : len(literal)-1]
	}
	return literal
}

// appendJSON appends a value in a JSON file.
func appendJSON(dst *bytes.Buffer, t types.Type, b []byte) {
	if b == nil {
		dst.WriteString("null")
		return
	}
	dst.Write(t.AppendJSON(nil, b))
}

// bytesText prints a number of bytes.
func bytesText(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	digits := 0
	if unit > 0 && size < 10 {
		digits = 1
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + []string{" B", " KiB", " MiB", " GiB", " TiB"}[unit]
}

// countText prints a number with spaces between thousands.
func countText(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// ofText prints a number of things.
func ofText(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return countText(n) + " " + thing + "s"
}

// tookText prints a duration with three digits.
func tookText(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}
