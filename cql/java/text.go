package java

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// goText decodes UTF-16. Half a surrogate pair becomes a question mark, as in Java.
func goText(units []uint16) string {
	b := make([]byte, 0, len(units))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+1 < len(units) {
				pair = utf16.DecodeRune(r, rune(units[i+1]))
			}
			if pair == utf8.RuneError {
				b = append(b, '?')
				continue
			}
			r = pair
			i++
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// ascii is a string of a text that is known to be ASCII.
func (t *thread) ascii(s string) *str {
	t.grow(len(s), 1)
	t.alloc(48)
	return &str{s: s}
}

// str is a string of a text in UTF-8.
func (t *thread) str(s string) *str {
	t.grow(len(s), 3)
	t.alloc(48)
	return newStr(s)
}

// units is a string of UTF-16, which is not copied unless it is ASCII.
func (t *thread) units(u []uint16) *str {
	t.grow(len(u), 2)
	t.alloc(48)
	return newUnits(u)
}

func newStr(s string) *str {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			u := make([]uint16, 0, len(s))
			for _, r := range s {
				u = utf16.AppendRune(u, r)
			}
			return &str{u: u}
		}
	}
	return &str{s: s}
}

func newUnits(u []uint16) *str {
	for _, c := range u {
		if c >= utf8.RuneSelf {
			return &str{u: u}
		}
	}
	b := make([]byte, len(u))
	for i, c := range u {
		b[i] = byte(c)
	}
	return &str{s: string(b)}
}

// builder is a StringBuilder. Concatenations use one too. Its text is in b while it is ASCII, then in u.
type builder struct {
	identity
	b    []byte
	u    []uint16
	wide bool
	kind *class
}

func (b *builder) class() *class                   { return b.kind }
func (b *builder) equals(_ *thread, o object) bool { return o == object(b) }
func (b *builder) text(t *thread) *str             { return b.part(t, 0, b.length()) }

func (b *builder) compare(t *thread, o object) int { return b.text(t).compare(t, o.text(t)) }

func (b *builder) length() int {
	if b.wide {
		return len(b.u)
	}
	return len(b.b)
}

func (b *builder) charAt(i int) uint16 {
	if b.wide {
		return b.u[i]
	}
	return uint16(b.b[i])
}

// part is the characters from i up to j.
func (b *builder) part(t *thread, i, j int) *str {
	if b.wide {
		t.grow(j-i, 2)
		return t.units(append([]uint16(nil), b.u[i:j]...))
	}
	return t.ascii(string(b.b[i:j]))
}

func (b *builder) widen(t *thread) {
	if b.wide {
		return
	}
	t.grow(len(b.b), 2)
	b.wide = true
	b.u = make([]uint16, len(b.b), len(b.b)+16)
	for i, c := range b.b {
		b.u[i] = uint16(c)
	}
	b.b = nil
}

func (b *builder) add(t *thread, s *str) {
	if s.u != nil {
		b.widen(t)
		t.grow(len(s.u), 4)
		b.u = append(b.u, s.u...)
		return
	}
	b.addASCII(t, s.s)
}

func (b *builder) addASCII(t *thread, s string) {
	if b.wide {
		t.grow(len(s), 4)
		for i := range len(s) {
			b.u = append(b.u, uint16(s[i]))
		}
		return
	}
	t.grow(len(s), 2)
	b.b = append(b.b, s...)
}

func (b *builder) addUnit(t *thread, c uint16) {
	t.alloc(2)
	if c < utf8.RuneSelf && !b.wide {
		b.b = append(b.b, byte(c))
		return
	}
	b.widen(t)
	b.u = append(b.u, c)
}

// replace puts a text in place of the characters from i up to j.
func (b *builder) replace(t *thread, i, j int, s *str) {
	t.charge((b.length() - j) / 32)
	t.grow(max(0, s.length()-(j-i)), 4)
	if s.u != nil {
		b.widen(t)
	}
	if !b.wide {
		b.b = slices.Replace(b.b, i, j, []byte(s.s)...)
		return
	}
	units := s.u
	for k := range len(s.s) {
		units = append(units, uint16(s.s[k]))
	}
	b.u = slices.Replace(b.u, i, j, units...)
}

func (b *builder) truncate(n int) {
	if b.wide {
		b.u = b.u[:n]
	} else {
		b.b = b.b[:n]
	}
}

// textOf is String.valueOf of a reference.
func (t *thread) textOf(o object) *str {
	if o == nil {
		return strNull
	}
	t.step()
	return o.text(t)
}

var strNull = &str{s: "null"}
