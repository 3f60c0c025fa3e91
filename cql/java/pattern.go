package java

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Patterns are Go's regular expressions, which take linear time. They do not backtrack: a pattern with
// a look-ahead, a back-reference or a possessive quantifier is refused.

// compilePattern prepares a pattern. Java's \s has the vertical tab too.
func compilePattern(t *thread, p *str) *regexp.Regexp {
	t.charge(p.length() * 16)
	t.alloc(p.length() * 64)
	text := p.String()
	re, err := regexp.Compile(text)
	if err != nil {
		throw(classUnsupported, "the regular expression "+text+" is not supported: "+err.Error())
	}
	return re
}

// searching charges for a search, whose time is that of the text times the pattern.
func searching(t *thread, s, p *str) {
	t.charge((s.length() + 1) * (p.length() + 1) / 8)
}

func matches(t *thread, s, p *str) bool {
	re := compilePattern(t, &str{s: "^(?:" + p.String() + ")$"})
	searching(t, s, p)
	loc := re.FindStringIndex(s.String())
	return loc != nil && loc[1] == len(s.String())
}

// replacePattern replaces the first n matches of a pattern, or all if n is negative.
func replacePattern(t *thread, s, p, with *str, n int) *str {
	re := compilePattern(t, p)
	searching(t, s, p)
	text := s.String()
	var b strings.Builder
	last := 0
	for _, loc := range re.FindAllStringSubmatchIndex(text, n) {
		b.WriteString(text[last:loc[0]])
		expand(t, &b, with.String(), text, loc)
		last = loc[1]
		t.grow(with.length(), 4)
	}
	b.WriteString(text[last:])
	return t.str(b.String())
}

// expand writes a replacement: $1 is a group, and a backslash goes before characters that are meant as such.
func expand(t *thread, b *strings.Builder, with, text string, loc []int) {
	for i := 0; i < len(with); i++ {
		switch c := with[i]; {
		case c == '\\':
			if i++; i == len(with) {
				throw(classIllegalArgument, "character to be escaped is missing")
			}
			b.WriteByte(with[i])
		case c == '$':
			if i++; i == len(with) {
				throw(classIllegalArgument, "Illegal group reference: group index is missing")
			}
			g := int(with[i]) - '0'
			if g < 0 || g > 9 {
				throw(classIllegalArgument, "Illegal group reference")
			}
			if 2*g+1 >= len(loc) {
				throw(classIndexOutOfBounds, "No group "+strconv.Itoa(g))
			}
			for i+1 < len(with) && '0' <= with[i+1] && with[i+1] <= '9' && 2*(10*g+int(with[i+1]-'0'))+1 < len(loc) {
				i++
				g = 10*g + int(with[i]-'0')
			}
			if loc[2*g] >= 0 {
				t.grow(loc[2*g+1]-loc[2*g], 2)
				b.WriteString(text[loc[2*g]:loc[2*g+1]])
			}
		default:
			b.WriteByte(c)
		}
	}
}

// split is String.split. Empty parts at the end are left out if limit is 0.
func split(t *thread, s, p *str, limit int) *array {
	text := s.String()
	var at [][]int
	if literal, ok := literalPattern(p.String()); ok {
		t.charge(len(text) / 8)
		for from := 0; ; {
			i := strings.Index(text[from:], literal)
			if i < 0 {
				break
			}
			at = append(at, []int{from + i, from + i + len(literal)})
			from += i + len(literal)
		}
	} else {
		re := compilePattern(t, p)
		searching(t, s, p)
		at = re.FindAllStringIndex(text, -1)
	}
	t.grow(len(at), 48)
	strip := limit == 0
	if limit <= 0 {
		limit = math.MaxInt
	}
	var parts []string
	last := 0
	for _, loc := range at {
		if len(parts) >= limit-1 {
			break
		}
		if loc[1] == 0 || loc[0] == len(text) && loc[0] == loc[1] { // an empty match at the beginning or the end
			continue
		}
		parts = append(parts, text[last:loc[0]])
		last = loc[1]
	}
	parts = append(parts, text[last:])
	if strip && len(parts) > 1 {
		for len(parts) > 0 && parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
	}
	result := t.newArray(classString.typ(), len(parts))
	for i, part := range parts {
		result.r[i] = t.str(part)
	}
	return result
}

// literalPattern is the text of a pattern without special characters.
func literalPattern(p string) (string, bool) {
	switch {
	case p == "":
		return "", false
	case len(p) == 2 && p[0] == '\\' && strings.IndexByte(`.$|()[{^?*+\-`, p[1]) >= 0:
		return p[1:], true
	case strings.ContainsAny(p, `.$|()[{^?*+\`):
		return "", false
	}
	return p, true
}
