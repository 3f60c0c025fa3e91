package main

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// maxElements is how many elements a collection has at most.
const maxElements = 3

// elements makes a list or set.
func (g *gen) elements(t, elem types.Type, open, end string, build func([][]byte) []byte, distinct bool) *value {
	var texts []string
	var encoded [][]byte
	for range g.IntN(maxElements + 1) {
		e := pick(g, g.pool(elem))
		if distinct && contains(elem, encoded, e.bytes) {
			continue
		}
		texts, encoded = append(texts, e.text), append(encoded, e.bytes)
	}
	return &value{typ: t, text: open + strings.Join(texts, ", ") + end, bytes: build(encoded)}
}

// contains reports whether a list has a value equal to b.
func contains(t types.Type, list [][]byte, b []byte) bool {
	for _, x := range list {
		if t.Compare(x, b) == 0 {
			return true
		}
	}
	return false
}

// entries makes a map.
func (g *gen) entries(t *types.Map) *value {
	var texts []string
	var keys, vals [][]byte
	for range g.IntN(maxElements + 1) {
		k, v := pick(g, g.pool(t.Key)), pick(g, g.pool(t.Value))
		if contains(t.Key, keys, k.bytes) {
			continue
		}
		texts = append(texts, k.text+": "+v.text)
		keys, vals = append(keys, k.bytes), append(vals, v.bytes)
	}
	return &value{typ: t, text: "{" + strings.Join(texts, ", ") + "}", bytes: types.NewMap(t, keys, vals)}
}

// tuple makes a tuple; its fields may be null.
func (g *gen) tuple(t *types.Tuple) *value {
	var texts []string
	var fields [][]byte
	for _, elem := range t.Elems {
		v := pick(g, g.pool(elem))
		if g.percent(10) {
			v = null(elem)
		}
		texts, fields = append(texts, v.text), append(fields, v.bytes)
	}
	return &value{typ: t, text: "(" + strings.Join(texts, ", ") + ")", bytes: types.NewTuple(fields)}
}

// vector makes a vector.
func (g *gen) vector(t *types.Vector) *value {
	var texts []string
	var elems [][]byte
	for range t.Dim {
		v := pick(g, g.pool(t.Elem))
		texts, elems = append(texts, v.text), append(elems, v.bytes)
	}
	return &value{typ: t, text: "[" + strings.Join(texts, ", ") + "]", bytes: types.NewVector(t, elems)}
}

// bytesFor makes bytes that may or may not be a value of a type.
func (g *gen) bytesFor(t types.Type) []byte {
	b := g.damagedBytes(t)
	if len(b) == 0 && g.table != nil && g.table.filled {
		b = pick(g, g.pool(t)).bytes
	}
	return b
}

// damagedBytes makes the bytes of a value, damaged or random bytes, or none.
func (g *gen) damagedBytes(t types.Type) []byte {
	b := append([]byte{}, pick(g, g.pool(t)).bytes...)
	kinds := 5
	if strings.Contains(t.String(), "boolean") {
		kinds = 3 // Cassandra keeps and orders elements and keys by chance if they are true but have different bytes
	}
	switch g.IntN(kinds) {
	case 0:
		return []byte{}
	case 1:
		return b[:g.IntN(len(b)+1)]
	case 2:
		return append(b, byte(g.IntN(256)))
	case 3:
		if len(b) > 0 {
			b[g.IntN(len(b))] = byte(g.IntN(256))
		}
		return b
	}
	b = make([]byte, g.IntN(17))
	for i := range b {
		b[i] = byte(g.IntN(256))
	}
	return b
}

// scalars are the types that every column may have; a key column cannot be a duration.
var scalars = []types.Type{
	types.Int, types.Text, types.ASCII, types.BigInt, types.Blob, types.Boolean, types.Date, types.Decimal, types.Double,
	types.Float, types.Inet, types.SmallInt, types.Time, types.Timestamp, types.TimeUUID, types.TinyInt, types.UUID, types.VarInt,
}

// typ makes a type, with some levels of nested types.
func (g *gen) typ(depth int, key bool) types.Type {
	if depth == 0 || g.percent(60) {
		if !key && g.percent(6) {
			return types.Duration
		}
		return pick(g, scalars)
	}
	switch g.IntN(5) {
	case 0:
		return &types.List{Elem: g.typ(depth-1, key), Frozen: true}
	case 1:
		return &types.Set{Elem: g.typ(depth-1, true), Frozen: true}
	case 2:
		return &types.Map{Key: g.typ(depth-1, true), Value: g.typ(depth-1, key), Frozen: true}
	case 3:
		t := &types.Tuple{}
		for range 1 + g.IntN(3) {
			t.Elems = append(t.Elems, g.typ(depth-1, key))
		}
		return t
	}
	return &types.Vector{Elem: g.typ(depth-1, key), Dim: 1 + g.IntN(3)}
}

// itoa is a number as text.
func itoa(n int) string { return strconv.Itoa(n) }
