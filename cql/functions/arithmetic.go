package functions

import (
	"bytes"
	"errors"
	"math"
	"math/big"

	"github.com/cqld/cqld/cql/types"
)

// numeric are the types of operands of arithmetic. Wider ones come first: when several operators are as good as each
// other for the value that is wanted, the one with the most room is taken.
var numeric = []types.Type{
	types.Decimal, types.VarInt, types.Double, types.BigInt, types.Counter, types.Float, types.Int, types.SmallInt,
	types.TinyInt,
}

// errDivision is the complaint about a whole number divided by zero.
var errDivision = errors.New("/ by zero")

// errBigDivision is errDivision for numbers of any size.
var errBigDivision = errors.New("BigInteger divide by zero")

// isWhole reports whether t is a type of whole numbers of up to 8 bytes.
func isWhole(t types.Type) bool {
	switch t {
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Counter:
		return true
	}
	return false
}

// width is the number of bytes of a number's type, those without bounds being the widest.
func width(t types.Type) int {
	switch t {
	case types.TinyInt:
		return 1
	case types.SmallInt:
		return 2
	case types.Int, types.Float:
		return 4
	case types.BigInt, types.Counter, types.Double:
		return 8
	}
	return math.MaxInt
}

// isFraction reports whether t has numbers that are not whole.
func isFraction(t types.Type) bool {
	return t == types.Float || t == types.Double || t == types.Decimal
}

// resultType is the type of left op right: as wide as the wider one, and with fractions if one has them.
func resultType(left, right types.Type) types.Type {
	n := max(width(left), width(right))
	if isFraction(left) || isFraction(right) {
		switch n {
		case 4:
			return types.Float
		case 8:
			return types.Double
		}
		return types.Decimal
	}
	switch n {
	case 1:
		return types.TinyInt
	case 2:
		return types.SmallInt
	case 4:
		return types.Int
	case 8:
		return types.BigInt
	}
	return types.VarInt
}

// arithmetic declares an operator between numbers of two types.
func arithmetic(op byte, left, right types.Type) Function {
	result := resultType(left, right)
	return operation(op, left, right, result, func(a, b []byte) ([]byte, error) {
		return calculate(op, left, right, result, a, b)
	})
}

// calculate computes an operator between numbers of two types, neither of which is null.
func calculate(op byte, left, right, result types.Type, a, b []byte) ([]byte, error) {
	switch result {
	case types.Float, types.Double:
		return calculateFraction(op, result, asDouble(left, a), asDouble(right, b)), nil
	case types.VarInt:
		v, err := calculateBig(op, asBig(left, a), asBig(right, b))
		if err != nil {
			return nil, err
		}
		return types.EncodeVarInt(v), nil
	case types.Decimal:
		return calculateDecimal(op, left, right, a, b)
	}
	v, err := calculateWhole(op, asWhole(left, a), asWhole(right, b))
	return encodeWhole(result, v), err
}

// Adds reports whether Add knows a type.
func Adds(t types.Type) bool {
	return isWhole(t) || isFraction(t) || t == types.VarInt || t == types.Text || t == types.ASCII
}

// Add puts together two values of a type, neither of which is null: numbers are added, texts are concatenated.
func Add(t types.Type, a, b []byte) ([]byte, error) {
	if t == types.Text || t == types.ASCII {
		return append(bytes.Clone(a), b...), nil
	}
	return calculate('+', t, t, t, a, b)
}

// negate declares the minus before a number.
func negate(t types.Type) Function {
	return Function{
		Name: negation, Args: []types.Type{t}, Returns: t, Doc: "The number with its other sign.",
		Column: func(args []string) string { return "-" + args[0] },
		Call: func(c *Call) (types.Value, error) {
			b := c.Args[0].Bytes
			if isNull(t, b) {
				return types.Value{}, nil
			}
			return types.Value{Bytes: negated(t, b)}, nil
		},
	}
}

// negated is minus b, which wraps around at the least number of a type.
func negated(t types.Type, b []byte) []byte {
	switch t {
	case types.Float, types.Double: // NaN has a sign too
		return append([]byte{b[0] ^ 0x80}, b[1:]...)
	case types.VarInt:
		return types.EncodeVarInt(new(big.Int).Neg(types.DecodeVarInt(b)))
	case types.Decimal:
		unscaled, scale := types.DecodeDecimal(b)
		return types.EncodeDecimal(unscaled.Neg(unscaled), scale)
	}
	return encodeWhole(t, -asWhole(t, b))
}

// asWhole is the value of a whole number of up to 8 bytes.
func asWhole(t types.Type, b []byte) int64 {
	switch t {
	case types.TinyInt:
		return int64(types.DecodeTinyInt(b))
	case types.SmallInt:
		return int64(types.DecodeSmallInt(b))
	case types.Int:
		return int64(types.DecodeInt(b))
	}
	return types.DecodeBigInt(b)
}

// encodeWhole keeps the low bytes that t has room for.
func encodeWhole(t types.Type, v int64) []byte {
	switch t {
	case types.TinyInt:
		return types.EncodeTinyInt(int8(v))
	case types.SmallInt:
		return types.EncodeSmallInt(int16(v))
	case types.Int:
		return types.EncodeInt(int32(v))
	}
	return types.EncodeBigInt(v)
}

// asDouble is the value of a whole number, float or double.
func asDouble(t types.Type, b []byte) float64 {
	switch t {
	case types.Float:
		return float64(types.DecodeFloat(b))
	case types.Double:
		return types.DecodeDouble(b)
	}
	return float64(asWhole(t, b))
}

// asBig is the value of any whole number.
func asBig(t types.Type, b []byte) *big.Int {
	if t == types.VarInt {
		return types.DecodeVarInt(b)
	}
	return big.NewInt(asWhole(t, b))
}

// calculateWhole wraps around where the result has no room.
func calculateWhole(op byte, a, b int64) (int64, error) {
	switch op {
	case '+':
		return a + b, nil
	case '-':
		return a - b, nil
	case '*':
		return a * b, nil
	}
	if b == 0 {
		return 0, errDivision
	}
	if op == '/' {
		return a / b, nil
	}
	return a % b, nil
}

// calculateFraction calculates in floats or doubles.
func calculateFraction(op byte, result types.Type, a, b float64) []byte {
	v := calculateFloating(op, a, b)
	if result == types.Float {
		v = float64(calculateFloating(op, float32(a), float32(b)))
	}
	return encodeFraction(result, v, a, b)
}

// encodeFraction encodes a float or double that was computed from others. Of NaN the sign shows where it comes from:
// it is that of the first operand that is NaN, and if there is none it is negative, as processors make it.
func encodeFraction(t types.Type, v float64, operands ...float64) []byte {
	negative := true
	for _, o := range operands {
		if o != o {
			negative = math.Signbit(o)
			break
		}
	}
	if t == types.Float {
		return encodeFloat(v, !negative)
	}
	return encodeDouble(v, !negative)
}

// calculateFloating rounds to the type at once: a float that went through doubles would be rounded twice.
func calculateFloating[T float32 | float64](op byte, a, b T) T {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	return T(math.Mod(float64(a), float64(b)))
}

// calculateBig divides towards zero; the remainder has the sign of a.
func calculateBig(op byte, a, b *big.Int) (*big.Int, error) {
	v := new(big.Int)
	switch op {
	case '+':
		return v.Add(a, b), nil
	case '-':
		return v.Sub(a, b), nil
	case '*':
		if a.BitLen()+b.BitLen() > maxBits && a.Sign() != 0 && b.Sign() != 0 {
			return nil, errTooLong()
		}
		return v.Mul(a, b), nil
	}
	if b.Sign() == 0 {
		return nil, errBigDivision
	}
	if b.BitLen() > 64 {
		if err := checkLength(a, b); err != nil {
			return nil, err
		}
	}
	if op == '/' {
		return v.Quo(a, b), nil
	}
	return v.Rem(a, b), nil
}
