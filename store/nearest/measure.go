package nearest

import "math"

// Measure is how the distance of two vectors is measured.
type Measure byte

// The measures. With Cosine the graph keeps vectors of length one.
const (
	Euclidean Measure = iota
	DotProduct
	Cosine
)

// maxComponent is the largest number of a vector in a graph.
const maxComponent = 1e17

// prepare makes a vector comparable. It reports false if the vector has no place in a graph: its numbers are too large
// or not finite, or its length is zero where only the direction counts.
func (m Measure) prepare(v []float32) bool {
	sum := 0.0
	for _, f := range v {
		if !(f >= -maxComponent && f <= maxComponent) {
			return false
		}
		sum += float64(f) * float64(f)
	}
	if m != Cosine {
		return true
	}
	if sum == 0 {
		return false
	}
	length := math.Sqrt(sum)
	for i, f := range v {
		v[i] = float32(float64(f) / length)
	}
	return true
}

// distance is the smaller the nearer two vectors are.
func (m Measure) distance(a, b []float32) float32 {
	if m == Euclidean {
		return squares(a, b)
	}
	return -dot(a, b)
}

// squares is the sum of the squares of the differences.
func squares(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
	}
	for i, f := range a {
		s0 += (f - b[i]) * (f - b[i])
	}
	return s0 + s1 + s2 + s3
}

// dot is the sum of the products.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}
	for i, f := range a {
		s0 += f * b[i]
	}
	return s0 + s1 + s2 + s3
}
