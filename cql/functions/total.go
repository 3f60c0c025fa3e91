package functions

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// number is a type that can be summed, with its two aggregates.
type number struct {
	of       types.Type
	sum, avg func() Aggregate
}

// numbers has the types that can be summed. Whole numbers are added exactly; a sum out of the range of its type wraps
// around.
var numbers = []number{
	whole(types.TinyInt, func(b []byte) int64 { return int64(types.DecodeTinyInt(b)) },
		func(v int64) []byte { return types.EncodeTinyInt(int8(v)) }),
	whole(types.SmallInt, func(b []byte) int64 { return int64(types.DecodeSmallInt(b)) },
		func(v int64) []byte { return types.EncodeSmallInt(int16(v)) }),
	whole(types.Int, func(b []byte) int64 { return int64(types.DecodeInt(b)) },
		func(v int64) []byte { return types.EncodeInt(int32(v)) }),
	whole(types.BigInt, types.DecodeBigInt, types.EncodeBigInt),
	whole(types.Counter, types.DecodeBigInt, types.EncodeBigInt),
	fraction(types.Float, func(b []byte) float64 { return float64(types.DecodeFloat(b)) }, encodeFloat),
	fraction(types.Double, types.DecodeDouble, encodeDouble),
	{
		of:  types.VarInt,
		sum: func() Aggregate { return &varintTotal{} },
		avg: func() Aggregate { return &varintTotal{mean: true} },
	},
	{
		of:  types.Decimal,
		sum: func() Aggregate { return &decimalSum{} },
		avg: func() Aggregate { return &decimalMean{} },
	},
}

// meaningless reports whether a value is null or empty: aggregates of numbers leave it out.
func meaningless(args []types.Value) bool { return len(args[0].Bytes) == 0 }

// whole declares the aggregates of a type of whole numbers of up to 8 bytes.
func whole(t types.Type, decode func([]byte) int64, encode func(int64) []byte) number {
	return number{
		of:  t,
		sum: func() Aggregate { return &wholeTotal{decode: decode, encode: encode} },
		avg: func() Aggregate { return &wholeTotal{decode: decode, encode: encode, mean: true} },
	}
}

// wholeTotal adds numbers of up to 8 bytes.
type wholeTotal struct {
	decode    func([]byte) int64
	encode    func(int64) []byte
	mean      bool
	high, low uint64 // of the sum, which has 128 bits
	n         int64
}

// Add cannot overflow: no table has so many rows.
func (w *wholeTotal) Add(args []types.Value) error {
	if !meaningless(args) {
		v := w.decode(args[0].Bytes)
		var carry uint64
		w.low, carry = bits.Add64(w.low, uint64(v), 0)
		w.high, _ = bits.Add64(w.high, uint64(v>>63), carry)
		w.n++
	}
	return nil
}

// Result keeps the low bits of a sum that the type cannot hold; a mean is rounded towards 0.
func (w *wholeTotal) Result() (types.Value, error) {
	v := int64(w.low)
	if w.mean && w.n > 0 {
		sum := new(big.Int).Lsh(big.NewInt(int64(w.high)), 64)
		sum.Add(sum, new(big.Int).SetUint64(w.low))
		v = sum.Quo(sum, big.NewInt(w.n)).Int64()
	}
	return types.Value{Bytes: w.encode(v)}, nil
}

// varintTotal adds varints.
type varintTotal struct {
	mean bool
	sum  big.Int
	n    int64
}

// Add leaves null and empty values out.
func (t *varintTotal) Add(args []types.Value) error {
	if !meaningless(args) {
		t.sum.Add(&t.sum, types.DecodeVarInt(args[0].Bytes))
		t.n++
	}
	return nil
}

// Size is the size of the digits, which grow with the sum.
func (t *varintTotal) Size() int { return t.sum.BitLen() / 8 }

// Result is 0 for no values; a mean is rounded towards 0.
func (t *varintTotal) Result() (types.Value, error) {
	v := new(big.Int).Set(&t.sum)
	if t.mean && t.n > 0 {
		v.Quo(v, big.NewInt(t.n))
	}
	return types.Value{Bytes: types.EncodeVarInt(v)}, nil
}

// fraction declares the aggregates of float or double.
func fraction(t types.Type, decode func([]byte) float64, encode func(v float64, sawNaN bool) []byte) number {
	return number{
		of:  t,
		sum: func() Aggregate { return &floatTotal{decode: decode, encode: encode} },
		avg: func() Aggregate { return &floatTotal{decode: decode, encode: encode, mean: true} },
	}
}

// floatTotal adds floats or doubles, as doubles. The rounding error is kept apart and added in the end.
type floatTotal struct {
	decode func([]byte) float64
	encode func(v float64, sawNaN bool) []byte
	mean   bool

	sum, lost float64
	simple    float64 // without the rounding error: infinite where sum is not a number
	exact     *big.Float
	n         int64
	sawNaN    bool
	infinite  bool
}

// exactBits holds a sum of doubles of any exponent without rounding.
const exactBits = 2200

// Add adds as Kahan's summation does, and exactly beside it where a mean may need it.
func (t *floatTotal) Add(args []types.Value) error {
	if meaningless(args) {
		return nil
	}
	v := t.decode(args[0].Bytes)
	t.n++
	t.simple += v
	t.sawNaN = t.sawNaN || v != v
	t.infinite = t.infinite || math.IsInf(v, 0)
	corrected := v - t.lost
	rounded := t.sum + corrected
	t.lost = (rounded - t.sum) - corrected
	t.sum = rounded
	if t.mean && !t.sawNaN && !t.infinite {
		if t.exact == nil {
			t.exact = new(big.Float).SetPrec(exactBits)
		}
		t.exact.Add(t.exact, big.NewFloat(v))
	}
	return nil
}

// Result is 0 for no values. A mean whose sum is out of range is computed from the exact sum.
func (t *floatTotal) Result() (types.Value, error) {
	v := t.sum + t.lost
	if v != v && math.IsInf(t.simple, 0) {
		v = t.simple
	}
	if t.mean && t.n > 0 {
		v /= float64(t.n)
		if math.IsInf(v, 0) && !t.infinite && !t.sawNaN {
			v, _ = new(big.Float).Quo(t.exact, big.NewFloat(float64(t.n))).Float64()
		}
	}
	return types.Value{Bytes: t.encode(v, t.sawNaN)}, nil
}

// A sum of opposite infinities is the NaN that processors make, which is a negative one; other NaNs come
// from the values.
const (
	processorNaN32 = 0xFFC00000
	processorNaN64 = 0xFFF8000000000000
)

// encodeFloat rounds a total to float.
func encodeFloat(v float64, sawNaN bool) []byte {
	if v != v && !sawNaN {
		return binary.BigEndian.AppendUint32(nil, processorNaN32)
	}
	return types.EncodeFloat(float32(v))
}

// encodeDouble returns a total as double.
func encodeDouble(v float64, sawNaN bool) []byte {
	if v != v && !sawNaN {
		return binary.BigEndian.AppendUint64(nil, processorNaN64)
	}
	return types.EncodeDouble(v)
}

// decimal is unscaled / 10^scale.
type decimal struct {
	unscaled *big.Int
	scale    int32
}

// size is how many bytes of memory d takes.
func (d decimal) size() int {
	if d.unscaled == nil {
		return 0
	}
	return d.unscaled.BitLen() / 8
}

// align gives two decimals the greater of their scales. The first may be the zero decimal, which is 0.
func align(a, b decimal) (x, y *big.Int, scale int32, err error) {
	if a.unscaled == nil {
		a.unscaled = new(big.Int)
	}
	scale = max(a.scale, b.scale)
	up := func(d decimal) *big.Int {
		missing := int64(scale) - int64(d.scale)
		if missing == 0 {
			return d.unscaled
		}
		if wrong := checkLength(d.unscaled); wrong != nil {
			err = wrong
			return d.unscaled
		}
		if missing > maxDigits {
			err = cqlerr.Invalidf("decimals with exponents more than %d apart are not added by cqld", maxDigits)
			return d.unscaled
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(missing), nil)
		return power.Mul(power, d.unscaled)
	}
	return up(a), up(b), scale, err
}

// decimalSum adds decimals; the sum has the greatest scale among them.
type decimalSum struct{ sum decimal }

// Add fails if the exponents are so far apart that the sum would be too long.
func (s *decimalSum) Add(args []types.Value) error {
	if meaningless(args) {
		return nil
	}
	unscaled, scale := types.DecodeDecimal(args[0].Bytes)
	x, y, scale, err := align(s.sum, decimal{unscaled, scale})
	if err != nil {
		return err
	}
	s.sum = decimal{new(big.Int).Add(x, y), scale}
	return nil
}

// Size is the size of the digits, which grow with the sum.
func (s *decimalSum) Size() int { return s.sum.size() }

// Result is 0 for no values.
func (s *decimalSum) Result() (types.Value, error) {
	if s.sum.unscaled == nil {
		s.sum.unscaled = new(big.Int)
	}
	return types.Value{Bytes: types.EncodeDecimal(s.sum.unscaled, s.sum.scale)}, nil
}

// decimalMean keeps the mean of the values so far and moves it towards each value by its share, rounded
// half to even at the greater scale: like Cassandra's it depends on the order of the values.
type decimalMean struct {
	mean decimal
	n    int64
}

// Add fails if the exponents are so far apart that the mean would be too long.
func (m *decimalMean) Add(args []types.Value) error {
	if meaningless(args) {
		return nil
	}
	m.n++
	unscaled, scale := types.DecodeDecimal(args[0].Bytes)
	mean, value, scale, err := align(m.mean, decimal{unscaled, scale})
	if err != nil {
		return err
	}
	step := quoHalfEven(new(big.Int).Sub(value, mean), big.NewInt(m.n))
	m.mean = decimal{new(big.Int).Add(mean, step), scale}
	return nil
}

// Size is the size of the digits, which grow with the scale.
func (m *decimalMean) Size() int { return m.mean.size() }

// quoHalfEven divides by a positive number and rounds to the nearest, of two nearest to the even one.
func quoHalfEven(a, b *big.Int) *big.Int {
	q, r := new(big.Int).DivMod(a, b, new(big.Int))
	switch half := r.Lsh(r, 1).Cmp(b); {
	case half > 0, half == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Result is 0 for no values.
func (m *decimalMean) Result() (types.Value, error) {
	if m.mean.unscaled == nil {
		m.mean.unscaled = new(big.Int)
	}
	return types.Value{Bytes: types.EncodeDecimal(m.mean.unscaled, m.mean.scale)}, nil
}
