package exec

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// using evaluates USING: the timestamp and the expiry of a statement's cells.
func (w *writing) using(m *planner.Modification) (int64, store.Expiry, error) {
	ts, err := w.timestamp(m.Timestamp)
	if err != nil {
		return 0, store.Expiry{}, err
	}
	ttl, err := w.ttl(m)
	if err != nil || ttl == 0 {
		return ts, store.Expiry{}, err
	}
	return ts, store.Expiry{TTL: ttl, At: w.x.Now + int64(ttl)}, nil
}

// timestamp is the one of USING TIMESTAMP, or of the request, or else one that all statements of the request share.
func (w *writing) timestamp(e expr.Expr) (int64, error) {
	if e != nil && w.conditional == nil { // conditions give all statements of a batch one time
		v, err := e.Eval(&w.x)
		switch {
		case err != nil:
			return 0, err
		case v.Unset:
		case len(v.Bytes) != 8:
			return 0, cqlerr.Invalidf("Invalid null value of timestamp")
		default:
			return checkTimestamp(int64(binary.BigEndian.Uint64(v.Bytes)))
		}
	}
	if !w.given {
		w.given, w.stamp = true, w.e.store.TimestampAt(w.began)
	}
	return w.stamp, nil
}

// checkTimestamp refuses the number that means no time.
func checkTimestamp(ts int64) (int64, error) {
	if ts == math.MinInt64 {
		return 0, cqlerr.Invalidf("Out of bound timestamp, must be in [%d, %d]", int64(math.MinInt64+1), int64(math.MaxInt64))
	}
	return ts, nil
}

const (
	// maxTTL is 20 years of 365 days.
	maxTTL = 20 * 365 * 24 * 60 * 60

	// maxExpiry is the last second that Cassandra can store, in the year 2106.
	maxExpiry = math.MaxUint32 - 2
)

// ttl is the one of USING TTL, or else the table's. Null means none.
func (w *writing) ttl(m *planner.Modification) (int32, error) {
	byDefault := int32(m.Table.Options.DefaultTimeToLive)
	if m.Verb == planner.Delete {
		return 0, nil
	}
	if m.TTL == nil {
		return byDefault, w.checkExpiry(m, byDefault, "default ")
	}
	v, ttl, err := intValue(&w.x, m.TTL)
	switch {
	case err != nil:
		return 0, err
	case v.Unset:
		return byDefault, nil
	case ttl < 0:
		return 0, cqlerr.Invalidf("A TTL must be greater or equal to 0, but was %d", ttl)
	case ttl > maxTTL:
		return 0, cqlerr.Invalidf("ttl is too large. requested (%d) maximum (%d)", ttl, maxTTL)
	}
	return ttl, w.checkExpiry(m, ttl, "")
}

// checkExpiry refuses cells that would expire later than can be stored.
func (w *writing) checkExpiry(m *planner.Modification, ttl int32, origin string) error {
	if ttl == 0 || w.began.Unix()+int64(ttl) <= maxExpiry {
		return nil
	}
	return cqlerr.Invalidf("Request on table %s.%s with %sttl of %d seconds exceeds maximum supported expiration date of %s. "+
		"In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this "+
		"limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.", m.Table.Keyspace, m.Table.Name,
		origin, ttl, time.Unix(maxExpiry, 0).UTC().Format("2006-01-02T15:04:05+00:00"))
}
