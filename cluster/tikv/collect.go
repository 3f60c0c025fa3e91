package tikv

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/rs/zerolog"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/cqld/cqld/store/engine"
)

// Without TiDB, a cluster does not collect old versions. So one engine of the cluster does it: the one that holds the
// lease, which engines of all prefixes share. It moves two safe points in PD. The service safe point gc_worker is the
// point up to which the collection wants to go, as in TiDB. PD creates it with the first request, keeps it at 0 until
// it is moved, and returns the minimum of the safe points of all services. The safe point itself is where TiKV
// collects: of older versions only the last one of each key stays.
//
// If another program moves the safe point, such as TiDB, engines do not.
const (
	holdInterval    = 30 * time.Second // between checks for long views
	holdTTL         = 5 * time.Minute  // of a service safe point, if its process is gone
	longView        = time.Minute      // the age from which on a view is registered in PD
	minVersionAge   = 10 * time.Minute // younger versions are kept
	collectInterval = time.Minute
	leaseTime       = 3 * time.Minute
	othersInterval  = 10 * time.Minute // TiDB's default interval of collections
	othersGone      = 24 * time.Hour   // the age of a safe point whose owner is gone
)

// collector is the name of the collection's service safe point.
const collector = "gc_worker"

// serviceName returns the name of this process's service safe point.
func (e *Engine) serviceName() string {
	return fmt.Sprintf("cqld-%s-%s", e.options.Prefix, e.id)
}

// holdVersions registers the oldest view in PD while it is long, until ctx ends.
func (e *Engine) holdVersions(ctx context.Context) {
	held := false
	for ctx.Err() == nil {
		var err error
		if held, err = e.holdOldest(ctx, held); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("cannot register a long read in PD")
		}
		sleep(ctx, holdInterval)
	}
	if held {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = e.release(last) // it expires anyway
	}
}

// holdOldest registers the oldest view, if it is long. It reports whether a view is registered.
func (e *Engine) holdOldest(ctx context.Context, held bool) (bool, error) {
	first := e.views.oldest()
	if first == 0 || time.Since(oracle.GetTimeFromTS(first)) < longView {
		if held {
			return false, e.release(ctx)
		}
		return false, nil
	}
	minimum, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), int64(holdTTL.Seconds()), first)
	if err == nil && minimum > first {
		err = fmt.Errorf("versions before %v may be collected, but a view reads at %v", oracle.GetTimeFromTS(minimum),
			oracle.GetTimeFromTS(first))
	}
	return true, err
}

// release ends the registration of holdOldest.
func (e *Engine) release(ctx context.Context) error {
	_, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), 0, 0)
	return err
}

// collectVersions collects old versions while this engine holds the lease, and observes the safe point otherwise,
// until ctx ends.
func (e *Engine) collectVersions(ctx context.Context) {
	for {
		sleep(ctx, collectInterval)
		if ctx.Err() != nil {
			return
		}
		if err := e.collect(ctx, minVersionAge); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("cannot collect old versions")
		}
	}
}

// collect collects versions older than keep, unless another engine or program does.
func (e *Engine) collect(ctx context.Context, keep time.Duration) error {
	pd := e.cluster.GetPDClient()
	point, err := pd.UpdateGCSafePoint(ctx, 0) // reads it: PD never moves it back
	if err != nil {
		return fmt.Errorf("ask for the safe point: %w", err)
	}
	if e.options.KeepVersions {
		e.safePoint.note(point, time.Now(), othersInterval, e.options.Log)
		return nil
	}
	to, err := e.takeLease(ctx, point, keep)
	switch {
	case err != nil:
		return err
	case to == 0:
		e.safePoint.note(point, time.Now(), othersInterval, e.options.Log)
		return nil
	}
	minimum, err := pd.UpdateServiceGCSafePoint(ctx, collector, math.MaxInt64, to)
	if err != nil {
		return fmt.Errorf("move the safe point of the collection: %w", err)
	}
	if to = min(to, minimum); to > point {
		if point, err = e.cluster.GC(ctx, to); err != nil {
			return fmt.Errorf("move the safe point: %w", err)
		}
	}
	e.safePoint.note(point, time.Now(), collectInterval, e.options.Log)
	return nil
}

// leaseKey is the key of the lease. It is not in any prefix: none begins with a zero byte.
var leaseKey = []byte("\x00cqld\x00collector")

// lease is the right to collect.
type lease struct {
	until int64  // in milliseconds of PD's clock
	point uint64 // the furthest point to which engines have moved the safe point
	owner string // id of the engine
}

func (l lease) value() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(l.until))
	return append(binary.BigEndian.AppendUint64(b, l.point), l.owner...)
}

func readLease(b []byte) (l lease, err error) {
	if len(b) < 16 {
		return l, errValue
	}
	return lease{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:]), string(b[16:])}, nil
}

// takeLease takes or renews the lease, and returns the point to which the safe point may be moved. It returns 0 while
// another engine has the lease or another program moves the safe point.
func (e *Engine) takeLease(ctx context.Context, point uint64, keep time.Duration) (to uint64, err error) {
	txn, err := e.begin()
	if err != nil {
		return 0, err
	}
	now := oracle.ExtractPhysical(txn.StartTS())
	var l lease
	held, err := txn.Get(ctx, leaseKey)
	switch {
	case tikverr.IsErrNotFound(err):
	case err != nil:
		return 0, err
	default:
		if l, err = readLease(held.Value); err != nil {
			return 0, err
		}
	}
	if l.owner != e.id && l.until > now {
		return 0, nil
	}
	if others, err := e.othersCollect(txn, l.point, point, now); err != nil || others {
		return 0, err
	}
	to = oracle.ComposeTS(now-keep.Milliseconds(), 0)
	if first := e.views.oldest(); first != 0 {
		to = min(to, first)
	}
	l = lease{now + leaseTime.Milliseconds(), max(l.point, to), e.id}
	if err := txn.Set(leaseKey, l.value()); err != nil {
		return 0, err
	}
	if err := txn.Commit(ctx); err != nil {
		if lostRace(err) {
			return 0, nil
		}
		return 0, err
	}
	return to, nil
}

// tidbKey begins the key BootstrapKey, which TiDB writes when it sets up a cluster.
var tidbKey = appendKey([]byte("m"), []byte("BootstrapKey"))

// othersCollect reports whether the cluster has a TiDB, or another program has moved the safe point within a day.
func (e *Engine) othersCollect(txn *transaction.KVTxn, moved, point uint64, now int64) (bool, error) {
	if point > moved && now-oracle.ExtractPhysical(point) < othersGone.Milliseconds() {
		return true, nil
	}
	it, err := txn.Iter(tidbKey, after(tidbKey))
	if err != nil {
		return false, err
	}
	defer it.Close()
	return it.Valid(), nil
}

// safePoint observes the safe point.
type safePoint struct {
	mu      sync.Mutex
	point   uint64
	since   time.Time // when it has moved last
	stalled bool
}

// note takes the current point. It logs when the point has not moved for two periods, and when it moves again.
func (s *safePoint) note(point uint64, now time.Time, period time.Duration, log zerolog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.since.IsZero() || point > s.point:
		if s.stalled {
			log.Info().Dur("after", now.Sub(s.since)).Msg("old versions are collected again")
		}
		s.point, s.since, s.stalled = point, now, false
	case now.Sub(s.since) >= 2*period && !s.stalled:
		s.stalled = true
		log.Warn().Dur("for", now.Sub(s.since)).Time("safe_point", oracle.GetTimeFromTS(point)).
			Msg("old versions are not collected: the safe point does not move, so deletes free no space")
	}
}

// Gauges are the metrics of the collection.
func (e *Engine) Gauges() []engine.Gauge {
	s := &e.safePoint
	s.mu.Lock()
	defer s.mu.Unlock()
	at, stalled := 0.0, 0.0
	if s.point != 0 {
		at = float64(oracle.ExtractPhysical(s.point)) / 1000
	}
	if s.stalled {
		stalled = 1
	}
	return []engine.Gauge{
		{
			Name: "safe_point_timestamp_seconds", Value: at,
			Help: "The safe point, up to which old versions of keys are collected, as Unix time; 0: never.",
		},
		{Name: "safe_point_stalled", Value: stalled, Help: "1 if the safe point has not moved for two periods."},
	}
}
