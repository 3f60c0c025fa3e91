package schema

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// javaDouble is what Java's Double.parseDouble takes, besides NaN and Infinity and around it blanks.
var javaDouble = regexp.MustCompile(`^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|` +
	`0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?$`)

// parseJavaDouble reads a number as Java does.
func parseJavaDouble(s string) (float64, bool) {
	s = strings.Trim(s, javaBlanks)
	switch s {
	case "NaN", "+NaN", "-NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if !javaDouble.MatchString(s) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.TrimRight(s, "fFdD"), 64)
	return f, true
}

// javaBlanks are the characters that Java's String.trim removes.
const javaBlanks = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17" +
	"\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// FormatDouble prints a number as Java's Double.toString does: 1.0, 0.01, 6.71E-5.
func FormatDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-3 || abs >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// parseJavaInt reads a 32 bit integer as Java's Integer.parseInt does.
func parseJavaInt(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// isNumeric reports whether s is digits only, and some.
func isNumeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// parseJavaUUID reads a UUID as Java's UUID.fromString does: five hexadecimal numbers that may lack
// leading zeros.
func parseJavaUUID(s string) (id [16]byte, ok bool) {
	groups := strings.Split(s, "-")
	if len(groups) != 5 || len(s) > 36 {
		return id, false
	}
	at := 0
	for i, size := range [...]int{4, 2, 2, 2, 6} {
		n, err := strconv.ParseInt(groups[i], 16, 64)
		if err != nil {
			return id, false
		}
		for b := range size {
			id[at+b] = byte(n >> (8 * (size - 1 - b)))
		}
		at += size
	}
	return id, true
}
