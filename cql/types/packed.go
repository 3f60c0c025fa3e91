package types

import (
	"encoding/binary"
	"slices"
)

// Packed collects values in one buffer, encoded as a list. A slice for each of a million numbers would need many
// times the memory of the collection.
type Packed struct {
	list   []byte   // 4 bytes for the number of values, then each length and value
	n      int      // the number of values
	starts []uint32 // offset of each value; see find
	null   bool

	Step func() error // called now and then while sorting; may be nil
	err  error
}

// Sizes of the number of elements and of each length.
const (
	countLength  = 4
	prefixLength = 4
)

// NewPacked returns an empty Packed with capacity for the lengths of n values.
func NewPacked(n int) *Packed {
	p := new(Packed)
	p.Reserve(n, 0)
	return p
}

// Reserve allocates the buffer for n values of size bytes in total, before any is added. Growing it would copy tens
// of megabytes repeatedly, and a goroutine cannot be preempted while it copies.
func (p *Packed) Reserve(n, size int) {
	p.list = make([]byte, countLength, countLength+n*prefixLength+size)
}

// Add appends a value. The buffer must stay below 4 GiB.
func (p *Packed) Add(b []byte) {
	p.null = p.null || b == nil
	p.list = binary.BigEndian.AppendUint32(p.list, uint32(len(b)))
	p.list = append(p.list, b...)
	p.n++
}

// Size is the total length of the values.
func (p *Packed) Size() int { return len(p.list) - countLength - p.n*prefixLength }

// Err is the error of Step; if it is not nil, the result of Set or Map is invalid.
func (p *Packed) Err() error { return p.err }

// HasNull reports whether a value is null.
func (p *Packed) HasNull() bool { return p.null }

// List returns the values, none of which is null, as a list. It ends the use of Packed.
func (p *Packed) List() []byte {
	binary.BigEndian.PutUint32(p.list, uint32(p.n))
	return p.list
}

// find records the offsets of the values for at.
func (p *Packed) find() {
	p.starts = make([]uint32, 0, p.n)
	for at := countLength; at < len(p.list); {
		at += prefixLength
		p.starts = append(p.starts, uint32(at))
		at += int(binary.BigEndian.Uint32(p.list[at-prefixLength:]))
	}
}

// at returns a value after find.
func (p *Packed) at(i uint32) []byte {
	start := p.starts[i]
	end := start + binary.BigEndian.Uint32(p.list[start-prefixLength:])
	return p.list[start:end:end]
}

// sorted returns the indexes of the values in stable order.
func (p *Packed) sorted(t Type) []uint32 {
	p.find()
	order := make([]uint32, p.n)
	for i := range order {
		order[i] = uint32(i)
	}
	n := 0
	slices.SortFunc(order, func(i, j uint32) int {
		if n++; n%256 == 0 && p.Step != nil && p.err == nil {
			p.err = p.Step()
		}
		if p.err != nil {
			return 0 // the result is discarded
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
	size := countLength
	for _, i := range order {
		size += prefixLength + len(p.at(i))
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
	values.find()
	kept, size := order[:0], countLength
	for n, i := range order {
		if n+1 < len(order) && t.Key.Compare(p.at(i), p.at(order[n+1])) == 0 {
			continue
		}
		kept = append(kept, i)
		size += 2*prefixLength + len(p.at(i)) + len(values.at(i))
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(len(kept)))
	for _, i := range kept {
		b = AppendElement(AppendElement(b, p.at(i)), values.at(i))
	}
	return b
}

// Vector is NewVector of the values.
func (p *Packed) Vector(t *Vector) []byte {
	p.find()
	elems := make([][]byte, p.n)
	for i := range elems {
		elems[i] = p.at(uint32(i))
	}
	return NewVector(t, elems)
}
