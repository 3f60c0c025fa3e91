package functions

import (
	"math"
	"math/big"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// mathFunctions are elementary functions of one number; each returns the type it takes.
var mathFunctions = func() []Function {
	var fs []Function
	for _, t := range mathematics {
		for _, f := range []struct {
			name, doc string
			call      func(p *pacer, b []byte) ([]byte, error)
		}{
			{"abs", "The absolute value of a number.", t.abs},
			{"exp", "The constant e to the power of a number.", t.exp},
			{"log", "The natural logarithm of a number.", t.log},
			{"log10", "The decimal logarithm of a number.", t.log10},
			{"round", "The whole number that is nearest to a number.", t.round},
		} {
			fs = append(fs, Function{
				Name: f.name, Args: []types.Type{t.of}, Returns: t.of,
				Doc: f.doc, Examples: mathExamples[f.name+" "+t.of.String()],
				Costly: isUnbounded(t.of),
				Call: func(c *Call) (types.Value, error) {
					b := c.Args[0].Bytes
					if isNull(t.of, b) {
						return types.Value{}, nil
					}
					result, err := f.call(c.pacer(), b)
					return types.Value{Bytes: result}, err
				},
			})
		}
	}
	return fs
}()

// mathExamples are the examples of some functions: name and type.
var mathExamples = map[string][]Example{
	"abs int":       {{"abs((int)-3)", "3"}, {"abs((int)-2147483648)", "-2147483648"}},
	"abs decimal":   {{"abs((decimal)-1.50)", "1.50"}},
	"exp tinyint":   {{"exp((tinyint)3)", "20"}},
	"exp double":    {{"exp((double)1.0)", "2.718281828459045"}},
	"exp decimal":   {{"exp((decimal)1)", "2.7182818284590452353602874713527"}},
	"log int":       {{"log((int)0)", "-2147483648"}},
	"log varint":    {{"log((varint)100)", "4"}},
	"log10 bigint":  {{"log10((bigint)1000)", "3"}},
	"log10 decimal": {{"log10((decimal)100)", "2"}},
	"round float":   {{"round((float)2.5)", "3.0"}},
	"round double":  {{"round((double)-2.5)", "-2.0"}},
	"round decimal": {{"round((decimal)2.5)", "3"}},
}

// mathematic has the elementary functions of a type, on values that are not empty.
type mathematic struct {
	of                          types.Type
	abs, exp, log, log10, round func(p *pacer, b []byte) ([]byte, error)
}

// mathematics has the types of numbers.
var mathematics = func() []mathematic {
	var all []mathematic
	for _, n := range numbers {
		switch n.of {
		case types.Float, types.Double:
			all = append(all, fractionMath(n.of))
		case types.VarInt:
			all = append(all, varintMath)
		case types.Decimal:
			all = append(all, decimalMath)
		default:
			all = append(all, wholeMath(n.of))
		}
	}
	return all
}()

// wholeMath computes with doubles and keeps the whole part.
func wholeMath(t types.Type) mathematic {
	through := func(f func(float64) float64) func(*pacer, []byte) ([]byte, error) {
		return func(_ *pacer, b []byte) ([]byte, error) {
			return encodeWhole(t, narrow(f(float64(asWhole(t, b))), len(b))), nil
		}
	}
	return mathematic{
		of: t,
		abs: func(_ *pacer, b []byte) ([]byte, error) {
			v := asWhole(t, b)
			return encodeWhole(t, max(v, -v)), nil
		},
		exp: through(javafloat.Exp), log: through(javafloat.Log), log10: through(javafloat.Log10),
		round: func(_ *pacer, b []byte) ([]byte, error) { return b, nil },
	}
}

// narrow is the whole part of v, or the nearest that 4 bytes hold, or 8 if size is 8. That of no number is 0.
func narrow(v float64, size int) int64 {
	least, greatest := int64(math.MinInt32), int64(math.MaxInt32)
	if size == 8 {
		least, greatest = math.MinInt64, math.MaxInt64
	}
	switch {
	case v != v:
		return 0
	case v >= float64(greatest):
		return greatest
	case v <= float64(least):
		return least
	}
	return int64(v)
}

// fractionMath computes with doubles, also for float.
func fractionMath(t types.Type) mathematic {
	through := func(f func(v float64, size int) float64) func(*pacer, []byte) ([]byte, error) {
		return func(_ *pacer, b []byte) ([]byte, error) {
			v := asDouble(t, b)
			return encodeFraction(t, f(v, len(b)), v), nil
		}
	}
	simply := func(f func(float64) float64) func(*pacer, []byte) ([]byte, error) {
		return through(func(v float64, _ int) float64 { return f(v) })
	}
	return mathematic{
		of: t, exp: simply(javafloat.Exp), log: simply(javafloat.Log), log10: simply(javafloat.Log10),
		abs: func(_ *pacer, b []byte) ([]byte, error) { return append([]byte{b[0] &^ 0x80}, b[1:]...), nil },
		round: through(func(v float64, size int) float64 {
			below := math.Floor(v)
			if v-below >= 0.5 {
				below++
			}
			return float64(narrow(below, size))
		}),
	}
}

// varintMath computes with decimals and keeps the whole part.
var varintMath = mathematic{
	of: types.VarInt,
	abs: func(_ *pacer, b []byte) ([]byte, error) {
		v := types.DecodeVarInt(b)
		return types.EncodeVarInt(v.Abs(v)), nil
	},
	exp: throughVarint(decimal.exp), log: throughVarint(naturalLog), log10: throughVarint(commonLog),
	round: func(_ *pacer, b []byte) ([]byte, error) { return types.EncodeVarInt(types.DecodeVarInt(b)), nil },
}

// throughVarint makes a function of varints of one of decimals.
func throughVarint(f func(decimal, *pacer) (decimal, error)) func(*pacer, []byte) ([]byte, error) {
	return func(p *pacer, b []byte) ([]byte, error) {
		v := types.DecodeVarInt(b)
		if err := checkLength(v); err != nil {
			return nil, err
		}
		d, err := f(decimal{v, 0}, p)
		if err != nil {
			return nil, err
		}
		v, err = d.integer()
		if err != nil {
			return nil, err
		}
		return types.EncodeVarInt(v), nil
	}
}

// decimalMath computes in as many digits as the argument has, but at least 32.
var decimalMath = mathematic{
	of: types.Decimal,
	abs: func(_ *pacer, b []byte) ([]byte, error) {
		unscaled, scale := types.DecodeDecimal(b)
		return types.EncodeDecimal(unscaled.Abs(unscaled), scale), nil
	},
	exp: throughDecimal(decimal.exp), log: throughDecimal(naturalLog), log10: throughDecimal(commonLog),
	round: throughDecimal(func(d decimal, _ *pacer) (decimal, error) { return d.whole() }),
}

// throughDecimal makes a function of bytes of one of decimals.
func throughDecimal(f func(decimal, *pacer) (decimal, error)) func(*pacer, []byte) ([]byte, error) {
	return func(p *pacer, b []byte) ([]byte, error) {
		unscaled, scale := types.DecodeDecimal(b)
		if err := checkLength(unscaled); err != nil {
			return nil, err
		}
		d, err := f(decimal{unscaled, scale}, p)
		if err != nil {
			return nil, err
		}
		return types.EncodeDecimal(d.unscaled, d.scale), nil
	}
}

// naturalLog refuses numbers without a logarithm.
func naturalLog(d decimal, p *pacer) (decimal, error) {
	if d.unscaled.Sign() <= 0 {
		return decimal{}, cqlerr.Invalidf("Natural log of number zero or less")
	}
	return d.log(d.resultDigits(), p)
}

// commonLog refuses numbers without a logarithm.
func commonLog(d decimal, p *pacer) (decimal, error) {
	if d.unscaled.Sign() <= 0 {
		return decimal{}, cqlerr.Invalidf("Log10 of number zero or less")
	}
	return d.log10(p)
}

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

// logarithms are the logarithms of 2 and 10 in at least prec bits.
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

// bigLog is the natural logarithm of a positive x, with prec bits after the point. It improves the double's logarithm
// by Halley's method, which triples the right bits each time.
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
