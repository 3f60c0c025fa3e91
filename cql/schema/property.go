package schema

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// Property is one name = value of a WITH clause, with every literal as its text: 'x' is x, 1.0 is 1.0.
type Property struct {
	Name string
	Text string            // of a literal
	Map  map[string]string // of a map, even an empty one; nil for a literal
}

// text is the value of a property that is not a map.
func (p Property) text() (string, error) {
	if p.Map != nil {
		return "", cqlerr.Syntaxf("Invalid value for property '%s'. It should be a string", p.Name)
	}
	return p.Text, nil
}

// mapping is the value of a property that is a map.
func (p Property) mapping() (map[string]string, error) {
	if p.Map == nil {
		return nil, NotAMap(p.Name)
	}
	return p.Map, nil
}

func (p Property) boolean() (bool, error) {
	s, err := p.text()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(s) {
	case "1", "true", "yes":
		return true, nil
	case "0", "false", "no":
		return false, nil
	}
	return false, cqlerr.Syntaxf("Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or "+
		"'yes'. Negative values can be '0', 'false' or 'no'.", s, p.Name)
}

func (p Property) integer() (int, error) {
	s, err := p.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, cqlerr.Syntaxf("Invalid integer value %s for '%s'", s, p.Name)
	}
	return int(n), nil
}

func (p Property) double() (float64, error) {
	s, err := p.text()
	if err != nil {
		return 0, err
	}
	f, ok := javafloat.ParseJava(s)
	if !ok {
		return 0, cqlerr.Syntaxf("Invalid double value %s for '%s'", s, p.Name)
	}
	return f, nil
}

// NotAMap refuses a value of a property that should be a map.
func NotAMap(name string) error {
	return cqlerr.Syntaxf("Invalid value for property '%s'. It should be a map.", name)
}

// UnknownProperty refuses a property that no rule knows.
func UnknownProperty(name string) error { return cqlerr.Syntaxf("Unknown property '%s'", name) }

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
