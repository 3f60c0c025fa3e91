package types

import (
	"strings"
	"time"
)

// Clock reads literals and JSON that may ask for the time, as the word now of a timestamp does. Types themselves have
// no clock and refuse it.
type Clock struct {
	Now   time.Time
	Asked bool // what was read depends on when it was read
}

// ParseLiteral is t.ParseLiteral by the clock, which may be nil.
func (c *Clock) ParseLiteral(t Type, kind LiteralKind, text string) ([]byte, error) {
	if kind == StringLiteral {
		t = c.For(text).timed(t)
	}
	return t.ParseLiteral(kind, text)
}

// ParseJSON is t.ParseJSON by the clock, which may be nil.
func (c *Clock) ParseJSON(t Type, v JSON) ([]byte, error) { return c.timed(t).ParseJSON(v) }

// For is the clock for a text, or nil if the text cannot ask: the word now does not stand in it, nor an escape that may
// be a part of it.
func (c *Clock) For(text string) *Clock {
	if c == nil {
		return nil
	}
	for i := range len(text) {
		if text[i] == '\\' || len(text) >= i+len(nowWord) && strings.EqualFold(text[i:i+len(nowWord)], nowWord) {
			return c
		}
	}
	return nil
}

// timed is t with timestamps that ask the clock.
func (c *Clock) timed(t Type) Type {
	if c == nil {
		return t
	}
	switch t := t.(type) {
	case *timestampType:
		return &timedTimestamp{t, c}
	case *List:
		return &List{Elem: c.timed(t.Elem), Frozen: t.Frozen}
	case *Set:
		return &Set{Elem: c.timed(t.Elem), Frozen: t.Frozen}
	case *Map:
		return &Map{Key: c.timed(t.Key), Value: c.timed(t.Value), Frozen: t.Frozen}
	case *Vector:
		return &Vector{Elem: c.timed(t.Elem), Dim: t.Dim}
	case *Tuple:
		timed := &Tuple{Elems: make([]Type, len(t.Elems))}
		for i, e := range t.Elems {
			timed.Elems[i] = c.timed(e)
		}
		return timed
	case *UserType:
		timed := *t
		timed.Fields = make([]Field, len(t.Fields))
		for i, f := range t.Fields {
			timed.Fields[i] = Field{Name: f.Name, Type: c.timed(f.Type)}
		}
		return &timed
	}
	return t
}

// nowWord is the literal of a timestamp that is the time at which it is read.
const nowWord = "now"

// timedTimestamp is a timestamp with a clock to ask.
type timedTimestamp struct {
	*timestampType
	clock *Clock
}

// ParseLiteral takes the word now, too, which it answers by the clock.
func (t *timedTimestamp) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != StringLiteral || !strings.EqualFold(text, nowWord) {
		return t.timestampType.ParseLiteral(kind, text)
	}
	t.clock.Asked = true
	return EncodeTimestamp(t.clock.Now), nil
}

// ParseJSON takes the word now in a string, too.
func (t *timedTimestamp) ParseJSON(v JSON) ([]byte, error) {
	if s, ok := v.(JSONString); ok {
		return fromString(t, string(s))
	}
	return t.timestampType.ParseJSON(v)
}
