package functions

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Results of exp, log and log10 have as many digits as their argument, within these bounds.
const (
	minDigits = 32
	mostExact = 10000
)

// bitsPerDigit is a little more than a decimal digit takes.
const bitsPerDigit = 3.33

// digits is the number of decimal digits of v; that of 0 is 1.
func digits(v *big.Int) int {
	n := int(float64(max(v.BitLen()-1, 0))*math.Log10(2)*(1-1e-15)) + 1 // or one more
	if v.CmpAbs(power10(int64(n))) >= 0 {
		n++
	}
	return n
}

// resultDigits is how many digits a function of d computes.
func (d decimal) resultDigits() int { return min(max(digits(d.unscaled), minDigits), mostExact) }

// power10 is 10 to the power of n.
func power10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// float is unscaled / 10^scale, the scale being of moderate size.
func (d decimal) float(prec uint) *big.Float {
	v := new(big.Float).SetPrec(prec).SetInt(d.unscaled)
	power := new(big.Float).SetPrec(prec).SetInt(power10(max(int64(d.scale), -int64(d.scale))))
	if d.scale < 0 {
		return v.Mul(v, power)
	}
	return v.Quo(v, power)
}

// rounded is v * 10^exponent in n digits.
func rounded(v *big.Float, exponent int64, n int) (decimal, error) {
	if v.Sign() == 0 {
		return decimal{new(big.Int), 0}, nil
	}
	mantissa, power, _ := strings.Cut(v.Text('e', n-1), "e")
	unscaled, _ := new(big.Int).SetString(strings.Replace(mantissa, ".", "", 1), 10)
	p, err := strconv.ParseInt(power, 10, 64)
	scale := int64(n-1) - p - exponent
	if err != nil || scale != int64(int32(scale)) {
		return decimal{}, cqlerr.Invalidf("Overflow")
	}
	return decimal{unscaled, int32(scale)}, nil
}

// exp is e to the power of d.
func (d decimal) exp(p *pacer) (decimal, error) {
	if d.unscaled.Sign() == 0 {
		return decimal{big.NewInt(1), 0}, nil
	}
	n := d.resultDigits()
	exponent := int64(digits(d.unscaled)) - int64(d.scale)
	switch {
	case exponent > 10:
		return decimal{}, cqlerr.Invalidf("Overflow")
	case exponent < -int64(n): // no digit of it shows in 1 + d
		d = decimal{big.NewInt(int64(d.unscaled.Sign())), int32(2 * n)}
	}
	prec := uint(float64(2*n)*bitsPerDigit) + 128
	x := d.float(prec)
	if whole, _ := x.Int(nil); !whole.IsInt64() || whole.Int64() != int64(int32(whole.Int64())) {
		return decimal{}, cqlerr.Invalidf("Overflow")
	}
	_, ten := logarithms(prec, p)
	quotient, _ := new(big.Float).Quo(x, ten).Int64()
	shift := new(big.Float).SetPrec(prec).SetInt64(quotient)
	x.Sub(x, shift.Mul(shift, ten))
	result := bigExp(x, uint(float64(n)*bitsPerDigit)+64, p)
	if p.over() {
		return decimal{}, p.err
	}
	return rounded(result, quotient, n)
}

// log is the natural logarithm of d in n digits.
func (d decimal) log(n int, p *pacer) (decimal, error) {
	size := digits(d.unscaled)
	if int64(size) == int64(d.scale)+1 && d.unscaled.Cmp(power10(int64(d.scale))) == 0 {
		return decimal{new(big.Int), 0}, nil
	}
	exponent := int64(size) - 1 - int64(d.scale)
	mantissa := decimal{d.unscaled, int32(size - 1)}
	prec := uint(float64(n+size)*bitsPerDigit) + 128
	x := mantissa.float(prec)
	if x.Cmp(big.NewFloat(math.Sqrt(10))) > 0 {
		x.Quo(x, big.NewFloat(10))
		exponent++
	}
	log := bigLog(x, prec, p)
	_, ten := logarithms(prec, p)
	if p.over() {
		return decimal{}, p.err
	}
	shift := new(big.Float).SetPrec(prec).SetInt64(exponent)
	return rounded(log.Add(log, shift.Mul(shift, ten)), 0, n)
}

// log10 is the decimal logarithm of d: like Cassandra's the quotient of two logarithms that have two digits
// more, so that log10 of 100 is 2 and of 1000 is 3.0000000000000000000000000000000.
func (d decimal) log10(p *pacer) (decimal, error) {
	n := d.resultDigits()
	log, err := d.log(n+2, p)
	if err != nil {
		return decimal{}, err
	}
	ten, err := decimal{big.NewInt(10), 0}.log(n+2, p)
	if err != nil {
		return decimal{}, err
	}
	return log.quo(ten, n+2).round(n), nil
}

// quo is d / by in n digits. A quotient that is exact has no more zeros at its end than the difference of the
// scales asks for.
func (d decimal) quo(by decimal, n int) decimal {
	preferred := int64(d.scale) - int64(by.scale)
	if d.unscaled.Sign() == 0 {
		return decimal{new(big.Int), int32(preferred)}
	}
	more := int64(max(0, n+1+digits(by.unscaled)-digits(d.unscaled)))
	numerator := power10(more)
	q, rest := new(big.Int).QuoRem(numerator.Mul(numerator, d.unscaled), by.unscaled, new(big.Int))
	if rest.Sign() != 0 { // a last digit, which decides between two equally near numbers
		q.Add(q.Mul(q, big.NewInt(10)), big.NewInt(int64(q.Sign())))
		more++
	}
	result := decimal{q, int32(preferred + more)}.round(n)
	for rest.Sign() == 0 && int64(result.scale) > preferred {
		shorter, digit := new(big.Int).QuoRem(result.unscaled, big.NewInt(10), new(big.Int))
		if digit.Sign() != 0 {
			break
		}
		result = decimal{shorter, result.scale - 1}
	}
	return result
}

// round keeps the first n digits, rounded to the nearest, of two nearest to the even one.
func (d decimal) round(n int) decimal {
	for {
		extra := digits(d.unscaled) - n
		if extra <= 0 {
			return d
		}
		d = decimal{quoHalfEven(d.unscaled, power10(int64(extra))), d.scale - int32(extra)}
	}
}

// whole is d rounded to a whole number, halves away from zero, as a decimal of scale 0.
func (d decimal) whole() (decimal, error) {
	if d.scale <= 0 {
		v, err := d.integer()
		return decimal{v, 0}, err
	}
	if int64(d.scale) > int64(digits(d.unscaled)) {
		return decimal{new(big.Int), 0}, nil
	}
	power := power10(int64(d.scale))
	q, rest := new(big.Int).QuoRem(d.unscaled, power, new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(power) >= 0 {
		q.Add(q, big.NewInt(int64(d.unscaled.Sign())))
	}
	return decimal{q, 0}, nil
}

// integer is d without its fraction.
func (d decimal) integer() (*big.Int, error) {
	switch {
	case d.unscaled.Sign() == 0, int64(d.scale) > int64(digits(d.unscaled)):
		return new(big.Int), nil
	case d.scale > 0:
		return new(big.Int).Quo(d.unscaled, power10(int64(d.scale))), nil
	case -int64(d.scale) > maxDigits:
		return nil, errTooLong()
	}
	power := power10(-int64(d.scale))
	return power.Mul(power, d.unscaled), nil
}
