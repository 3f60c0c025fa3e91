package shell

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// style is how values are printed.
type style struct {
	color       bool
	null        string
	float       int            // digits after the point
	double      int            // likewise, of a double that is not nested in another value
	timeFormat  string         // of timestamps, as for strftime
	zone        *time.Location // of timestamps
	millis      bool           // timestamps have milliseconds instead of microseconds
	decimalSep  string
	thousandSep string
	booleans    [2]string // true and false
	rawText     bool      // texts have no escapes
}

// plainStyle is the style of cqlsh without colours.
var plainStyle = style{
	null: "null", float: 5, double: 5, timeFormat: defaultTimeFormat, zone: time.UTC, decimalSep: ".",
	booleans: [2]string{"True", "False"},
}

// The colours of cqlsh.
const (
	red         = "\x1b[0;1;31m"
	green       = "\x1b[0;1;32m"
	yellow      = "\x1b[0;1;33m"
	blue        = "\x1b[0;1;34m"
	magenta     = "\x1b[0;1;35m"
	cyan        = "\x1b[0;1;36m"
	white       = "\x1b[0;1;37m"
	darkMagenta = "\x1b[0;35m"
	resetColor  = "\x1b[0m"
)

// paint colours a text, if the style has colours.
func (s *style) paint(text, color string) string {
	if !s.color {
		return text
	}
	return color + text + resetColor
}

// cell prints a value as cqlsh prints it in a table.
func (s *style) cell(t types.Type, b []byte) string {
	digits := s.float
	if t == types.Double {
		digits = s.double
	}
	return s.value(t, b, digits, false)
}

// value prints one value. Text, timestamps and addresses are in quotes if they are nested in another value.
func (s *style) value(t types.Type, b []byte, digits int, nested bool) string {
	if b == nil {
		return s.paint(s.null, red)
	}
	part := func(t types.Type, b []byte) string { return s.value(t, b, digits, true) }
	switch t := t.(type) {
	case *types.List:
		var parts []string
		for e := range types.Elements(b) {
			parts = append(parts, part(t.Elem, e))
		}
		return s.join("[", parts, "]")
	case *types.Set:
		var parts []string
		for _, e := range sorted(t.Elem, slices.Collect(types.Elements(b))) {
			parts = append(parts, part(t.Elem, e))
		}
		return s.join("{", parts, "}")
	case *types.Map:
		values := map[string][]byte{}
		var keys [][]byte
		for k, v := range types.Entries(b) {
			keys, values[string(k)] = append(keys, k), v
		}
		var parts []string
		for _, k := range sorted(t.Key, keys) {
			parts = append(parts, part(t.Key, k)+s.paint(": ", blue)+part(t.Value, values[string(k)]))
		}
		return s.join("{", parts, "}")
	case *types.Tuple:
		var parts []string
		for i, e := range types.TupleFields(b, len(t.Elems)) {
			parts = append(parts, part(t.Elems[i], e))
		}
		return s.join("(", parts, ")")
	case *types.UserType:
		var parts []string
		for i, e := range types.TupleFields(b, len(t.Fields)) {
			parts = append(parts, s.paint(t.Fields[i].Name, yellow)+s.paint(": ", blue)+part(t.Fields[i].Type, e))
		}
		return s.join("{", parts, "}")
	case *types.Vector:
		var parts []string
		for e := range types.VectorElements(t, b) {
			parts = append(parts, part(t.Elem, e))
		}
		return s.join("[", parts, "]")
	}
	return s.scalar(t, b, digits, nested)
}

func (s *style) join(open string, parts []string, end string) string {
	return s.paint(open, blue) + strings.Join(parts, s.paint(", ", blue)) + s.paint(end, blue)
}

// sorted returns elements in the order of Python's values, which differs from the server's for some types.
func sorted(t types.Type, all [][]byte) [][]byte {
	switch t {
	case types.UUID, types.TimeUUID:
		slices.SortFunc(all, bytes.Compare)
	case types.Inet:
		slices.SortFunc(all, func(a, b []byte) int {
			return strings.Compare(types.DecodeInet(a).String(), types.DecodeInet(b).String())
		})
	}
	return all
}

// scalar prints a value without parts. Most types print as CQL literals; cqlsh has its own format for some.
func (s *style) scalar(t types.Type, b []byte, digits int, nested bool) string {
	switch {
	case t == types.Text || t == types.ASCII:
		return s.textCell(string(b), nested)
	case t == types.Blob:
		return s.paint("0x"+hex.EncodeToString(b), darkMagenta)
	case len(b) == 0:
		return s.textCell("", false)
	}
	printed := ""
	switch t {
	case types.Float:
		printed = s.decimals(float64(types.DecodeFloat(b)), digits)
	case types.Double:
		printed = s.decimals(types.DecodeDouble(b), digits)
	case types.Decimal:
		printed = t.Format(b)
		if f, err := strconv.ParseFloat(printed, 64); err == nil && (s.decimalSep != "." || s.thousandSep != "") {
			printed = s.decimals(f, digits)
		}
	case types.Boolean:
		printed = s.booleans[1]
		if types.DecodeBoolean(b) {
			printed = s.booleans[0]
		}
	case types.Timestamp:
		printed = quoteIf(nested, s.timestamp(int64(binary.BigEndian.Uint64(b))))
	case types.Date:
		if printed = strings.Trim(t.Format(b), "'"); len(printed) != len("2006-01-02") || printed[0] == '-' {
			printed = strconv.FormatInt(types.DecodeDate(b), 10)
		}
	case types.Inet:
		printed = quoteIf(nested, types.DecodeInet(b).String())
	default:
		printed = strings.Trim(t.Format(b), "'")
		if isInteger(t) {
			printed = s.thousands(printed)
		}
	}
	return s.paint(printed, green)
}

func isInteger(t types.Type) bool {
	return t == types.Int || t == types.BigInt || t == types.VarInt || t == types.SmallInt || t == types.TinyInt ||
		t == types.Counter
}

func quoteIf(yes bool, s string) string {
	if yes {
		return "'" + s + "'"
	}
	return s
}

// textCell prints a text with its control characters as escapes. Without colours backslashes are doubled, since escapes
// look like other text then.
func (s *style) textCell(content string, nested bool) string {
	if nested {
		content = strings.ReplaceAll(content, "'", "''")
	}
	if s.rawText {
		return quoteIf(nested, content)
	}
	backslash, before, after := `\\`, "", ""
	if s.color {
		backslash, before, after = `\`, darkMagenta, yellow
	}
	var b strings.Builder
	for _, r := range content {
		switch {
		case r == '\\':
			b.WriteString(backslash)
		case r == '\n':
			b.WriteString(before + `\n` + after)
		case r == '\r':
			b.WriteString(before + `\r` + after)
		case r == '\t':
			b.WriteString(before + `\t` + after)
		case r < ' ' || r >= 0x7f && r <= 0xa0:
			fmt.Fprintf(&b, `%s\x%02x%s`, before, r, after)
		default:
			b.WriteRune(r)
		}
	}
	return s.paint(quoteIf(nested, b.String()), yellow)
}

// decimals prints a number as C's %g does: with an exponent below 1e-4 and from 10 to the power of digits on, else with
// that many digits after the point.
func (s *style) decimals(f float64, digits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return map[bool]string{false: "-Infinity", true: "Infinity"}[f > 0]
	case s.thousandSep != "":
		whole, part := math.Modf(f)
		printed := s.thousands(strconv.FormatFloat(whole, 'f', 0, 64))
		if rest := strings.TrimRight(strconv.FormatFloat(math.Abs(part), 'f', digits, 64)[2:], "0"); rest != "" {
			printed += s.decimalSep + rest
		}
		return printed
	case f == 0:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	exponent := int(math.Log10(math.Abs(f))) // towards zero, as cqlsh takes it
	if exponent >= -4 && exponent < digits {
		digits += exponent + 1
	}
	return strings.Replace(percentG(f, digits), ".", s.decimalSep, 1)
}

// thousands puts the separator between groups of three digits.
func (s *style) thousands(digits string) string {
	if s.thousandSep == "" {
		return digits
	}
	digits, negative := strings.CutPrefix(digits, "-")
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(s.thousandSep)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// percentG is C's %.*g.
func percentG(f float64, digits int) string {
	digits = max(digits, 1)
	scientific := strconv.FormatFloat(f, 'e', digits-1, 64)
	mantissa, tail, _ := strings.Cut(scientific, "e")
	exponent, _ := strconv.Atoi(tail) // FormatFloat writes a number there
	if exponent < -4 || exponent >= digits {
		return trimZeros(mantissa) + "e" + tail
	}
	return trimZeros(strconv.FormatFloat(f, 'f', digits-1-exponent, 64))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// timestamp prints milliseconds since 1970. If the year is out of bounds, it prints the number.
func (s *style) timestamp(millis int64) string {
	t := time.UnixMilli(millis).In(s.zone)
	if t.Year() < 1 || t.Year() > 9999 {
		return strconv.FormatInt(millis, 10)
	}
	return strftime(s.timeFormat, t, s.millis)
}
