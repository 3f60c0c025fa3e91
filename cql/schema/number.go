package schema

import (
	"strconv"
	"strings"
)

// parseJavaInt reads a 32 bit integer as Java's Integer.parseInt does.
func parseJavaInt(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// isNumeric reports whether s is digits only, and some.
func isNumeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isJavaSpace reports whether Java's String.trim removes r.
func isJavaSpace(r rune) bool { return r <= ' ' }
