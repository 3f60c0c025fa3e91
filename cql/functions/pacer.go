package functions

import (
	"math/big"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// maxDigits bounds the numbers that are multiplied, divided, raised to powers and printed, and their results: with
// them each operation takes a few milliseconds at most. It also bounds how far apart the exponents of decimals may be
// that are added: the sum has a digit for each place between them.
const maxDigits = 100_000

// maxBits is how many bits numbers of maxDigits have.
const maxBits = maxDigits*3322/1000 + 1

// maxText is how many bytes a text may have that is put together.
const maxText = 16 << 20

// pacer lets others run between the operations of a long computation, and remembers why the computation has to end.
// Results after that are not used. A nil pacer is for short ones.
type pacer struct {
	step   func() error
	err    error
	unread int // bytes read since the last step
}

// readAtOnce is how many bytes of a value are read without a step.
const readAtOnce = 1024

// pacer is one for a call.
func (c *Call) pacer() *pacer {
	if c.Env == nil {
		return &pacer{}
	}
	return &pacer{step: c.Env.Step}
}

// over reports whether the computation has to end.
func (p *pacer) over() bool {
	if p == nil {
		return false
	}
	if p.err == nil && p.step != nil {
		p.err = p.step()
	}
	return p.err != nil
}

// read notes that n more bytes were read, and reports whether the computation has to end.
func (p *pacer) read(n int) bool {
	if p.unread += n; p.unread <= readAtOnce {
		return p.err != nil
	}
	p.unread = 0
	return p.over()
}

// errTooLong is for numbers that would take too long.
func errTooLong() error {
	return cqlerr.Invalidf("numbers of more than %d digits are not computed by cqld", maxDigits)
}

// checkLength refuses numbers that are too long.
func checkLength(numbers ...*big.Int) error {
	for _, n := range numbers {
		if n.BitLen() > maxBits {
			return errTooLong()
		}
	}
	return nil
}

// isUnbounded reports whether values of a type can be of any size.
func isUnbounded(ts ...types.Type) bool {
	for _, t := range ts {
		if v, ok := t.(*types.Vector); ok && v.Dim > 4096 || t.FixedLength() == 0 && t != types.TinyInt && !isShort(t) {
			return true
		}
	}
	return false
}

// isShort reports whether a type has values of different lengths of which all are short.
func isShort(t types.Type) bool {
	switch t {
	case types.SmallInt, types.Time, types.Date, types.Inet, types.Duration, types.Boolean, types.Counter, types.Empty:
		return true
	}
	return false
}
