package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Packed are the values of the terms of a long literal.
type Packed struct {
	types.Packed
	limit int
}

// freePacked is how many bytes the values of any literal may have, and packedPerByte how many more for each byte of text.
// Only null fields of user types, which need no text, come to as much.
const (
	freePacked    = 16 << 20
	packedPerByte = 16
)

// MaxMixed is how many terms a long literal may have that are not all constants.
const MaxMixed = 1 << 16

// NewPacked is empty, with room for the terms.
func NewPacked(terms cql.Terms) *Packed {
	p := &Packed{Packed: *types.NewPacked(terms.Len()), limit: freePacked}
	for _, t := range terms.Parts {
		if run, ok := t.(*cql.Run); ok {
			p.limit += packedPerByte * len(run.Text)
		}
	}
	return p
}

// AddConstant appends the value of e. It reports whether e is a constant.
func (p *Packed) AddConstant(e Expr) (bool, error) {
	c, ok := e.(*Constant)
	if !ok || c.Value.Unset {
		return false, nil
	}
	return true, p.AddValue(c.Value.Bytes)
}

// AddValue appends a value.
func (p *Packed) AddValue(b []byte) error {
	p.Add(b)
	if p.Size() > p.limit {
		return cqlerr.Invalidf("The values of a literal have more than %d bytes", p.limit)
	}
	return nil
}

// Each calls f for each of the terms until it fails. What it learns of the terms of a run is not kept: nobody asks about
// them again.
func (c *Checker) Each(terms cql.Terms, f func(cql.Term) error) error {
	for _, p := range terms.Parts {
		run, ok := p.(*cql.Run)
		if !ok {
			if err := f(p); err != nil {
				return err
			}
			continue
		}
		if err := c.eachOf(run, f); err != nil {
			return err
		}
	}
	return nil
}

// step counts a term, and lets others run now and then.
func (c *Checker) step() error {
	if c.counted++; c.counted%512 != 0 || c.Step == nil {
		return nil
	}
	return c.Step()
}

func (c *Checker) eachOf(run *cql.Run, f func(cql.Term) error) error {
	c.passing++
	defer func() { c.passing-- }()
	for t := range run.All() {
		if err := f(t); err != nil {
			return err
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

// pack checks terms for a receiver, all of which must be constants; ok is false if one is not.
func (c *Checker) pack(kind string, terms cql.Terms, r, whole Receiver) (values *Packed, ok bool, err error) {
	values, ok = NewPacked(terms), true
	values.Step = c.Step
	err = c.Each(terms, func(t cql.Term) error {
		if l, plain := t.(*cql.Literal); plain && ok && l.Kind != cql.NullLiteral {
			bytes, err := c.literalBytes(l, r)
			if err != nil {
				return err
			}
			return values.AddValue(bytes)
		}
		e, err := c.value(t, r)
		if err != nil {
			return err
		}
		if kind != "vector" {
			if err := checkNoMarker(kind, whole, t); err != nil {
				return err
			}
		}
		if ok {
			ok, err = values.AddConstant(e)
		}
		return err
	})
	if err == nil && !ok {
		err = CheckMixed(terms)
	}
	return values, ok, err
}

// CheckMixed refuses a long literal of other terms than constants.
func CheckMixed(terms cql.Terms) error {
	if terms.Long() && terms.Len() > MaxMixed {
		return cqlerr.Invalidf("A literal of more than %d terms may have constants only", MaxMixed)
	}
	return nil
}

// packElements checks the elements of a long list, set or vector. It returns nil if they are not all constants.
func (c *Checker) packElements(kind string, l *Composed, terms cql.Terms, r, whole Receiver) (Expr, error) {
	values, ok, err := c.pack(kind, terms, r, whole)
	switch {
	case err != nil || !ok:
		return nil, err
	case values.HasNull():
		return nil, cqlerr.Invalidf("%s", l.null)
	}
	var bytes []byte
	switch t := l.Of.(type) {
	case *types.Set:
		bytes = values.Set(t)
	case *types.Vector:
		bytes = values.Vector(t)
	default:
		bytes = values.List()
	}
	return &Constant{Of: l.Of, Value: types.Value{Bytes: bytes}}, values.Err()
}

// packEntries checks the entries of a long map. It returns nil if they are not all constants.
func (c *Checker) packEntries(m *Composed, l *cql.MapLiteral, key, value, whole Receiver) (Expr, error) {
	keys, values := NewPacked(l.Keys), NewPacked(l.Values)
	keys.Step = c.Step
	constant := true
	err := c.eachEntry(l, func(k, v cql.Term) error {
		for _, of := range [...]struct {
			term cql.Term
			r    Receiver
			to   *Packed
		}{{k, key, keys}, {v, value, values}} {
			e, err := c.value(of.term, of.r)
			if err != nil {
				return err
			}
			if constant {
				if constant, err = of.to.AddConstant(e); err != nil {
					return err
				}
			}
		}
		return checkNoMarker("map", whole, k, v)
	})
	switch {
	case err != nil:
		return nil, err
	case !constant:
		return nil, CheckMixed(l.Keys)
	case keys.HasNull() || values.HasNull():
		return nil, cqlerr.Invalidf("%s", m.null)
	}
	return &Constant{Of: m.Of, Value: types.Value{Bytes: keys.Map(m.Of.(*types.Map), &values.Packed)}}, keys.Err()
}

// eachEntry is Each for the entries of a map.
func (c *Checker) eachEntry(l *cql.MapLiteral, f func(k, v cql.Term) error) error {
	for i, k := range l.Keys.Parts {
		run, ok := k.(*cql.Run)
		if !ok {
			if err := f(k, l.Values.Parts[i]); err != nil {
				return err
			}
			continue
		}
		if err := c.eachEntryOf(run, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) eachEntryOf(run *cql.Run, f func(k, v cql.Term) error) error {
	c.passing++
	defer func() { c.passing-- }()
	for k, v := range run.Entries() {
		if err := f(k, v); err != nil {
			return err
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}
