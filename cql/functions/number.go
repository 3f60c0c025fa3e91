package functions

import (
	"math/big"
	"math/bits"

	"github.com/cqld/cqld/cql/types"
)

// number is a type that can be summed, with its two aggregates.
type number struct {
	of       types.Type
	sum, avg func() Aggregate
}

// numbers has the types that can be summed. Whole numbers are added exactly; what a sum does not have room
// for is cut off, so it wraps around.
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
