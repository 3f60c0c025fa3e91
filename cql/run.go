package cql

import (
	"iter"
	"strings"
)

// MinRun is how many terms in a row become a Run; so many at its beginning and end stay nodes, which the places around
// it are told by.
const (
	MinRun    = 64
	RunMargin = 12
)

// Run stands for many plain terms with commas between them: constants, collections and tuples of these, and in
// parentheses also the marker ?. It keeps them as text and reads them again whenever they are asked for.
type Run struct {
	Span
	Text  string
	Count int
	Kind  RunKind
	Mark  int // the index of the first marker
}

// RunKind is what the terms of a Run are.
type RunKind uint8

// The kinds. A Run in a map has entries in its text: the map's keys have one and its values another.
const (
	RunTerms RunKind = iota
	RunTuples
	RunMarkers
	RunKeys
	RunValues
)

func (*Run) term() {}

// String is the text as it was written.
func (r *Run) String() string { return r.Text }

// All goes through the terms, which are made anew each time.
func (r *Run) All() iter.Seq[Term] { return r.terms(false) }

// Lent is All for who keeps no term: a literal is valid until the next term.
func (r *Run) Lent() iter.Seq[Term] { return r.terms(true) }

func (r *Run) terms(lent bool) iter.Seq[Term] {
	if r.Kind >= RunKeys {
		return func(yield func(Term) bool) {
			for k, v := range r.entries(lent) {
				if r.Kind == RunValues {
					k = v
				}
				if !yield(k) {
					return
				}
			}
		}
	}
	return func(yield func(Term) bool) {
		read := runReader{text: r.Text, base: r.Start, mark: r.Mark}
		for range r.Count {
			read.blanks()
			if !yield(read.term()) {
				return
			}
			read.punctuation()
			read.takeBack(lent)
		}
	}
}

// Entries goes through the keys and values in the text of a Run in a map.
func (r *Run) Entries() iter.Seq2[Term, Term] { return r.entries(false) }

// LentEntries is Entries for who keeps no term: literals are valid until the next entry.
func (r *Run) LentEntries() iter.Seq2[Term, Term] { return r.entries(true) }

func (r *Run) entries(lent bool) iter.Seq2[Term, Term] {
	return func(yield func(k, v Term) bool) {
		read := runReader{text: r.Text, base: r.Start}
		for range r.Count {
			read.blanks()
			k := read.term()
			read.punctuation()
			read.blanks()
			if !yield(k, read.term()) {
				return
			}
			read.punctuation()
			read.takeBack(lent)
		}
	}
}

// FindRun reads as many terms as follow each other from offset at, with commas between them, that are all of one kind:
// entries of a map, tuples, markers, or none of these. It returns the Run of all but those at its margins, the offset
// behind the comma before it, and where reading ended. It is nil if there are too few terms.
func FindRun(text string, at int) (run *Run, from, end int) {
	read := runReader{text: text, pos: at}
	r := Run{}
	var ends [RunMargin + 1]int // of the last terms
	for n := 0; ; n++ {
		start := read.pos
		read.blanks()
		first := read.pos
		kind, ok := read.skipItem()
		if !ok || read.pos < len(text) && !read.is(',') && !read.is(')') && !read.is(']') && !read.is('}') {
			break
		}
		switch {
		case n == 0:
			r.Kind = kind
		case kind != r.Kind:
			return r.settle(text, ends[n%len(ends)]), from, start
		case n == RunMargin:
			from, r.Start = start, first
		}
		r.Count, ends[n%len(ends)] = n+1, read.stop
		if !read.is(',') {
			break
		}
		read.pos++
	}
	return r.settle(text, ends[r.Count%len(ends)]), from, read.pos
}

// settle makes a Run of the terms that were found, but those at its margins.
func (r *Run) settle(text string, end int) *Run {
	if r.Count < MinRun {
		return nil
	}
	return &Run{Span: Span{r.Start, end}, Text: text[r.Start:end], Count: r.Count - 2*RunMargin, Kind: r.Kind}
}

// runReader reads plain terms.
type runReader struct {
	text string
	pos  int
	stop int       // where the last item ended
	base int       // the offset of text
	mark int       // the index of the next marker
	made []Literal // the last ones that were allocated together
	free []Literal // those of made that are not in use
}

func (r *runReader) is(c byte) bool { return r.pos < len(r.text) && r.text[r.pos] == c }

// blanks skips blanks and comments.
func (r *runReader) blanks() {
	for r.pos < len(r.text) {
		switch rest := r.text[r.pos:]; rest[0] {
		case ' ', '\t', '\n', '\r':
			r.pos++
			continue
		case '-', '/':
			switch {
			case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "//"):
				if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
					r.pos += end + 1
					continue
				}
			case strings.HasPrefix(rest, "/*"):
				if end := strings.Index(rest[2:], "*/"); end >= 0 {
					r.pos += end + 4
					continue
				}
			}
		}
		return
	}
}

// punctuation skips a comma or colon and the blanks before it.
func (r *runReader) punctuation() {
	r.blanks()
	r.pos++
}

// skipItem passes over a term or an entry of a map, and the blanks behind it.
func (r *runReader) skipItem() (kind RunKind, ok bool) {
	switch {
	case r.is('?'):
		r.pos++
		kind, ok = RunMarkers, true
	case r.is('('):
		kind, ok = RunTuples, r.skip(0)
	default:
		ok = r.skip(0)
	}
	if !ok {
		return kind, false
	}
	r.stop = r.pos
	if r.blanks(); !r.is(':') {
		return kind, true
	}
	r.pos++
	if r.blanks(); kind == RunMarkers || !r.skip(0) {
		return kind, false
	}
	r.stop = r.pos
	r.blanks()
	return RunKeys, true
}

// maxPlain is how deep a plain term may be nested. What is deeper is a node of its own, with runs inside.
const maxPlain = 4

// skip passes over a plain term, and reports whether there was one.
func (r *runReader) skip(depth int) bool {
	if r.pos == len(r.text) {
		return false
	}
	switch c := r.text[r.pos]; c {
	case '\'':
		_, ok := r.quoted()
		return ok
	case '(', '[', '{':
		return depth < maxPlain && r.skipBrackets(depth+1)
	}
	word := r.word()
	_, ok := constantKind(word)
	return ok
}

// skipBrackets passes over a collection, a tuple or a user type's value.
func (r *runReader) skipBrackets(depth int) bool {
	open := r.text[r.pos]
	r.pos++
	r.blanks()
	if r.is(closing(open)) {
		r.pos++
		return open != '('
	}
	kind := byte(0) // of what braces hold: keys, fields or elements
	for {
		got := byte('e')
		r.blanks()
		begin := r.pos
		if !r.skip(depth) {
			if open != '{' || kind != 0 && kind != 'f' {
				return false
			}
			if r.pos = begin; !isFieldName(r.word()) {
				return false
			}
			got = 'f'
		}
		if r.blanks(); open == '{' && r.is(':') {
			if got == 'e' {
				got = 'k'
			}
			r.pos++
			if r.blanks(); !r.skip(depth) {
				return false
			}
			r.blanks()
		} else if got == 'f' {
			return false
		}
		if kind != 0 && got != kind {
			return false
		}
		kind = got
		switch {
		case r.is(','):
			r.pos++
		case r.is(closing(open)):
			r.pos++
			return true
		default:
			return false
		}
	}
}

func closing(open byte) byte {
	if open == '(' {
		return ')'
	}
	return open + 2
}

// quoted passes over a string and returns what stands between its quotes.
func (r *runReader) quoted() (content string, ok bool) {
	start := r.pos + 1
	for end := start; ; end++ {
		i := strings.IndexByte(r.text[end:], '\'')
		if i < 0 {
			return "", false
		}
		end += i + 1
		if end == len(r.text) || r.text[end] != '\'' {
			r.pos = end
			return r.text[start : end-1], true
		}
	}
}

// word passes over what may be a constant that is not quoted, up to what can follow one.
func (r *runReader) word() string {
	start := r.pos
	for ; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c &&
			c <= 'Z', c == '.', c == '+', c == '_', c == 0xC2, c == 0xB5:
			continue
		case c == '-' && !strings.HasPrefix(r.text[r.pos:], "--"):
			continue
		}
		break
	}
	return r.text[start:r.pos]
}

// term makes the term at the reader's place, which FindRun has seen to be plain.
func (r *runReader) term() Term {
	start := r.pos
	switch r.text[start] {
	case '?':
		r.pos++
		r.mark++
		return &Marker{Span: r.span(start), Index: r.mark - 1}
	case '\'':
		content, _ := r.quoted()
		return r.literal(start, StringLiteral, strings.ReplaceAll(content, "''", "'"))
	case '[':
		elements := r.terms()
		return &ListLiteral{Span: r.span(start), Elements: elements}
	case '(':
		elements := r.terms()
		return &TupleLiteral{Span: r.span(start), Elements: elements.List()}
	case '{':
		return r.braces()
	}
	word := r.word()
	kind, _ := constantKind(word)
	switch {
	case kind == NullLiteral:
		word = ""
	case kind == FloatLiteral:
		word = number(word)
	}
	return r.literal(start, kind, word)
}

func (r *runReader) span(start int) Span { return Span{r.base + start, r.base + r.pos} }

// literal makes a literal; several are allocated at a time.
func (r *runReader) literal(start int, kind LiteralKind, text string) *Literal {
	if len(r.free) == 0 {
		r.made = make([]Literal, 16)
		r.free = r.made
	}
	l := &r.free[0]
	r.free = r.free[1:]
	*l = Literal{Span: r.span(start), Kind: kind, Text: text}
	return l
}

// takeBack lets the literals that were lent be used again.
func (r *runReader) takeBack(lent bool) {
	if lent {
		r.free = r.made
	}
}

// terms makes the terms between brackets: a Run of all of them if there are many.
func (r *runReader) terms() Terms {
	end := closing(r.text[r.pos])
	r.pos++
	n, run := r.count()
	if n >= MinRun {
		return Terms{[]Term{run}}
	}
	parts := make([]Term, 0, n)
	for range n {
		r.blanks()
		parts = append(parts, r.term())
		if r.blanks(); !r.is(end) {
			r.pos++
		}
	}
	r.blanks()
	r.pos++
	return Terms{parts}
}

// count counts the terms up to the closing bracket. If there are many it passes over them and makes a Run.
func (r *runReader) count() (int, *Run) {
	ahead := runReader{text: r.text, pos: r.pos}
	ahead.blanks()
	start, end, n := ahead.pos, ahead.pos, 0
	for ahead.skip(0) {
		n++
		end = ahead.pos
		if ahead.blanks(); !ahead.is(',') {
			break
		}
		ahead.pos++
		ahead.blanks()
	}
	if n < MinRun {
		return n, nil
	}
	r.pos = ahead.pos + 1
	return n, &Run{Span: Span{r.base + start, r.base + end}, Text: r.text[start:end], Count: n}
}

// braces makes a set, a map or a user type's value.
func (r *runReader) braces() Term {
	start := r.pos
	ahead := runReader{text: r.text, pos: start + 1}
	ahead.blanks()
	named := false
	if !ahead.is('}') {
		named = !ahead.skip(0)
	}
	if ahead.blanks(); !named && !ahead.is(':') {
		elements := r.terms()
		return &SetLiteral{Span: r.span(start), Elements: elements}
	}
	var fields []string
	var keys, values []Term
	for !r.is('}') {
		r.pos++ // the bracket or a comma
		r.blanks()
		if named {
			fields = append(fields, strings.ToLower(r.word()))
		} else {
			keys = append(keys, r.term())
		}
		r.punctuation()
		r.blanks()
		values = append(values, r.term())
		r.blanks()
	}
	r.pos++
	if named {
		return &UserTypeLiteral{Span: r.span(start), Fields: fields, Values: values}
	}
	return &MapLiteral{Span: r.span(start), Keys: Terms{keys}, Values: Terms{values}}
}
