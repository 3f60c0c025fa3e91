package tikv

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/txnkv/transaction"
)

// Nobody in a cluster without TiDB collects old versions by itself. One of all engines in a cluster does it, also of
// other prefixes: the one that holds the lease. It moves two things in PD. The service safe point gc_worker says how
// far the collection would like to go, as that of TiDB does. PD makes it when anybody asks for the first time, keeps it
// at 0 until somebody moves it, and answers with the least of all services. The safe point is where TiKV collects:
// below it only the last version of each key stays.
//
// If anybody else moves the safe point, such as a TiDB, the engines leave that alone.
const (
	holdEvery    = 30 * time.Second // between looks for views that hold back the safe point
	holdFor      = 5 * time.Minute  // that PD keeps the request of a process that does not come back
	longView     = time.Minute      // the age of a view that is told to PD
	keepVersions = 10 * time.Minute // that versions are kept in any case
	collectEvery = time.Minute      // between collections
	leaseFor     = 3 * time.Minute  // that an engine collects without telling the others again
	othersEvery  = 10 * time.Minute // between collections of others; it is TiDB's default
	othersGone   = 24 * time.Hour   // the age of a safe point whose owner does not move it any more
)

// collector is the service safe point of the collection in PD.
const collector = "gc_worker"

// serviceName is what PD knows the views of this process by.
func (e *Engine) serviceName() string {
	return fmt.Sprintf("cqld-%s-%s", e.options.Prefix, e.id)
}

// holdVersions tells PD of the oldest view for as long as it is long, until ctx ends.
func (e *Engine) holdVersions(ctx context.Context) {
	held := false
	for ctx.Err() == nil {
		var err error
		if held, err = e.holdOldest(ctx, held); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("the cluster was not told which versions are read")
		}
		sleep(ctx, holdEvery)
	}
	if held {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = e.release(last) // PD forgets it by itself
	}
}

// holdOldest has the versions kept that the oldest view reads. It reports whether PD holds something for this process.
func (e *Engine) holdOldest(ctx context.Context, held bool) (bool, error) {
	first := e.views.oldest()
	if first == 0 || time.Since(oracle.GetTimeFromTS(first)) < longView {
		if held {
			return false, e.release(ctx)
		}
		return false, nil
	}
	least, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), int64(holdFor.Seconds()), first)
	if err == nil && least > first {
		err = fmt.Errorf("versions are kept from %v on, and a view reads at %v", oracle.GetTimeFromTS(least),
			oracle.GetTimeFromTS(first))
	}
	return true, err
}

// release takes back what holdOldest told PD.
func (e *Engine) release(ctx context.Context) error {
	_, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), 0, 0)
	return err
}

// collectVersions looks at the safe point now and then, and has old versions collected while this engine holds the
// lease, until ctx ends.
func (e *Engine) collectVersions(ctx context.Context) {
	for {
		sleep(ctx, collectEvery)
		if ctx.Err() != nil {
			return
		}
		if err := e.collect(ctx, keepVersions); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("old versions were not collected")
		}
	}
}

// collect has versions collected that are older than keep, unless another engine or somebody else does so.
func (e *Engine) collect(ctx context.Context, keep time.Duration) error {
	pd := e.cluster.GetPDClient()
	point, err := pd.UpdateGCSafePoint(ctx, 0) // it never goes back
	if err != nil {
		return fmt.Errorf("ask for the safe point: %w", err)
	}
	if e.options.KeepVersions {
		e.safePoint.note(point, time.Now(), othersEvery, e.options.Log)
		return nil
	}
	to, err := e.takeLease(ctx, point, keep)
	switch {
	case err != nil:
		return err
	case to == 0:
		e.safePoint.note(point, time.Now(), othersEvery, e.options.Log)
		return nil
	}
	least, err := pd.UpdateServiceGCSafePoint(ctx, collector, math.MaxInt64, to)
	if err != nil {
		return fmt.Errorf("move the safe point of the collection: %w", err)
	}
	if to = min(to, least); to > point {
		if point, err = e.cluster.GC(ctx, to); err != nil {
			return fmt.Errorf("move the safe point: %w", err)
		}
	}
	e.safePoint.note(point, time.Now(), collectEvery, e.options.Log)
	return nil
}

// leaseKey is the record of the collection, which all prefixes share: none begins with a zero byte.
var leaseKey = []byte("\x00cqld\x00collector")

// lease is that record.
type lease struct {
	until int64  // in milliseconds of PD's clock
	point uint64 // no engine has moved the safe point further
	owner string // the engine
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

// takeLease takes or prolongs the lease of the collection, and returns how far the safe point may be moved from where
// it is. It returns 0 while another engine has the lease, and while somebody else moves the safe point.
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
	l = lease{now + leaseFor.Milliseconds(), max(l.point, to), e.id}
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

// tidbKey begins the key by which a TiDB knows that its cluster has been set up: BootstrapKey among its metadata.
var tidbKey = appendKey([]byte("m"), []byte("BootstrapKey"))

// othersCollect reports whether there is a TiDB, or whether the safe point is beyond where engines have moved it. What
// somebody else has moved a day ago or longer, and not since, is left to nobody.
func (e *Engine) othersCollect(txn *transaction.KVTxn, moved, point uint64, now int64) (bool, error) {
	if point > moved && now-oracle.ExtractPhysical(point) < othersGone.Milliseconds() {
		return true, nil
	}
	it, err := txn.Iter(tidbKey, behind(tidbKey))
	if err != nil {
		return false, err
	}
	defer it.Close()
	return it.Valid(), nil
}

// safePoint is up to where versions were collected, as this engine has seen it.
type safePoint struct {
	mu      sync.Mutex
	point   uint64
	since   time.Time // that it has not moved
	stalled bool
}

// note takes the point as it is, and logs when it does not move for two periods, and when it moves again.
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

// Metrics of the collection.
var (
	safePointTime = prometheus.NewDesc("cqld_engine_safe_point_timestamp_seconds",
		"Up to when old versions of keys were collected, as Unix time; 0: never.", nil, nil)
	safePointStalled = prometheus.NewDesc("cqld_engine_safe_point_stalled",
		"1 while the safe point, up to which old versions are collected, has not moved for two periods.", nil, nil)
)

// Describe sends what metrics there are.
func (e *Engine) Describe(ch chan<- *prometheus.Desc) {
	ch <- safePointTime
	ch <- safePointStalled
}

// Collect sends all metrics.
func (e *Engine) Collect(ch chan<- prometheus.Metric) {
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
	ch <- prometheus.MustNewConstMetric(safePointTime, prometheus.GaugeValue, at)
	ch <- prometheus.MustNewConstMetric(safePointStalled, prometheus.GaugeValue, stalled)
}
