package shell

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// formatCell prints a value as cqlsh prints it in a table.
func formatCell(t types.Type, b []byte) string { return formatValue(t, b, false) }

// formatValue prints one value. Text and times are in quotes if they are nested in another value.
func formatValue(t types.Type, b []byte, nested bool) string {
	if b == nil {
		return "null"
	}
	switch t := t.(type) {
	case *types.List:
		return formatElements("[", "]", t.Elem, b)
	case *types.Set:
		return formatElements("{", "}", t.Elem, b)
	case *types.Map:
		return formatMap(t, b)
	case *types.Tuple:
		return formatTuple(t, b)
	case *types.UserType:
		return formatUserType(t, b)
	case *types.Vector:
		var parts []string
		for e := range types.VectorElements(t, b) {
			parts = append(parts, formatValue(t.Elem, e, true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return formatScalar(t, b, nested)
}

func formatElements(open, end string, elem types.Type, b []byte) string {
	var parts []string
	for e := range types.Elements(b) {
		parts = append(parts, formatValue(elem, e, true))
	}
	return open + strings.Join(parts, ", ") + end
}

func formatMap(t *types.Map, b []byte) string {
	var parts []string
	for k, v := range types.Entries(b) {
		parts = append(parts, formatValue(t.Key, k, true)+": "+formatValue(t.Value, v, true))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func formatTuple(t *types.Tuple, b []byte) string {
	var parts []string
	for i, e := range types.TupleFields(b, len(t.Elems)) {
		parts = append(parts, formatValue(t.Elems[i], e, true))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func formatUserType(t *types.UserType, b []byte) string {
	var parts []string
	for i, e := range types.TupleFields(b, len(t.Fields)) {
		parts = append(parts, t.Fields[i].Name+": "+formatValue(t.Fields[i].Type, e, true))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// formatScalar prints a value without parts. Most types print as CQL literals; cqlsh has its own format for some.
func formatScalar(t types.Type, b []byte, nested bool) string {
	switch {
	case t == types.Text || t == types.ASCII:
		if nested {
			return t.Format(b)
		}
		return escapeText(string(b))
	case len(b) == 0:
		return ""
	case t == types.Float && len(b) == 4:
		return formatFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	case t == types.Double && len(b) == 8:
		return formatFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case t == types.Boolean:
		return map[bool]string{false: "False", true: "True"}[b[0] != 0]
	case t == types.Timestamp && len(b) == 8:
		return quoteIf(nested, formatTimestamp(int64(binary.BigEndian.Uint64(b))))
	}
	if ip, ok := netip.AddrFromSlice(b); ok && t == types.Inet {
		return quoteIf(nested, ip.String())
	}
	text := t.Format(b)
	if !nested {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "'"), "'")
	}
	return text
}

func quoteIf(yes bool, s string) string {
	if yes {
		return "'" + s + "'"
	}
	return s
}

// escapeText writes control characters as escapes.
func escapeText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// floatDigits is the number of digits that cqlsh shows after the point, or in total with an exponent.
const floatDigits = 5

// formatFloat prints a number as C's %g does: with an exponent below 1e-4 and from 1e5 on, else with five digits
// after the point.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return map[bool]string{false: "-Infinity", true: "Infinity"}[f > 0]
	case f == 0:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	digits := floatDigits
	exponent := int(math.Log10(math.Abs(f))) // towards zero, as cqlsh takes it
	if exponent >= -4 && exponent < floatDigits {
		digits += exponent + 1
	}
	return percentG(f, digits)
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

// formatTimestamp prints milliseconds since 1970 as a time in UTC. If the year is out of bounds, it prints the number.
func formatTimestamp(millis int64) string {
	t := time.UnixMilli(millis).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return strconv.FormatInt(millis, 10)
	}
	return t.Format("2006-01-02 15:04:05.000000-0700")
}
