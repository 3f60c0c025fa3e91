package javafloat

import "math"

// Java's sine, cosine and tangent are the nearest double but for a few arguments in a hundred. Go's math.Sin is another
// double for one in ten, so the sums here have twice the digits.

// double2 is the sum of two doubles, of which lo is less than half a digit of hi.
type double2 struct{ hi, lo float64 }

func sumOf(a, b float64) double2 {
	s := a + b
	t := s - a
	return double2{s, (a - (s - t)) + (b - t)}
}

func productOf(a, b float64) double2 {
	p := a * b
	return double2{p, math.FMA(a, b, -p)}
}

func (a double2) add(b double2) double2 {
	s, t := sumOf(a.hi, b.hi), sumOf(a.lo, b.lo)
	r := sumOf(s.hi, s.lo+t.hi)
	return sumOf(r.hi, r.lo+t.lo)
}

func (a double2) times(b double2) double2 {
	p := productOf(a.hi, b.hi)
	return sumOf(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a double2) over(b double2) double2 {
	q := a.hi / b.hi
	p := b.times(double2{hi: q})
	r := a.add(double2{-p.hi, -p.lo})
	return sumOf(q, (r.hi+r.lo)/b.hi)
}

// halfPi is the half of pi, in parts.
var halfPi = []float64{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}

// maxReduced is up to which argument the parts of halfPi are enough.
const maxReduced = 1e5

// sineCosine are the sine and the cosine of an argument up to maxReduced.
func sineCosine(x float64) (sine, cosine double2) {
	k := math.RoundToEven(x * (2 / math.Pi))
	r := double2{hi: x}
	for _, part := range halfPi {
		r = r.add(productOf(-k, part))
	}
	square := r.times(r)
	series := func(term double2, n float64) double2 {
		sum := term
		for ; math.Abs(term.hi) > 1e-36; n += 2 {
			term = term.times(square).over(double2{hi: -n * (n + 1)})
			sum = sum.add(term)
		}
		return sum
	}
	s, c := series(r, 2), series(double2{hi: 1}, 1)
	switch int64(k) & 3 {
	case 1:
		return c, double2{-s.hi, -s.lo}
	case 2:
		return double2{-s.hi, -s.lo}, double2{-c.hi, -c.lo}
	case 3:
		return double2{-c.hi, -c.lo}, s
	}
	return s, c
}

// Sin is the sine.
func Sin(x float64) float64 {
	if !(math.Abs(x) < maxReduced) || math.Abs(x) < 1e-100 {
		return math.Sin(x)
	}
	s, _ := sineCosine(x)
	return s.hi
}

// Cos is the cosine.
func Cos(x float64) float64 {
	if !(math.Abs(x) < maxReduced) {
		return math.Cos(x)
	}
	_, c := sineCosine(x)
	return c.hi
}

// Tan is the tangent.
func Tan(x float64) float64 {
	if !(math.Abs(x) < maxReduced) || math.Abs(x) < 1e-100 {
		return math.Tan(x)
	}
	s, c := sineCosine(x)
	return s.over(c).hi
}
