package cql

import (
	"iter"
	"strings"
)

// MinRun is the minimal number of consecutive terms that become a Run. RunMargin terms at its beginning and end stay
// nodes, from which errors take their positions.
const (
	MinRun    = 64
	RunMargin = 12
)

// Run is many plain terms separated by commas: constants, collections and tuples of these, and in parentheses also
// the marker ?. It keeps them as text and parses them again on each use.
type Run struct {
	Span
	Text  string
	Count int
	Kind  RunKind
	Mark  int // the index of the first marker
}

// RunKind is the kind of the terms of a Run.
type RunKind uint8

// The kinds. The text of a Run in a map has entries: one Run represents its keys and another its values.
const (
	RunTerms RunKind = iota
	RunTuples
	RunMarkers
	RunKeys
	RunValues
)

func (*Run) term() {}

// String is the text as written.
func (r *Run) String() string { return r.Text }

// All iterates over the terms, which are allocated on each call.
func (r *Run) All() iter.Seq[Term] { return r.terms(false) }

// Lent is All without allocation per term: a literal is valid until the next term.
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
			read.reclaim(lent)
		}
	}
}

// Entries iterates over the keys and values of a Run in a map.
func (r *Run) Entries() iter.Seq2[Term, Term] { return r.entries(false) }

// LentEntries is Entries without allocation per term: literals are valid until the next entry.
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
			read.reclaim(lent)
		}
	}
}

// FindRun reads consecutive terms of one kind from offset at: map entries, tuples, markers, or other terms. It
// returns the Run without its margins, or nil if there are too few terms, the offset after the comma before it, and
// the offset where reading ended.
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

// settle returns the Run of the found terms without its margins.
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
	made []Literal // the last allocated block
	free []Literal // the unused part of made
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

// skipItem skips a term or a map entry, and the blanks after it.
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

// maxPlain is the maximal nesting of a plain term. A deeper one is a separate node, with runs inside.
const maxPlain = 4

// skip skips a plain term and reports whether there was one.
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

// skipBrackets skips a collection, a tuple or a value of a user type.
func (r *runReader) skipBrackets(depth int) bool {
	open := r.text[r.pos]
	r.pos++
	r.blanks()
	if r.is(closing(open)) {
		r.pos++
		return open != '('
	}
	kind := byte(0) // of the items in braces: keys, fields or elements
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

// quoted skips a string and returns the text between its quotes.
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

// word skips a possible unquoted constant.
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

// term builds the next term, which FindRun has found to be plain.
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
		word = FloatText(word)
	}
	return r.literal(start, kind, word)
}

func (r *runReader) span(start int) Span { return Span{r.base + start, r.base + r.pos} }

// literal builds a literal; they are allocated in blocks.
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

// reclaim frees the lent literals for reuse.
func (r *runReader) reclaim(lent bool) {
	if lent {
		r.free = r.made
	}
}

// terms builds the terms between brackets, as one Run if there are many.
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

// count counts the terms up to the closing bracket. If there are many it skips them and returns a Run.
func (r *runReader) count() (int, *Run) {
	lookahead := runReader{text: r.text, pos: r.pos}
	lookahead.blanks()
	start, end, n := lookahead.pos, lookahead.pos, 0
	for lookahead.skip(0) {
		n++
		end = lookahead.pos
		if lookahead.blanks(); !lookahead.is(',') {
			break
		}
		lookahead.pos++
		lookahead.blanks()
	}
	if n < MinRun {
		return n, nil
	}
	r.pos = lookahead.pos + 1
	return n, &Run{Span: Span{r.base + start, r.base + end}, Text: r.text[start:end], Count: n}
}

// braces builds a set, a map or a value of a user type.
func (r *runReader) braces() Term {
	start := r.pos
	lookahead := runReader{text: r.text, pos: start + 1}
	lookahead.blanks()
	named := false
	if !lookahead.is('}') {
		named = !lookahead.skip(0)
	}
	if lookahead.blanks(); !named && !lookahead.is(':') {
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
