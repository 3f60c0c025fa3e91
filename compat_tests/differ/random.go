package main

import (
	"math/rand/v2"
	"strconv"

	"github.com/cqld/cqld/cql/types"
)

// gen makes the statements of one scenario.
type gen struct {
	*rand.Rand
	table    *table
	pools    map[string][]*value // the values of each type that come again and again
	parts    int
	ttls     int
	bindRate int // how many of a hundred values are bound, in the statement that is being made
}

// newGen makes the same statements for the same numbers.
func newGen(seed, scenario uint64) *gen {
	return &gen{Rand: rand.New(rand.NewPCG(seed, scenario)), pools: map[string][]*value{}}
}

// percent is true with a probability of n percent.
func (g *gen) percent(n int) bool { return g.IntN(100) < n }

// pick is one of some things.
func pick[T any](g *gen, from []T) T { return from[g.IntN(len(from))] }

// some are a few things in their order, at least one if there are any.
func some[T any](g *gen, from []T) []T {
	if len(from) == 0 {
		return nil
	}
	var kept []T
	for _, x := range from {
		if g.percent(50) {
			kept = append(kept, x)
		}
	}
	if kept == nil {
		kept = []T{pick(g, from)}
	}
	return kept
}

// opt makes a node a part that the shrinker can leave out.
func (g *gen) opt(n *node) *node {
	g.parts++
	n.part = g.parts
	return n
}

// poolSize is how many values of a type come again and again in a scenario.
const poolSize = 5

// pool are values of a type that are not null.
func (g *gen) pool(t types.Type) []*value {
	name := t.String()
	if g.pools[name] == nil {
		for range poolSize {
			g.pools[name] = append(g.pools[name], g.fresh(t))
		}
	}
	return g.pools[name]
}

// key is a node for a valid value that is not null, as keys require.
func (g *gen) key(t types.Type) *node { return g.term(pick(g, g.pool(t))) }

// any is a node for a value of a column: mostly right, now and then null or wrong.
func (g *gen) any(t types.Type) *node {
	switch n := g.IntN(100); {
	case n < 5:
		return g.term(null(t))
	case n < 6:
		return leaf(&value{typ: t, text: pick(g, wrong)})
	case n < 7:
		return leaf(&value{typ: t, bytes: g.bytesFor(t), bound: true})
	case n < 8:
		return leaf(&value{typ: t, unset: true, bound: true})
	case n < 25:
		return g.term(g.fresh(t))
	}
	return g.key(t)
}

// term is a node for a value, bound or not.
func (g *gen) term(v *value) *node {
	c := *v
	c.bound = (v.bytes != nil || v.text == "null") && g.percent(g.bindRate)
	return leaf(&c)
}

// integer is a node for a small number of type int.
func (g *gen) integer(n int) *node { return g.term(literal(types.Int, strconv.Itoa(n))) }

// fresh is any value of a type.
func (g *gen) fresh(t types.Type) *value {
	switch t := t.(type) {
	case *types.List:
		return g.elements(t, t.Elem, "[", "]", types.NewList, false)
	case *types.Set:
		return g.elements(t, t.Elem, "{", "}", func(e [][]byte) []byte { return types.NewSet(t, e) }, true)
	case *types.Map:
		return g.entries(t)
	case *types.Tuple:
		return g.tuple(t)
	case *types.Vector:
		return g.vector(t)
	}
	if t == types.Counter {
		t = types.BigInt
	}
	if random, ok := g.number(t); ok && g.percent(20) {
		return literal(t, random)
	}
	return literal(t, pick(g, literals[t]))
}

// number is a random literal of the types that have many.
func (g *gen) number(t types.Type) (string, bool) {
	switch t {
	case types.Int, types.BigInt, types.SmallInt, types.VarInt, types.TinyInt:
		return strconv.Itoa(g.IntN(200) - 100), true
	case types.Double:
		return strconv.FormatFloat(g.NormFloat64()*1000, 'g', -1, 64), true
	case types.Text, types.ASCII:
		return "'" + string(rune('a'+g.IntN(26))) + strconv.Itoa(g.IntN(20)) + "'", true
	case types.Timestamp:
		return strconv.FormatInt(g.Int64N(2e12), 10), true
	}
	return "", false
}
