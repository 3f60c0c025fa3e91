package functions

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// CastName is the name of the functions that CAST to a type calls.
func CastName(typeName string) string { return "cast_as_" + typeName }

// CanCast reports whether CAST to a type takes values of any other type.
func CanCast(typeName string) bool { return len(byName[CastName(typeName)]) > 0 }

// castFunctions has a function for each pair of types that CAST takes, also under its old name: castAsInt.
var castFunctions = func() []Function {
	var fs []Function
	add := func(from, to types.Type, call func(*Call) (types.Value, error)) {
		f := Function{
			Name: CastName(to.String()), Args: []types.Type{from}, Returns: to, Call: call, Costly: isUnbounded(from),
			Doc:    "A value of type " + from.String() + " as " + to.String() + ".",
			Column: func(args []string) string { return "cast(" + args[0] + " as " + to.String() + ")" },
		}
		fs = append(fs, f)
		f.Name = "castAs" + strings.ToUpper(to.String()[:1]) + to.String()[1:]
		fs = append(fs, f)
	}
	targets := []types.Type{
		types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Float, types.Double, types.Decimal, types.VarInt,
	}
	for _, from := range numeric {
		for _, to := range targets {
			if from != to {
				add(from, to, castNumber(from, to))
			}
		}
	}
	for _, from := range append([]types.Type{
		types.Inet, types.Boolean, types.TimeUUID, types.Timestamp, types.Date, types.Time, types.UUID,
	}, numeric...) {
		add(from, types.ASCII, castText(from))
		add(from, types.Text, castText(from))
	}
	add(types.ASCII, types.Text, castText(types.ASCII))
	for _, f := range timeFunctions {
		if f.Name == "to_date" || f.Name == "to_timestamp" {
			add(f.Args[0], f.Returns, f.Call)
		}
	}
	return fs
}()

// castText makes a text of a value: its literal without quotes.
func castText(from types.Type) func(*Call) (types.Value, error) {
	if from == types.ASCII {
		return func(c *Call) (types.Value, error) { return c.Args[0], nil }
	}
	return partial(from, func(b []byte) ([]byte, error) {
		if err := checkNumber(from, b); err != nil {
			return nil, err
		}
		return []byte(strings.Trim(from.Format(b), "'")), nil
	})
}

// castNumber makes a number of another type.
func castNumber(from, to types.Type) func(*Call) (types.Value, error) {
	return func(c *Call) (types.Value, error) {
		b := c.Args[0].Bytes
		if isNull(from, b) {
			return types.Value{}, nil
		}
		if to != types.Decimal && (from == types.Decimal || to == types.Float || to == types.Double) {
			if err := checkNumber(from, b); err != nil {
				return types.Value{}, err
			}
		}
		b, err := convert(from, to, b)
		return types.Value{Bytes: b}, err
	}
}

// checkNumber refuses a number that is too long to be printed.
func checkNumber(t types.Type, b []byte) error {
	if (t == types.VarInt || t == types.Decimal) && len(b) > maxBits/8 {
		return errTooLong()
	}
	return nil
}

func convert(from, to types.Type, b []byte) ([]byte, error) {
	switch to {
	case types.Float:
		return types.EncodeFloat(float32(toDouble(from, b, 32))), nil
	case types.Double:
		return types.EncodeDouble(toDouble(from, b, 64)), nil
	case types.Decimal:
		return toDecimal(from, b)
	case types.VarInt:
		return types.EncodeVarInt(big.NewInt(toWhole(from, types.BigInt, b))), nil
	}
	return encodeWhole(to, toWhole(from, to, b)), nil
}

// toDouble is the nearest float (of 32 bits) or double to a number. Numbers beyond their range become infinite.
func toDouble(from types.Type, b []byte, bits int) float64 {
	switch {
	case isWhole(from) && bits == 32:
		return float64(float32(asWhole(from, b)))
	case from != types.VarInt && from != types.Decimal:
		return asDouble(from, b)
	}
	v, _ := strconv.ParseFloat(from.Format(b), bits)
	return v
}

// toWhole is a number as Java makes a whole number of it: the low bytes of whole ones and of decimals without their
// fraction; floats and doubles end at the ends of the type, or of int if that is wider, and NaN is 0.
func toWhole(from, to types.Type, b []byte) int64 {
	switch from {
	case types.Float, types.Double:
		if to == types.BigInt {
			return saturated(asDouble(from, b), math.MinInt64, math.MaxInt64)
		}
		return saturated(asDouble(from, b), math.MinInt32, math.MaxInt32)
	case types.VarInt:
		return lowBytes(types.DecodeVarInt(b))
	case types.Decimal:
		unscaled, scale := types.DecodeDecimal(b)
		return lowBytes(wholePart(decimal{unscaled, scale}))
	}
	return asWhole(from, b)
}

// saturated cuts off the fraction, and returns the bound for a number beyond it.
func saturated(v float64, least, greatest int64) int64 {
	switch {
	case v != v:
		return 0
	case v <= float64(least):
		return least
	case v >= float64(greatest):
		return greatest
	}
	return int64(v)
}

// lowBytes are the lowest 8 bytes of a number.
func lowBytes(v *big.Int) int64 {
	low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
	return int64(low.Uint64())
}

// wholePart is a decimal without its fraction, or 0 for one whose low 8 bytes are all zero.
func wholePart(d decimal) *big.Int {
	switch {
	case d.scale <= -64 || d.digits() <= int64(d.scale):
		return new(big.Int)
	case d.scale <= 0:
		return new(big.Int).Mul(d.unscaled, powerOfTen(-int64(d.scale)))
	}
	return new(big.Int).Quo(d.unscaled, powerOfTen(int64(d.scale)))
}

// toDecimal is exact for whole numbers; floats and doubles become the decimal that is printed for them.
func toDecimal(from types.Type, b []byte) ([]byte, error) {
	if from == types.VarInt || isWhole(from) {
		return types.EncodeDecimal(asBig(from, b), 0), nil
	}
	if v := asDouble(from, b); v != v || math.IsInf(v, 0) {
		return nil, cqlerr.Invalidf("%s cannot be cast to decimal", from.Format(b))
	}
	d, err := printedDecimal(from, b)
	if err != nil {
		return nil, err
	}
	return types.EncodeDecimal(d.unscaled, d.scale), nil
}
