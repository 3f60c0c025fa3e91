package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// parse reads a value as COPY writes it. null is the text of null inside collections and user types.
func (s *style) parse(t types.Type, field string) ([]byte, error) {
	unquoted := field
	if n := len(field); n > 1 && field[0] == '\'' && field[n-1] == '\'' {
		unquoted = strings.ReplaceAll(field[1:n-1], "''", "'")
	}
	switch t := t.(type) {
	case *types.List:
		parts, err := s.parts(field, ',', func(part string) ([]byte, error) { return s.element(t.Elem, part) })
		return types.NewList(parts), err
	case *types.Set:
		parts, err := s.parts(field, ',', func(part string) ([]byte, error) { return s.element(t.Elem, part) })
		return types.NewSet(t, parts), err
	case *types.Map:
		var keys, values [][]byte
		_, err := s.parts(field, ',', func(part string) ([]byte, error) {
			key, value, err := s.pair(part)
			if err != nil {
				return nil, err
			}
			k, err := s.element(t.Key, key)
			if err != nil {
				return nil, err
			}
			v, err := s.element(t.Value, value)
			keys, values = append(keys, k), append(values, v)
			return v, err
		})
		return types.NewMap(t, keys, values), err
	case *types.Tuple:
		at := -1
		parts, err := s.parts(field, ',', func(part string) ([]byte, error) {
			if at++; at >= len(t.Elems) {
				return nil, fmt.Errorf("%s has %d elements", t, len(t.Elems))
			}
			return s.optional(t.Elems[at], part)
		})
		return types.NewTuple(parts), err
	case *types.UserType:
		fields := make([][]byte, len(t.Fields))
		_, err := s.parts(field, ',', func(part string) ([]byte, error) {
			name, value, err := s.pair(part)
			if err != nil {
				return nil, err
			}
			for i, f := range t.Fields {
				if f.Name == name {
					fields[i], err = s.optional(f.Type, value)
					return fields[i], err
				}
			}
			return nil, fmt.Errorf("%s has no field %s", t.Name, name)
		})
		return types.NewTuple(fields), err
	case *types.Vector:
		parts, err := s.parts(field, ',', func(part string) ([]byte, error) { return s.element(t.Elem, part) })
		if err == nil && len(parts) != t.Dim {
			err = shownf("The length of given vector value '%d' is not equal to the vector size from the type "+
				"definition '%d'",
				len(parts), t.Dim)
		}
		if err != nil {
			return nil, err
		}
		return types.NewVector(t, parts), nil
	}
	return s.parseScalar(t, unquoted)
}

// parseScalar reads a value without parts.
func (s *style) parseScalar(t types.Type, field string) ([]byte, error) {
	numeric := strings.TrimSpace(field)
	if s.thousandSep != "" {
		numeric = strings.ReplaceAll(numeric, s.thousandSep, "")
	}
	kind := types.StringLiteral
	switch {
	case t == types.Text || t == types.ASCII:
		return []byte(field), t.Validate([]byte(field))
	case t == types.Boolean:
		return types.EncodeBoolean(strings.EqualFold(field, s.booleans[0])), nil
	case t == types.Timestamp:
		return s.parseTimestamp(field)
	case isInteger(t):
		kind, field = types.IntegerLiteral, numeric
	case t == types.Float || t == types.Double || t == types.Decimal:
		kind, field = types.FloatLiteral, strings.Replace(numeric, s.decimalSep, ".", 1)
	case t == types.Blob:
		kind = types.HexLiteral
	case t == types.UUID || t == types.TimeUUID:
		kind = types.UUIDLiteral
	case t == types.Duration:
		kind = types.DurationLiteral
	}
	if b, err := t.ParseLiteral(kind, field); err == nil {
		return b, nil
	}
	return nil, fmt.Errorf("%s is no %s", pythonString(field), t)
}

// parseTimestamp reads a time in the style's format, in one of CQL's, or in milliseconds.
func (s *style) parseTimestamp(field string) ([]byte, error) {
	if t, err := strptime(s.timeFormat, field); err == nil {
		return types.EncodeTimestamp(t), nil
	}
	if millis, err := strconv.ParseInt(field, 10, 64); err == nil {
		return types.EncodeTimestamp(time.UnixMilli(millis)), nil
	}
	b, err := types.Timestamp.ParseLiteral(types.StringLiteral, field)
	if err != nil {
		return nil, fmt.Errorf("can't interpret %s as a date with format %s or as int", pythonString(field),
			s.timeFormat)
	}
	return b, nil
}

// element reads an element of a collection, which is never null.
func (s *style) element(t types.Type, part string) ([]byte, error) {
	return s.parse(t, strings.TrimSpace(part))
}

// optional reads a part that may be null.
func (s *style) optional(t types.Type, part string) ([]byte, error) {
	if part = strings.TrimSpace(part); part == s.null || part == "null" {
		return nil, nil
	}
	return s.parse(t, part)
}

// parts reads the parts of a value in brackets.
func (s *style) parts(field string, separator byte, read func(part string) ([]byte, error)) (all [][]byte, err error) {
	field = strings.TrimSpace(field)
	n := len(field)
	if n < 2 || !strings.Contains("[] {} ()", field[:1]+field[n-1:]) {
		return nil, shownf("Invalid composite string, it should start and end with matching parentheses: %s",
			field)
	}
	inside := field[1 : n-1]
	if strings.TrimSpace(inside) == "" {
		return nil, nil
	}
	for rest, more := inside, true; more; {
		var part string
		part, rest, more = cutOutside(rest, separator)
		b, err := read(part)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// pair cuts a key and its value, or a field's name and its value.
func (s *style) pair(part string) (key, value string, err error) {
	key, value, ok := cutOutside(part, ':')
	if !ok {
		return "", "", fmt.Errorf("%s is no pair of a key and a value", pythonString(strings.TrimSpace(part)))
	}
	return strings.TrimSpace(key), strings.TrimSpace(value), nil
}

// cutOutside cuts a text at the first separator outside quotes and brackets.
func cutOutside(s string, separator byte) (before, after string, found bool) {
	level, quoted := 0, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("[{(", c) >= 0:
			level++
		case strings.IndexByte("]})", c) >= 0:
			level--
		case c == separator && level == 0:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
