package functions

import (
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// vectorFamilies are the similarities of two vectors of floats. Sums are made in Cassandra's order, which affects the
// last digits.
var vectorFamilies = map[string]*family{
	"similarity_cosine": similarity("The cosine of the angle between two vectors, from 0 to 1.", cosine),
	"similarity_euclidean": similarity("How near two points are to each other, from 0 to 1.",
		func(a, b []float32) float32 { return 1 / (1 + squareDistance(a, b)) }),
	"similarity_dot_product": similarity("The dot product of two vectors of length 1, from 0 to 1.",
		func(a, b []float32) float32 { return (1 + dotProduct(a, b)) / 2 }),
}

// similarity makes the family of a function of two vectors of the same dimension.
func similarity(doc string, f func(a, b []float32) float32) *family {
	return &family{
		params: []parameter{vectorParameter(2), vectorParameter(1)},
		make: func(name string, args []types.Type) (*Function, error) {
			t := args[0].(*types.Vector)
			if args[1].(*types.Vector).Dim != t.Dim {
				return nil, cqlerr.Invalidf("All arguments must have the same vector dimensions")
			}
			return &Function{
				Name: name, Args: []types.Type{t, t}, Returns: types.Float, Doc: doc, Costly: isUnbounded(t),
				Call: func(c *Call) (types.Value, error) {
					if c.Args[0].Bytes == nil || c.Args[1].Bytes == nil {
						return types.Value{}, nil
					}
					a, b := floats(t, c.Args[0].Bytes), floats(t, c.Args[1].Bytes)
					if name == "similarity_cosine" && (allZero(a) || allZero(b)) {
						return types.Value{}, cqlerr.Invalidf("Function system.%s doesn't support all-zero vectors.", name)
					}
					sawNaN := slices.ContainsFunc(append(a, b...), func(f float32) bool { return f != f })
					return types.Value{Bytes: encodeFloat(float64(f(a, b)), sawNaN)}, nil
				},
			}, nil
		},
	}
}

// vectorParameter takes a vector of floats, which may be as the other one is.
func vectorParameter(other int) parameter {
	return parameter{
		text: "vector<float, n>", receiver: true, other: other,
		ofList: func(n int) types.Type { return &types.Vector{Elem: types.Float, Dim: n} },
		check: requires("a float vector", func(t types.Type) bool {
			v, ok := t.(*types.Vector)
			return ok && v.Elem == types.Float
		}),
	}
}

// floats are the elements of a vector.
func floats(t *types.Vector, b []byte) []float32 {
	all := make([]float32, 0, t.Dim)
	for e := range types.VectorElements(t, b) {
		all = append(all, types.DecodeFloat(e))
	}
	return all
}

// allZero reports whether a vector has no direction.
func allZero(v []float32) bool {
	for _, f := range v {
		if f != 0 {
			return false
		}
	}
	return true
}

// cosine adds in order.
func cosine(a, b []float32) float32 {
	var dot, squareA, squareB float32
	for i := range a {
		dot += float32(a[i] * b[i])
		squareA += float32(a[i] * a[i])
		squareB += float32(b[i] * b[i])
	}
	return (1 + float32(float64(dot)/math.Sqrt(float64(squareA)*float64(squareB)))) / 2
}

// dotProduct adds the elements before the last multiple of 8 one by one, and then groups of 8 separately.
func dotProduct(a, b []float32) float32 {
	var sum float32
	head := len(a) % 8
	for i := range head {
		sum += float32(b[i] * a[i])
	}
	for i := head; i < len(a); i += 8 {
		eight := float32(b[i] * a[i])
		for j := i + 1; j < i+8; j++ {
			eight += float32(b[j] * a[j])
		}
		sum += eight
	}
	return sum
}

// squareDistance adds groups of 8 elements separately, and then the remaining ones one by one.
func squareDistance(a, b []float32) float32 {
	var sum float32
	i := 0
	for ; i+8 <= len(a); i += 8 {
		var eight float32
		for j := i; j < i+8; j++ {
			eight += square(a[j] - b[j])
		}
		sum += eight
	}
	for ; i < len(a); i++ {
		sum += square(a[i] - b[i])
	}
	return sum
}

// square is rounded before it is added to anything.
func square(f float32) float32 { return float32(f * f) }
