package types

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomValue makes a valid value, often one near another.
func randomValue(r *rand.Rand, t Type) []byte {
	switch t := t.(type) {
	case *List:
		return NewList(randomValues(r, t.Elem, true))
	case *Set:
		return NewSet(t, randomValues(r, t.Elem, false))
	case *Map:
		keys := randomValues(r, t.Key, false)
		values := make([][]byte, len(keys))
		for i := range values {
			values[i] = randomValue(r, t.Value)
		}
		return NewMap(t, keys, values)
	case *Tuple:
		fields := make([][]byte, r.IntN(len(t.Elems)+1))
		for i := range fields {
			if r.IntN(3) > 0 {
				fields[i] = randomValue(r, t.Elems[i])
			}
		}
		return NewTuple(fields)
	case *UserType:
		return randomValue(r, t.tuple())
	case *Vector:
		elems := make([][]byte, t.Dim)
		for i := range elems {
			for fixed := t.Elem.FixedLength(); ; {
				if elems[i] = randomValue(r, t.Elem); fixed == 0 || len(elems[i]) == fixed {
					break
				}
			}
		}
		return NewVector(t, elems)
	}
	for {
		b := make([]byte, randomLength(r, t))
		for i := range b {
			// Bytes at the edges make neighbours and equal beginnings likely.
			b[i] = [...]byte{0, 0, 1, 0x7F, 0x80, 0xFF, byte(r.Uint32())}[r.IntN(7)]
		}
		switch {
		case t == TimeUUID && len(b) > 6:
			b[6] = b[6]&0x0F | 0x10
		case t == ASCII || t == Text:
			for i := range b {
				b[i] &= 0x7F
			}
		case t == Decimal && len(b) > 4:
			binary.BigEndian.PutUint32(b, uint32(int32(r.IntN(9)-4)))
		}
		if t.Validate(b) == nil {
			return b
		}
	}
}

func randomValues(r *rand.Rand, t Type, nulls bool) [][]byte {
	elems := make([][]byte, r.IntN(4))
	for i := range elems {
		if !nulls || r.IntN(5) > 0 {
			elems[i] = randomValue(r, t)
		}
	}
	return elems
}

// randomLength is a length that values of t have.
func randomLength(r *rand.Rand, t Type) int {
	sizes := map[Type]int{
		BigInt: 8, Counter: 8, Boolean: 1, Date: 4, Double: 8, Float: 4, Int: 4, SmallInt: 2, Time: 8,
		Timestamp: 8, TimeUUID: 16, TinyInt: 1, UUID: 16,
	}
	if n := sizes[t]; n > 0 {
		if r.IntN(20) == 0 && t.Validate([]byte{}) == nil {
			return 0
		}
		return n
	}
	switch t {
	case Inet:
		return [...]int{0, 4, 16}[r.IntN(3)]
	case Empty:
		return 0
	case Duration:
		return 3
	}
	return r.IntN(8)
}

// nearValue changes a byte of a value, or puts one more in or leaves one out, if what comes out is a value too.
func nearValue(r *rand.Rand, t Type, v []byte) []byte {
	edge := [...]byte{0, 1, 0x7F, 0x80, 0xFE, 0xFF}[r.IntN(6)]
	near := slices.Clone(v)
	switch at := r.IntN(len(v) + 1); {
	case r.IntN(4) == 0:
		near = slices.Insert(near, at, edge)
	case at == len(v):
		return v
	case r.IntN(4) == 0:
		near = slices.Delete(near, at, at+1)
	default:
		near[at] = edge
	}
	if t.Validate(near) != nil {
		return v
	}
	return NormalizeBound(t, near)
}

// propertyTypes are the types whose properties are checked: those of the recorded values, and deeper ones.
func propertyTypes(t testing.TB) []recordedType {
	t.Helper()
	all := slices.DeleteFunc(recordedTypes(t), func(r recordedType) bool { return r.desc })
	for _, deep := range []Type{
		&Map{Key: &Set{Elem: VarInt, Frozen: true}, Value: Decimal, Frozen: true},
		&Tuple{Elems: []Type{&List{Elem: Text, Frozen: true}, UUID, Float}},
		&Vector{Elem: &List{Elem: Decimal, Frozen: true}, Dim: 3},
		&List{Elem: &Tuple{Elems: []Type{Boolean, &Vector{Elem: Inet, Dim: 2}}}, Frozen: true},
	} {
		all = append(all, recordedType{Type: deep, file: deep.String()})
	}
	return all
}

// samples are n values: the recorded ones, random ones, and some that are near those.
func samples(r *rand.Rand, typ recordedType, n int) [][]byte {
	var all [][]byte
	for _, v := range typ.values {
		if v.order != "?" {
			all = append(all, v.bytes)
		}
	}
	for len(all) < n {
		if len(all) > 0 && r.IntN(2) == 0 {
			all = append(all, nearValue(r, typ.Type, all[r.IntN(len(all))]))
		} else {
			all = append(all, randomValue(r, typ.Type))
		}
	}
	return all
}
