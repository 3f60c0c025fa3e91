package functions

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/cqld/cqld/cql/types"
)

// fraction declares the aggregates of float or double.
func fraction(t types.Type, decode func([]byte) float64, encode func(v float64, sawNaN bool) []byte) number {
	return number{
		of:  t,
		sum: func() Aggregate { return &floatTotal{decode: decode, encode: encode} },
		avg: func() Aggregate { return &floatTotal{decode: decode, encode: encode, mean: true} },
	}
}

// floatTotal adds floats or doubles, as doubles. What rounding loses is kept apart and added in the end.
type floatTotal struct {
	decode func([]byte) float64
	encode func(v float64, sawNaN bool) []byte
	mean   bool

	sum, lost float64
	simple    float64 // without what was lost: infinite where the other is no number
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
