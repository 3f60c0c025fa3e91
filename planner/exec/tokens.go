package exec

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// tokenRange evaluates what token() is restricted to; a bound that is not given is the first or last token.
func tokenRange(x *expr.Context, r *where.Range) (store.TokenRange, error) {
	t := store.TokenRange{
		Bounded: true, Start: math.MinInt64, End: math.MaxInt64, StartInclusive: true, EndInclusive: true,
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
		t.End, t.EndInclusive = at, r.Upper.Inclusive
	}
	return t, nil
}

// tokenBound is the token of one bound.
func tokenBound(x *expr.Context, b *where.Bound) (int64, error) {
	v, err := b.Point.Parts[0].Eval(x)
	if err != nil {
		return 0, err
	}
	if len(v.Bytes) != 8 {
		return 0, cqlerr.Invalidf("Invalid null token value")
	}
	return int64(binary.BigEndian.Uint64(v.Bytes)), nil
}

// scanned is the range of tokens as a scan takes it, and whether it is empty: it does not wrap, and the smallest
// token at its end stands for no bound.
func scanned(t store.TokenRange) (_ store.TokenRange, empty bool) {
	if t.End == math.MinInt64 {
		t.End, t.EndInclusive = math.MaxInt64, true
	}
	return t, t.Start > t.End || t.Start == t.End && !(t.StartInclusive && t.EndInclusive)
}

// hasToken reports whether a token is in the range that keys given by their values are compared with. A range that
// starts above its end wraps: it has the tokens from its start and those up to its end.
func hasToken(t store.TokenRange, at int64) bool {
	afterStart := at > t.Start || at == t.Start && t.StartInclusive
	beforeEnd := at < t.End || at == t.End && t.EndInclusive
	if t.Start > t.End {
		return afterStart || beforeEnd
	}
	return afterStart && beforeEnd
}
