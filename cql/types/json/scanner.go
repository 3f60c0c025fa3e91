package json

import "unicode/utf8"

// scanner reads one JSON value.
type scanner struct {
	text string
	at   int // the next character
	open []scope

	step    func() error // called every readAtOnce bytes, may be nil; its error ends the reading
	stepped int          // where it was called last
}

// scope is an array or object that is not closed yet.
type scope struct {
	kind  string // Array or Object
	at    int    // of its first character
	close byte
}

// Limits that Jackson puts on texts.
const (
	maxDepth  = 1000
	maxNumber = 1000
	maxName   = 50_000
	maxString = 20_000_000
)

// readAtOnce is the number of bytes read between two steps.
const readAtOnce = 4 << 10

// pace calls step if it is due.
func (s *scanner) pace() error {
	if s.step == nil || s.at-s.stepped < readAtOnce {
		return nil
	}
	s.stepped = s.at
	return s.step()
}

// Decode reads the JSON value at the beginning of a text and ignores the rest; nil is null. It calls step, which may
// be nil, now and then while it reads a long text. The error is an *Error or step's.
func Decode(text string, step func() error) (Value, error) {
	s := &scanner{text: text, step: step}
	c, err := s.begin()
	if err != nil {
		return nil, err
	}
	return s.value(c)
}

// begin reads the first character of the only value.
func (s *scanner) begin() (byte, error) {
	c, ok, err := s.next()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, &Error{
			Class: mismatchError, Message: "No content to map due to end-of-input\n at " + sourceAt("line: 1"),
		}
	case c == ']' || c == '}':
		kind := map[byte]string{']': "Array", '}': "Object"}[c]
		return 0, s.fail(parseError, s.at-1, "Unexpected close marker '%c': no open %s to close", c, kind)
	}
	return c, nil
}

// next reads the next character after white space; ok is false at the end.
func (s *scanner) next() (c byte, ok bool, err error) {
	for s.at < len(s.text) {
		c = s.text[s.at]
		s.at++
		switch {
		case c == '/':
			return 0, false, s.unexpected("maybe a (non-standard) comment? (not recognized as one since Feature " +
				"'ALLOW_COMMENTS' not enabled for parser)")
		case c > ' ':
			return c, true, nil
		case c != ' ' && c != '\n' && c != '\r' && c != '\t':
			return 0, false, s.badSpace(c)
		}
	}
	return 0, false, nil
}

// badSpace is the error for a control character between values.
func (s *scanner) badSpace(c byte) error {
	hint := ""
	if c == 0x1E {
		hint = " (consider enabling `JsonReadFeature.ALLOW_RS_CONTROL_CHAR` to allow use of Record Separators (\\u001E))"
	}
	return s.fail(parseError, s.at, "Illegal character (%s): only regular white space (\\r, \\n, \\t) is allowed "+
		"between tokens%s", describeChar(s.text[s.at-1:]), hint)
}

// value reads the value whose first character was read.
func (s *scanner) value(c byte) (Value, error) {
	if err := s.pace(); err != nil {
		return nil, err
	}
	switch {
	case c == '"':
		text, err := s.quoted("string value", ": was expecting closing quote for a string value")
		if err == nil && len(text) > maxString {
			err = tooLarge("String value length", len(text), maxString, "getMaxStringLength")
		}
		return String(text), err
	case c == '[':
		return s.array()
	case c == '{':
		return s.object()
	case c == 't':
		return Boolean(true), s.word("true", 1)
	case c == 'f':
		return Boolean(false), s.word("false", 1)
	case c == 'n':
		return nil, s.word("null", 1)
	case c == '-' || isDigit(c):
		return s.number(c)
	}
	return nil, s.odd(c)
}

// odd is the error for a character that cannot begin a value.
func (s *scanner) odd(c byte) error {
	switch c {
	case '}':
		if s.open[len(s.open)-1].close == ']' {
			return s.unexpected("expected a value")
		}
	case 'N', 'I':
		name := map[byte]string{'N': "NaN", 'I': "Infinity"}[c]
		if err := s.word(name, 1); err != nil {
			return err
		}
		return s.nonStandard(name)
	case '+':
		return s.sign(false)
	}
	if r, n := utf8.DecodeRuneInString(s.text[s.at-1:]); isJavaIdentifierStart(r) {
		from := s.at - 1
		s.at = from + n
		return s.token(from)
	}
	return s.unexpected("expected a valid value " + valueWords)
}

// nonStandard is the error for NaN and infinities.
func (s *scanner) nonStandard(name string) error {
	return s.fail(parseError, s.at, "Non-standard token '%s': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` "+
		"to allow", name)
}

// word reads the rest of a word after its first n characters.
func (s *scanner) word(word string, n int) error {
	from := s.at - n
	for ; n < len(word); n++ {
		if s.at == len(s.text) || s.text[s.at] != word[n] {
			return s.token(from)
		}
		s.at++
	}
	if r, size := utf8.DecodeRuneInString(s.text[s.at:]); size > 0 && r >= '0' && isJavaIdentifierPart(r) {
		return s.token(from)
	}
	return nil
}

// enter opens an array or object.
func (s *scanner) enter(kind string, end byte) error {
	s.open = append(s.open, scope{kind: kind, at: s.at - 1, close: end})
	if n := len(s.open); n > maxDepth {
		return tooLarge("Document nesting depth", n, maxDepth, "getMaxNestingDepth")
	}
	return nil
}

// item reads up to the first character of the next array element or object key; more is false after the last.
func (s *scanner) item(first bool) (c byte, more bool, err error) {
	scope := s.open[len(s.open)-1]
	c, ok, err := s.next()
	switch {
	case err != nil:
		return 0, false, err
	case !ok:
		return 0, false, s.ended(": expected close marker for " + scope.kind + " (start marker at " + s.place(scope.at) + ")")
	case c == scope.close:
		s.open = s.open[:len(s.open)-1]
		return 0, false, nil
	case c == ']' || c == '}':
		return 0, false, s.fail(parseError, s.at-1, "Unexpected close marker '%c': expected '%c' (for %s starting at %s)",
			c, scope.close, scope.kind, s.place(scope.at))
	case first:
		return c, true, nil
	case c != ',':
		return 0, false, s.unexpected("was expecting comma to separate " + scope.kind + " entries")
	}
	if c, ok, err = s.next(); err == nil && !ok {
		err = s.fail(parseError, s.at, "Unexpected end-of-input within/between %s entries", scope.kind)
	}
	return c, true, err
}

// array reads an array after its bracket.
func (s *scanner) array() (Value, error) {
	a := Array{}
	if err := s.enter("Array", ']'); err != nil {
		return nil, err
	}
	for {
		c, more, err := s.item(len(a) == 0)
		if err != nil || !more {
			return a, err
		}
		v, err := s.value(c)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
}

// object reads an object after its brace.
func (s *scanner) object() (Value, error) {
	o := &Object{}
	if err := s.enter("Object", '}'); err != nil {
		return nil, err
	}
	for {
		c, more, err := s.item(len(o.entries) == 0)
		if err != nil || !more {
			return o, err
		}
		if c != '"' {
			return nil, s.unexpected("was expecting double-quote to start field name")
		}
		name, err := s.quoted("name", " in field name")
		if err != nil {
			return nil, err
		}
		if len(name) > maxName {
			return nil, tooLarge("Name length", len(name), maxName, "getMaxNameLength")
		}
		if c, err = s.colon(); err != nil {
			return nil, err
		}
		v, err := s.value(c)
		if err != nil {
			return nil, err
		}
		o.put(name, v)
	}
}

// colon reads a colon and the first character of the value after it.
func (s *scanner) colon() (byte, error) {
	c, ok, err := s.next()
	if err == nil && ok && c != ':' {
		err = s.unexpected("was expecting a colon to separate field name and value")
	}
	if err == nil && ok {
		c, ok, err = s.next()
	}
	if err == nil && !ok {
		err = s.ended(" within/between Object entries")
	}
	return c, err
}

// isDigit reports whether c is an ASCII digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
