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

// freePacked is how many bytes the values of any literal may have, and packedPerByte how many more for each byte of
// text. Only null fields of user types, which need no text, come to as much.
const (
	freePacked    = 16 << 20
	packedPerByte = 16
)

// longestNumber is how many bytes a number has whose text may be shorter than the number. The texts of other values are
// about as long as the values.
const longestNumber = 8

// MaxMixed is how many terms a long literal may have that are not all constants.
const MaxMixed = 1 << 16

// NewPacked is empty, with room for the values of the terms. of is their type; nil: there are no terms.
func NewPacked(terms cql.Terms, of types.Type) *Packed {
	text := 0
	for _, part := range terms.Parts {
		if run, ok := part.(*cql.Run); ok {
			text += len(run.Text)
		}
	}
	p := &Packed{limit: freePacked + packedPerByte*text}
	room := text
	if of != nil && of.FixedLength() > 0 && of.FixedLength() <= longestNumber {
		room = terms.Len() * of.FixedLength()
	}
	p.Reserve(terms.Len(), room)
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

// Each calls f for each of the terms until it fails.
func (c *Checker) Each(terms cql.Terms, f func(cql.Term) error) error {
	return c.eachEntry(terms, cql.Terms{}, func(t, _ cql.Term) error { return f(t) })
}

// eachEntry is Each for the keys and values of a map; without values an entry is a term and nil. Findings about the
// terms of a run are not kept: they are not needed again. f must not keep the terms: literals are reused.
func (c *Checker) eachEntry(terms, values cql.Terms, f func(t, value cql.Term) error) error {
	for i, t := range terms.Parts {
		var value cql.Term
		if len(values.Parts) > 0 {
			value = values.Parts[i]
		}
		run, long := t.(*cql.Run)
		var err error
		switch {
		case !long:
			err = f(t, value)
		case value != nil:
			err = c.eachEntryOf(run, f)
		default:
			err = c.eachOf(run, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachOf is eachEntry for the terms of a run.
func (c *Checker) eachOf(run *cql.Run, f func(t, value cql.Term) error) error {
	c.passing++
	defer func() { c.passing-- }()
	for t := range run.Lent() {
		if err := f(t, nil); err != nil {
			return err
		}
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

// eachEntryOf is eachEntry for the keys and values of a run.
func (c *Checker) eachEntryOf(run *cql.Run, f func(t, value cql.Term) error) error {
	c.passing++
	defer func() { c.passing-- }()
	for t, value := range run.LentEntries() {
		if err := f(t, value); err != nil {
			return err
		}
		if err := c.step(); err != nil {
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

// CheckMixed refuses a long literal of other terms than constants.
func CheckMixed(terms cql.Terms) error {
	if terms.Long() && terms.Len() > MaxMixed {
		return cqlerr.Invalidf("A literal of more than %d terms may have constants only", MaxMixed)
	}
	return nil
}

// pack checks a long list, set, vector or map. It returns nil if its terms are not all constants.
func (c *Checker) pack(kind string, whole Receiver, r, valueOf Receiver, terms, values cql.Terms) (Expr, error) {
	packed := [2]*Packed{NewPacked(terms, r.Type), NewPacked(values, valueOf.Type)}
	packed[0].Step = c.Step
	constant := true
	err := c.eachEntry(terms, values, func(t, value cql.Term) error {
		err := c.packTerm(packed[0], t, r, &constant)
		if err == nil && value != nil {
			err = c.packTerm(packed[1], value, valueOf, &constant)
		}
		if err != nil {
			return err
		}
		return checkNoMarker(kind, whole.Name, t, value)
	})
	switch {
	case err != nil:
		return nil, err
	case !constant:
		return nil, CheckMixed(terms)
	case packed[0].HasNull() || packed[1].HasNull():
		return nil, cqlerr.Invalidf("%s", composed(whole.Type).null)
	}
	var bytes []byte
	switch t := whole.Type.(type) {
	case *types.Set:
		bytes = packed[0].Set(t)
	case *types.Vector:
		bytes = packed[0].Vector(t)
	case *types.Map:
		bytes = packed[0].Map(t, &packed[1].Packed)
	default:
		bytes = packed[0].List()
	}
	return &Constant{Of: whole.Type, Value: types.Value{Bytes: bytes}}, packed[0].Err()
}

// packTerm checks a term and adds its value, as long as all are constants.
func (c *Checker) packTerm(to *Packed, t cql.Term, r Receiver, constant *bool) error {
	if l, ok := t.(*cql.Literal); ok && *constant && l.Kind != cql.NullLiteral {
		bytes, err := c.literalBytes(l, r)
		if err != nil {
			return err
		}
		return to.AddValue(bytes)
	}
	e, err := c.value(t, r)
	if err == nil && *constant {
		*constant, err = to.AddConstant(e)
	}
	return err
}
