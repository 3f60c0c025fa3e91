package exec

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// tokens is a range of tokens, perhaps empty.
type tokens struct {
	store.TokenRange
	empty bool
}

// tokenRange evaluates what token() is restricted to. The smallest token stands for no bound at the end.
func tokenRange(x *expr.Context, r *planner.Range) (tokens, error) {
	t := tokens{TokenRange: store.TokenRange{
		Bounded: true, Start: math.MinInt64, End: math.MaxInt64, StartInclusive: true, EndInclusive: true,
	}}
	if r == nil {
		return t, nil
	}
	if r.Lower != nil {
		at, err := tokenBound(x, r.Lower)
		if err != nil {
			return t, err
		}
		t.Start, t.StartInclusive = at, r.Lower.Inclusive
	}
	if r.Upper != nil {
		at, err := tokenBound(x, r.Upper)
		if err != nil {
			return t, err
		}
		if at != math.MinInt64 {
			t.End, t.EndInclusive = at, r.Upper.Inclusive
		}
	}
	t.empty = t.Start > t.End || t.Start == t.End && !(t.StartInclusive && t.EndInclusive)
	return t, nil
}

// tokenBound is the token of one bound.
func tokenBound(x *expr.Context, b *planner.Bound) (int64, error) {
	v, err := b.Point.Parts[0].Eval(x)
	if err != nil {
		return 0, err
	}
	if len(v.Bytes) != 8 {
		return 0, cqlerr.Invalidf("Invalid null token value")
	}
	return int64(binary.BigEndian.Uint64(v.Bytes)), nil
}

// has reports whether a token is in the range.
func (t tokens) has(at int64) bool {
	if t.empty || at < t.Start || at > t.End {
		return false
	}
	return (at > t.Start || t.StartInclusive) && (at < t.End || t.EndInclusive)
}
