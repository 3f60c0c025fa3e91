package functions

import (
	"math"
	"math/big"
)

// doublePrecision is enough, in bits, to round an exponential or a logarithm to the nearest double.
const doublePrecision = 192

// lnTwo and lnTen are logarithms in doublePrecision.
var lnTwo, lnTen = newLogarithms(doublePrecision, nil)

// newLogarithms computes the natural logarithms of 2 and 10.
func newLogarithms(prec uint, p *pacer) (two, ten *big.Float) {
	third, ninth := inverseTanh(3, prec, p), inverseTanh(9, prec, p)
	two = third.Mul(third, big.NewFloat(2))
	ten = new(big.Float).SetPrec(prec).Mul(two, big.NewFloat(3))
	return two, ten.Add(ten, ninth.Mul(ninth, big.NewFloat(2)))
}

// logarithms are those of 2 and 10 in at least prec bits.
func logarithms(prec uint, p *pacer) (two, ten *big.Float) {
	if prec <= doublePrecision {
		return lnTwo, lnTen
	}
	return newLogarithms(prec, p)
}

// inverseTanh is artanh(1/n), half the logarithm of (n+1)/(n-1), by its series.
func inverseTanh(n int64, prec uint, p *pacer) *big.Float {
	power := new(big.Float).SetPrec(prec).Quo(big.NewFloat(1), new(big.Float).SetInt64(n))
	sum := new(big.Float).SetPrec(prec).Set(power)
	square := new(big.Float).SetInt64(n * n)
	term := new(big.Float).SetPrec(prec)
	for k := int64(3); ; k += 2 {
		power.Quo(power, square)
		term.Quo(power, new(big.Float).SetInt64(k))
		if term.MantExp(nil) < sum.MantExp(nil)-int(prec) || p.over() {
			return sum
		}
		sum.Add(sum, term)
	}
}

// bigExp is e to the power of x, which is less than 2000 and more than -2000, in about prec bits. x is halved
// until the series needs few terms, and its result squared as often.
func bigExp(x *big.Float, prec uint, p *pacer) *big.Float {
	halvings := max(0, x.MantExp(nil)+8+int(math.Sqrt(float64(prec)))/4)
	prec += uint(halvings) + 16
	small := new(big.Float).SetPrec(prec).SetMantExp(new(big.Float).SetPrec(prec).Set(x), -halvings)
	sum := new(big.Float).SetPrec(prec).SetInt64(1)
	term := new(big.Float).SetPrec(prec).SetInt64(1)
	for n := int64(1); small.Sign() != 0; n++ {
		term.Quo(term.Mul(term, small), new(big.Float).SetInt64(n))
		if term.MantExp(nil) < -int(prec) || p.over() {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		if p.over() {
			break
		}
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog is the natural logarithm of a positive x, with prec bits behind the point. It improves the double's
// logarithm by Halley's method, which triples the right bits each time.
func bigLog(x *big.Float, prec uint, p *pacer) *big.Float {
	prec += 64
	mantissa := new(big.Float).SetPrec(prec)
	exponent := new(big.Float).SetPrec(prec).Set(x).MantExp(mantissa)
	if mantissa.Cmp(big.NewFloat(0.7)) < 0 {
		mantissa.SetMantExp(mantissa, 1)
		exponent--
	}
	near, _ := mantissa.Float64()
	y := new(big.Float).SetPrec(prec).SetFloat64(math.Log(near))
	for bits := uint(45); bits < prec && !p.over(); bits *= 3 {
		e := bigExp(y, prec, p)
		step := new(big.Float).SetPrec(prec).Sub(mantissa, e)
		step.Quo(step.Mul(step, big.NewFloat(2)), e.Add(e, mantissa))
		y.Add(y, step)
	}
	two, _ := logarithms(prec, p)
	shift := new(big.Float).SetPrec(prec).SetInt64(int64(exponent))
	return y.Add(y, shift.Mul(shift, two))
}

// doubleExp is the double that is nearest to e to the power of x.
func doubleExp(x float64) float64 {
	if x != x || x > 710 || x < -746 {
		return math.Exp(x)
	}
	v, _ := bigExp(big.NewFloat(x), 128, nil).Float64()
	return v
}

// doubleLog is the double that is nearest to the natural logarithm of x.
func doubleLog(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	v, _ := bigLog(big.NewFloat(x), 128, nil).Float64()
	return v
}

// doubleLog10 is the double that is nearest to the decimal logarithm of x.
func doubleLog10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	log := bigLog(big.NewFloat(x), 128, nil)
	v, _ := log.Quo(log, lnTen).Float64()
	return v
}
