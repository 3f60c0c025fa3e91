package java

import (
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Patterns are Go's regular expressions, which take linear time. They do not backtrack: a pattern with
// a look-ahead, a back-reference or a possessive quantifier is refused.

// The bounds of a pattern. What it compiles to is larger than its text: "(x?){1000}" repeats three instructions.
const (
	maxPattern      = 4096 // bytes
	maxInstructions = 5000
	maxRanges       = 20_000 // of characters, as in [a-z]
	maxWideRanges   = 8
)

// pattern is a compiled regular expression.
type pattern struct {
	text         string
	re           *regexp.Regexp
	again        *regexp.Regexp // finds the matches after the first; nil: there was none to find
	instructions int            // at most
	groups       int
}

// compilePattern prepares a pattern with more before and after it. Java's \s has the vertical tab too.
func compilePattern(t *thread, before, text, after string) *pattern {
	if len(text) > maxPattern || strings.Contains(text, "(?") && wideRanges(text) > maxWideRanges {
		throw(classUnsupported, "the regular expression is too large")
	}
	t.charge(len(text) * 16)
	t.alloc(len(text) * 64)
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		throw(classUnsupported, "the regular expression "+text+" is not supported: "+err.Error())
	}
	instructions, ranges := sizeOfPattern(parsed)
	if instructions > maxInstructions || ranges > maxRanges {
		throw(classUnsupported, "the regular expression is too large")
	}
	text = before + text + after
	p := &pattern{text: text, instructions: instructions, groups: parsed.MaxCap()}
	// A search keeps the groups of each instruction it may be at.
	t.alloc(256*instructions + 8*ranges + 32*instructions*(p.groups+1))
	t.charge(16 * instructions)
	p.re = p.compile(text)
	return p
}

func (p *pattern) compile(text string) *regexp.Regexp {
	re, err := regexp.Compile(text)
	if err != nil { // of one that is nested too deeply with what is around it
		throw(classUnsupported, "the regular expression "+p.text+" is not supported: "+err.Error())
	}
	return re
}

// wideRanges is at least how many ranges end with a character beyond ASCII, as [B-\x{1e942}] does. With (?i), regexp
// looks for the other case of each character in them, which takes ten milliseconds for a range.
func wideRanges(text string) (n int) {
	for i := 1; i < len(text); i++ {
		escaped := text[i] == '\\' && i+1 < len(text) && (text[i+1] == 'x' || '0' <= text[i+1] && text[i+1] <= '7')
		if text[i-1] == '-' && (escaped || text[i] >= utf8.RuneSelf) {
			n++
		}
	}
	return n
}

// sizeOfPattern is at most how many instructions a pattern compiles to, and how many ranges of characters it has.
func sizeOfPattern(re *syntax.Regexp) (instructions, ranges int) {
	instructions, ranges = 2+len(re.Rune), len(re.Rune)/2
	if re.Op == syntax.OpCharClass {
		instructions = 2
	}
	for _, sub := range re.Sub {
		n, r := sizeOfPattern(sub)
		instructions, ranges = instructions+n+1, ranges+r
	}
	if re.Op == syntax.OpRepeat {
		instructions *= max(re.Max, re.Min+1)
	}
	return min(instructions, math.MaxInt32), ranges
}

// next finds the first match at or after from, as places of the text: of all, and of each group. nil: there is none.
//
// regexp searches a whole text in one call, which nobody can end. So it gets the text from a reader that charges each
// character. A reader cannot begin in the middle, where \b and ^ depend on the character before; the matches after the
// first are those of "(?s:.)(pattern)" from that character on.
func (p *pattern) next(t *thread, text string, from int) []int {
	r := &chargingReader{t: t, text: text, price: 1 + p.instructions*(1+p.groups/4)/8}
	if from == 0 {
		return p.re.FindReaderSubmatchIndex(r)
	}
	if p.again == nil {
		p.again = p.compile("(?s:.)(" + p.text + ")")
	}
	_, size := utf8.DecodeLastRuneInString(text[:from])
	r.at = from - size
	loc := p.again.FindReaderSubmatchIndex(r)
	if loc == nil {
		return nil
	}
	loc = loc[2:] // (pattern) is the first group
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += from - size
		}
	}
	return loc
}

// all calls match with each match in turn, until it returns false. Like Java it finds an empty match directly after
// another one too.
func (p *pattern) all(t *thread, text string, match func(loc []int) bool) {
	for from := 0; from <= len(text); {
		loc := p.next(t, text, from)
		if loc == nil || !match(loc) {
			return
		}
		from = loc[1]
		if loc[0] == loc[1] {
			_, size := utf8.DecodeRuneInString(text[from:])
			from += max(size, 1)
		}
	}
}

// chargingReader reads a text and charges each character.
type chargingReader struct {
	t     *thread
	text  string
	at    int
	price int
}

// ReadRune is io.RuneReader.
func (r *chargingReader) ReadRune() (c rune, size int, err error) {
	r.t.charge(r.price)
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c, size, nil
}

func matches(t *thread, s, p *str) bool {
	text := s.String()
	loc := compilePattern(t, "^(?:", p.String(), ")$").next(t, text, 0)
	return loc != nil && loc[1] == len(text)
}

// replacePattern replaces the first n matches of a pattern, or all if n is negative.
func replacePattern(t *thread, s, p, with *str, n int) *str {
	text, replacement := s.String(), with.String()
	var b strings.Builder
	last := 0
	compilePattern(t, "", p.String(), "").all(t, text, func(loc []int) bool {
		t.grow(loc[0]-last+len(replacement), 4)
		b.WriteString(text[last:loc[0]])
		expand(t, &b, replacement, text, loc)
		last = loc[1]
		n--
		return n != 0
	})
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
	strip := limit == 0
	if limit <= 0 {
		limit = math.MaxInt
	}
	var parts []string
	last := 0
	cut := func(loc []int) bool {
		if loc[1] == 0 || loc[0] == len(text) && loc[0] == loc[1] { // an empty match at the beginning or the end
			return true
		}
		if len(parts) >= limit-1 {
			return false
		}
		t.alloc(48)
		t.step()
		parts = append(parts, text[last:loc[0]])
		last = loc[1]
		return true
	}
	if literal, ok := literalPattern(p.String()); ok {
		t.charge(len(text) / 8)
		for from, more := 0, true; more; {
			i := strings.Index(text[from:], literal)
			if i < 0 {
				break
			}
			more = cut([]int{from + i, from + i + len(literal)})
			from += i + len(literal)
		}
	} else {
		compilePattern(t, "", p.String(), "").all(t, text, cut)
	}
	parts = append(parts, text[last:])
	if strip && len(parts) > 1 {
		for len(parts) > 0 && parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
	}
	result := t.newArray(classString.typ(), len(parts))
	for i, part := range parts {
		result.r[i] = t.str(strings.Clone(part))
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
