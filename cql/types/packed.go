package types

import (
	"encoding/binary"
	"slices"
)

// Packed are values one behind the other. An object for each of a million numbers would be many times as large as the
// collection that they are to be.
type Packed struct {
	bytes []byte
	ends  []uint32
	null  bool

	Step func() error // called now and then while they are sorted; nil: nobody waits
	err  error
}

// NewPacked is empty, with room for n values.
func NewPacked(n int) *Packed { return &Packed{bytes: []byte{}, ends: make([]uint32, 0, n)} }

// Reserve makes room for n bytes of values, so that those of millions are not copied again and again: nobody can
// interrupt a goroutine while it copies tens of megabytes. Nothing has been added.
func (p *Packed) Reserve(n int) { p.bytes = make([]byte, 0, n) }

// Add appends a value. All values together must be shorter than 4 GiB.
func (p *Packed) Add(b []byte) {
	p.null = p.null || b == nil
	p.bytes = append(p.bytes, b...)
	p.ends = append(p.ends, uint32(len(p.bytes)))
}

// Size is the length of all values together.
func (p *Packed) Size() int { return len(p.bytes) }

// Err is what Step ended the sorting with: the value that was made then is wrong.
func (p *Packed) Err() error { return p.err }

// HasNull reports whether a value is null.
func (p *Packed) HasNull() bool { return p.null }

func (p *Packed) at(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.bytes[start:p.ends[i]:p.ends[i]]
}

// List is a list of the values, none of which is null.
func (p *Packed) List() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+4*len(p.ends)+len(p.bytes)), uint32(len(p.ends)))
	for i := range p.ends {
		b = AppendElement(b, p.at(uint32(i)))
	}
	return b
}

// sorted are the places of the values in their order, equal ones as they came.
func (p *Packed) sorted(t Type) []uint32 {
	order := make([]uint32, len(p.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	n := 0
	slices.SortFunc(order, func(i, j uint32) int {
		if n++; n%256 == 0 && p.Step != nil && p.err == nil {
			p.err = p.Step()
		}
		if p.err != nil {
			return 0 // the order does not matter any more
		}
		if c := t.Compare(p.at(i), p.at(j)); c != 0 {
			return c
		}
		return int(i) - int(j)
	})
	return order
}

// Set is NewSet of the values.
func (p *Packed) Set(t *Set) []byte {
	order := slices.CompactFunc(p.sorted(t.Elem), func(i, j uint32) bool { return t.Elem.Compare(p.at(i), p.at(j)) == 0 })
	size := 4
	for _, i := range order {
		size += 4 + len(p.at(i))
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(len(order)))
	for _, i := range order {
		b = AppendElement(b, p.at(i))
	}
	return b
}

// Map is NewMap with the values as keys.
func (p *Packed) Map(t *Map, values *Packed) []byte {
	order := p.sorted(t.Key)
	kept, size := order[:0], 4
	for n, i := range order {
		if n+1 < len(order) && t.Key.Compare(p.at(i), p.at(order[n+1])) == 0 {
			continue
		}
		kept = append(kept, i)
		size += 8 + len(p.at(i)) + len(values.at(i))
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(len(kept)))
	for _, i := range kept {
		b = AppendElement(AppendElement(b, p.at(i)), values.at(i))
	}
	return b
}

// Vector is NewVector of the values.
func (p *Packed) Vector(t *Vector) []byte {
	elems := make([][]byte, len(p.ends))
	for i := range elems {
		elems[i] = p.at(uint32(i))
	}
	return NewVector(t, elems)
}
