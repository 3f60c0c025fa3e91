package restriction

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// TokenRange evaluates the restriction of token(). Where a bound is missing, the range begins with the first token or
// ends with the last.
func TokenRange(x *expr.Context, r *where.Range) (store.TokenRange, error) {
	t := store.TokenRange{
		Bounded: true, Start: math.MinInt64, End: math.MaxInt64, StartInclusive: true, EndInclusive: true,
	}
	if r.Lower != nil {
		at, err := tokenBound(x, r.Lower)
		if err != nil {
			return t, err
		}
		// Nothing is in front of the smallest token, which views have: that of an empty key.
		t.Start, t.StartInclusive = at, r.Lower.Inclusive || at == math.MinInt64
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

// tokenBound evaluates one bound of token().
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

// ScannedTokens is a range of tokens as a scan reads it, and whether it is empty. A scan does not wrap around, and the
// smallest token as the end means that there is no end.
func ScannedTokens(t store.TokenRange) (_ store.TokenRange, empty bool) {
	if t.End == math.MinInt64 {
		t.End, t.EndInclusive = math.MaxInt64, true
	}
	return t, t.Start > t.End || t.Start == t.End && !(t.StartInclusive && t.EndInclusive)
}

// Contradict reports whether the bounds of a range of tokens exclude each other as Cassandra compares them: the
// smallest token is no bound there, and a range beyond the largest one is like any other.
func Contradict(r *where.Range, t store.TokenRange) bool {
	return r.Lower != nil && r.Upper != nil && t.Start != math.MinInt64 && t.End != math.MinInt64 &&
		(t.Start > t.End || t.Start == t.End && !(t.StartInclusive && t.EndInclusive))
}

// hasToken reports whether the token of a key that is given by its values is in a range. A range that starts above its
// end wraps around: it has the tokens from its start on, and the tokens up to its end.
func hasToken(t store.TokenRange, at int64) bool {
	afterStart := at > t.Start || at == t.Start && t.StartInclusive
	beforeEnd := at < t.End || at == t.End && t.EndInclusive
	if t.Start > t.End {
		return afterStart || beforeEnd
	}
	return afterStart && beforeEnd
}
