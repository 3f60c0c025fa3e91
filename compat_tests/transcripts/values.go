package transcripts

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// namedValue is a value with the name of its marker: v=text 'x'.
var namedValue = regexp.MustCompile(`^("[^"]*"|\w+)=(.*)$`)

// parseValues reads the setting values: values with | between them, all with names or none.
func parseValues(text string) (values []types.Value, names []string, err error) {
	for part := range strings.SplitSeq(text, " | ") {
		if m := namedValue.FindStringSubmatch(part); m != nil {
			names, part = append(names, strings.Trim(m[1], `"`)), m[2]
		}
		v, err := parseValue(strings.TrimSpace(part))
		if err != nil {
			return nil, nil, err
		}
		values = append(values, v)
	}
	if names != nil && len(names) != len(values) {
		return nil, nil, fmt.Errorf("only some of the values have names: %s", text)
	}
	return values, names, nil
}

// parseValue reads null, unset, bytes in hex (0x0001), a number of zeros (zeros 5000), or a type and a literal
// of it; lists and sets of a native type are written list<int> [1, 2].
func parseValue(text string) (types.Value, error) {
	switch name, literal, _ := strings.Cut(text, " "); {
	case text == "null":
		return types.Value{}, nil
	case text == "unset":
		return types.Value{Unset: true}, nil
	case strings.HasPrefix(text, "0x"):
		b, err := parseHex(text)
		return types.Value{Bytes: b}, err
	case name == "zeros":
		n, err := strconv.ParseUint(literal, 10, 24)
		return types.Value{Bytes: make([]byte, n)}, err
	default:
		b, err := parseTyped(name, literal)
		return types.Value{Bytes: b}, err
	}
}

// parseTyped reads a literal of a native type, or several as a list.
func parseTyped(name, literal string) ([]byte, error) {
	if elem, ok := strings.CutPrefix(name, "list<"); ok {
		var elems [][]byte
		inside := strings.TrimSuffix(strings.TrimPrefix(literal, "["), "]")
		for e := range strings.SplitSeq(inside, ", ") {
			if e == "" {
				continue
			}
			b, err := parseTyped(strings.TrimSuffix(elem, ">"), e)
			if err != nil {
				return nil, err
			}
			elems = append(elems, b)
		}
		return types.NewList(elems), nil
	}
	t, ok := types.Native(name)
	if !ok {
		return nil, fmt.Errorf("%q is no type of a value", name)
	}
	if literal == "null" {
		return nil, nil
	}
	kind, text := literalKind(literal)
	b, err := t.ParseLiteral(kind, text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, literal, err)
	}
	return b, nil
}

// literalForms tell the kinds of literals by their look, the first that fits.
var literalForms = []struct {
	form *regexp.Regexp
	kind types.LiteralKind
}{
	{regexp.MustCompile(`^0x`), types.HexLiteral},
	{regexp.MustCompile(`^-?\d+$`), types.IntegerLiteral},
	{regexp.MustCompile(`^-?\d+(\.\d*)?([eE][+-]?\d+)?$|^NaN$|^-?Infinity$`), types.FloatLiteral},
	{regexp.MustCompile(`^(true|false)$`), types.BooleanLiteral},
	{regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), types.UUIDLiteral},
	{regexp.MustCompile(``), types.DurationLiteral},
}

// literalKind returns the kind of a literal, and its text as the lexer has it.
func literalKind(literal string) (types.LiteralKind, string) {
	if n := len(literal); n > 1 && literal[0] == '\'' && literal[n-1] == '\'' {
		return types.StringLiteral, strings.ReplaceAll(literal[1:n-1], "''", "'")
	}
	for _, f := range literalForms {
		if f.form.MatchString(literal) {
			return f.kind, literal
		}
	}
	panic("the last form fits everything")
}

// parseHex reads bytes: pairs of hex digits, with 0x before them or not, and blanks between them.
func parseHex(text string) ([]byte, error) {
	return hex.DecodeString(strings.ReplaceAll(strings.TrimPrefix(text, "0x"), " ", ""))
}
