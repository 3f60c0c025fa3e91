package functions

import (
	"math/big"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

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
