package functions

import (
	"errors"
	"math"
	"math/big"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// The bounds of results: sums and products have up to maxPrecision digits; a quotient has at least minScale digits
// after its point, enough for minScale significant ones, and at most maxScale.
const (
	maxPrecision = 10_000
	minScale     = 32
	maxScale     = 1000
)

// errTooFar is for decimals whose exact result would have digits without end; Cassandra tries.
var errTooFar = errors.New("the exponents are too far apart")

// calculateDecimal is left op right for numbers one of which is a decimal, or a varint beside a fraction.
func calculateDecimal(op byte, left, right types.Type, a, b []byte) ([]byte, error) {
	x, err := asDecimal(left, a)
	if err != nil {
		return nil, err
	}
	y, err := asDecimal(right, b)
	if err != nil {
		return nil, err
	}
	if err := checkLength(x.unscaled, y.unscaled); err != nil {
		return nil, err
	}
	var v decimal
	switch op {
	case '+':
		v, err = addDecimals(x, y)
	case '-':
		v, err = addDecimals(x, decimal{new(big.Int).Neg(y.unscaled), y.scale})
	case '*':
		v, err = multiplyDecimals(x, y)
	case '/':
		v, err = divideDecimals(x, y)
	default:
		v, err = remainder(x, y)
	}
	if err != nil {
		return nil, err
	}
	return types.EncodeDecimal(v.unscaled, v.scale), nil
}

// asDecimal is a number as the decimal that Cassandra calculates with: a number of up to 8 bytes becomes a double
// first, so 1 is 1.0 and large numbers are rounded.
func asDecimal(t types.Type, b []byte) (decimal, error) {
	switch t {
	case types.Decimal:
		unscaled, scale := types.DecodeDecimal(b)
		return decimal{unscaled, scale}, nil
	case types.VarInt:
		return decimal{types.DecodeVarInt(b), 0}, nil
	}
	d := asDouble(t, b)
	switch {
	case d != d:
		return decimal{}, cqlerr.Invalidf("A NaN cannot be converted into a decimal")
	case math.IsInf(d, 0):
		return decimal{}, cqlerr.Invalidf("An infinite number cannot be converted into a decimal")
	}
	return printedDecimal(types.Double, types.EncodeDouble(d))
}

// printedDecimal is the decimal that a float or double is printed as.
func printedDecimal(t types.Type, b []byte) (decimal, error) {
	text, err := types.Decimal.ParseLiteral(types.FloatLiteral, t.Format(b))
	if err != nil {
		return decimal{}, err
	}
	unscaled, scale := types.DecodeDecimal(text)
	return decimal{unscaled, scale}, nil
}

// digits is the number of digits, which zero has one of.
func (d decimal) digits() int64 {
	if d.unscaled.Sign() == 0 {
		return 1
	}
	return int64(digits(d.unscaled))
}

// scaled is d with more digits after its point, which are zero.
func (d decimal) scaled(scale int64) (decimal, error) {
	missing := scale - int64(d.scale)
	if missing > maxDigits {
		return decimal{}, errTooFar
	}
	return decimal{new(big.Int).Mul(d.unscaled, powerOfTen(missing)), int32(scale)}, nil
}

func powerOfTen(n int64) *big.Int { return power10(n) }

// rounded leaves maxPrecision digits, half a unit being rounded away from zero.
func (d decimal) rounded(scale int64) (decimal, error) {
	for drop := d.digits() - maxPrecision; drop > 0; drop = d.digits() - maxPrecision {
		d.unscaled = quoHalfUp(d.unscaled, powerOfTen(drop))
		scale -= drop
	}
	switch {
	case scale > math.MaxInt32:
		return decimal{}, cqlerr.Invalidf("Underflow")
	case scale < math.MinInt32:
		return decimal{}, cqlerr.Invalidf("Overflow")
	}
	d.scale = int32(scale)
	return d, nil
}

// quoHalfUp divides and rounds to the nearest, of two nearest to the one farther from zero.
func quoHalfUp(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Lsh(r.Abs(r), 1).CmpAbs(b) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

// addDecimals has the greater scale of both, if the digits suffice. Of a number that is too small to show, a trace
// is added, for the sake of rounding.
func addDecimals(a, b decimal) (decimal, error) {
	if a.scale > b.scale {
		a, b = b, a
	}
	if a.unscaled.Sign() == 0 || b.unscaled.Sign() == 0 {
		return addZero(a, b)
	}
	last := int64(a.scale) - a.digits() + maxPrecision
	first := int64(b.scale) - b.digits() + 1
	if first > int64(a.scale)+2 && first > last+2 {
		b = decimal{big.NewInt(int64(b.unscaled.Sign())), int32(max(int64(a.scale), last) + 3)}
	}
	a, err := a.scaled(int64(b.scale))
	if err != nil {
		return decimal{}, err
	}
	return decimal{unscaled: a.unscaled.Add(a.unscaled, b.unscaled)}.rounded(int64(a.scale))
}

// addZero adds numbers one of which at least is zero: the other one with the greater scale, as far as the digits
// suffice.
func addZero(a, b decimal) (decimal, error) {
	scale := int64(max(a.scale, b.scale))
	v := a
	if a.unscaled.Sign() == 0 {
		v = b
	}
	if v.unscaled.Sign() == 0 {
		return decimal{v.unscaled, int32(scale)}, nil
	}
	v, err := v.rounded(int64(v.scale))
	if err != nil {
		return decimal{}, err
	}
	return v.scaled(max(int64(v.scale), min(scale, int64(v.scale)+maxPrecision-v.digits())))
}

func multiplyDecimals(a, b decimal) (decimal, error) {
	return decimal{unscaled: new(big.Int).Mul(a.unscaled, b.unscaled)}.rounded(int64(a.scale) + int64(b.scale))
}

// divideDecimals leaves out zeros at the end.
func divideDecimals(a, b decimal) (decimal, error) {
	if b.unscaled.Sign() == 0 {
		return decimal{}, errBigDivision
	}
	firstDigit := (a.digits() - int64(a.scale)) - (b.digits() - int64(b.scale))
	scale := max(minScale-firstDigit, int64(a.scale), int64(b.scale), minScale)
	scale = min(scale, maxScale)
	if -firstDigit > maxScale+1 {
		return decimal{new(big.Int), 0}, nil
	}
	up, down := scale+int64(b.scale)-int64(a.scale), int64(0)
	if up < 0 {
		up, down = 0, -up
	}
	if max(up, down) > maxDigits {
		return decimal{}, errTooFar
	}
	x, y := new(big.Int).Mul(a.unscaled, powerOfTen(up)), new(big.Int).Mul(b.unscaled, powerOfTen(down))
	return decimal{quoHalfUp(x, y), int32(scale)}.stripped(math.MinInt32), nil
}

// stripped leaves out zeros at the end as long as the scale is above a least one. Zero becomes 0.
func (d decimal) stripped(least int32) decimal {
	if d.unscaled.Sign() == 0 {
		return decimal{new(big.Int), 0}
	}
	for step := int64(1); step > 0; {
		power := powerOfTen(step)
		q, r := new(big.Int).QuoRem(d.unscaled, power, new(big.Int))
		switch {
		case r.Sign() == 0 && int64(d.scale)-step >= int64(least):
			d.unscaled, d.scale = q, d.scale-int32(step)
			step *= 2
		default:
			step /= 2
		}
	}
	return d
}

// remainder is a minus b times the whole part of their quotient. It has the scale of a; where b has more digits after
// the point, it has as many of them as the whole part does not end in zeros.
func remainder(a, b decimal) (decimal, error) {
	switch {
	case b.unscaled.Sign() == 0 && a.unscaled.Sign() == 0:
		return decimal{}, cqlerr.Invalidf("Division undefined")
	case b.unscaled.Sign() == 0:
		return decimal{}, cqlerr.Invalidf("Division by zero")
	case a.unscaled.Sign() == 0:
		return a, nil
	case a.digits()-int64(a.scale) < b.digits()-int64(b.scale):
		return a, nil
	}
	common := int64(max(a.scale, b.scale))
	x, err := a.scaled(common)
	if err != nil {
		return decimal{}, err
	}
	y, err := b.scaled(common)
	if err != nil {
		return decimal{}, err
	}
	times, rest := new(big.Int).QuoRem(x.unscaled, y.unscaled, new(big.Int))
	if a.scale >= b.scale || times.Sign() == 0 {
		rest.Quo(rest, powerOfTen(common-int64(a.scale)))
		return decimal{rest, a.scale}, nil
	}
	scale := int64(decimal{times, 0}.stripped(a.scale-b.scale).scale) + int64(b.scale)
	rest.Quo(rest, powerOfTen(common-scale))
	return decimal{rest, int32(scale)}, nil
}
