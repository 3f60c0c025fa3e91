package tikv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/transaction"
	"golang.org/x/sync/errgroup"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Commit writes ops in one transaction of the cluster, in the background.
func (e *Engine) Commit(ops []engine.Op, done func(error)) {
	if err := e.enter(); err != nil {
		done(err)
		return
	}
	if err := e.checkAll(ops); err != nil || len(ops) == 0 {
		e.calls.Done()
		done(err)
		return
	}
	e.commits <- struct{}{}
	p := &pending{ops: ops, size: sizeOf(ops), done: done}
	place := e.cluster.GetRegionCache().TryLocateKey(e.valueKey(ops[0].Key))
	isDelete := func(op engine.Op) bool { return op.Kind == engine.Delete }
	if place == nil || slices.ContainsFunc(ops, isDelete) {
		panics.Go(&e.options.Log, func() { e.commitBatch([]*pending{p}) })
		return
	}
	region := place.Region.GetID()
	if !e.lanes.enter(region, p) {
		return
	}
	panics.Go(&e.options.Log, func() {
		for batch := []*pending{p}; len(batch) > 0; batch = e.lanes.next(region) {
			e.commitBatch(batch)
		}
	})
}

// checkAll checks the operations of a commit.
func (e *Engine) checkAll(ops []engine.Op) error {
	for i := range ops {
		if err := e.check(&ops[i]); err != nil {
			return err
		}
	}
	return checkSize(ops)
}

// commitBatch runs commits in one transaction and gives all of them its outcome.
func (e *Engine) commitBatch(all []*pending) {
	ops := all[0].ops
	if len(all) > 1 {
		ops = nil
		for _, p := range all {
			ops = append(ops, p.ops...)
		}
	}
	var combined []engine.Op
	err := panics.Call(func() (err error) {
		combined, err = e.combine(ops)
		return err
	})
	if err != nil && len(all) > 1 { // one of them cannot be folded into the others
		for _, p := range all {
			e.commitBatch([]*pending{p})
		}
		return
	}
	if err == nil {
		err = panics.Call(func() error { return e.repeat(func() error { return e.attempt(combined) }) })
		if panics.Is(err) {
			err = fmt.Errorf("%w: %w", engine.ErrUnknown, err)
		}
	}
	for _, p := range all {
		e.acknowledge(p, err)
	}
}

// acknowledge tells the caller of a commit the outcome. If that panics, the other commits still have theirs.
func (e *Engine) acknowledge(p *pending, outcome error) {
	defer e.calls.Done()
	<-e.commits
	if err := panics.Call(func() error { p.done(outcome); return nil }); err != nil {
		panics.Log(&e.options.Log, err).Msg("what follows a commit panicked")
	}
}

// The limits of retries after conflicts.
const (
	maxAttempts = 64
	maxPause    = 100 * time.Millisecond
)

// repeat retries try while it conflicts with other transactions, with exponential backoff.
func (e *Engine) repeat(try func() error) error {
	pause := time.Millisecond
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || !lostRace(err) {
			return failed(err)
		}
		if attempt == maxAttempts {
			return fmt.Errorf("%w: %v", engine.ErrConflict, err)
		}
		time.Sleep(rand.N(pause) + pause/2)
		pause = min(2*pause, maxPause)
	}
}

// lostRace reports whether a transaction failed because of a conflict and has changed nothing.
func lostRace(err error) bool {
	var retryable *tikverr.ErrRetryable
	var deadlock *tikverr.ErrDeadlock
	var latched *tikverr.ErrWriteConflictInLatch
	return tikverr.IsErrWriteConflict(err) || errors.As(err, &retryable) || errors.As(err, &deadlock) ||
		errors.As(err, &latched)
}

// refusal is an error of the cluster that has changed nothing.
type refusal struct{ err error }

// Error implements error.
func (r refusal) Error() string { return fmt.Sprintf("the cluster refuses the request: %v", r.err) }

// Unwrap returns the error of the contract and the cause.
func (r refusal) Unwrap() []error { return []error{engine.ErrRefused, r.err} }

// failed turns an error of a transaction into an error of the contract.
func failed(err error) error {
	var entry *tikverr.ErrEntryTooLarge
	var whole *tikverr.ErrTxnTooLarge
	switch {
	case err == nil || errors.Is(err, engine.ErrTooLarge):
		return err
	case tikverr.IsErrorUndetermined(err):
		return fmt.Errorf("%w: %v", engine.ErrUnknown, err)
	case errors.As(err, &entry) || errors.As(err, &whole):
		return fmt.Errorf("%w: %v", engine.ErrTooLarge, err)
	}
	return refusal{err}
}

// begin begins a transaction, which may commit with a single request. Causal consistency is enough: its start
// timestamp is younger than the call, so it is ordered after all commits before.
func (e *Engine) begin() (*transaction.KVTxn, error) {
	txn, err := e.cluster.Begin()
	if err != nil {
		return nil, err
	}
	txn.SetEnableAsyncCommit(true)
	txn.SetEnable1PC(true)
	txn.SetCausalConsistency(true)
	return txn, nil
}

// finish commits a transaction.
func (e *Engine) finish(txn *transaction.KVTxn) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.options.Patience)
	defer cancel()
	return txn.Commit(ctx)
}

// attempt tries once to commit operations on different keys.
func (e *Engine) attempt(all []engine.Op) error {
	txn, err := e.begin()
	if err != nil {
		return err
	}
	ts := txn.StartTS()
	var deleted [][]byte // keys
	for i := range all {
		op := &all[i]
		key := e.valueKey(op.Key)
		switch op.Kind {
		case engine.Put:
			err = txn.Set(key, appendValue(nil, ts, op.Value))
		case engine.Merge:
			err = txn.Set(deltaKey(key, ts), appendDelta(nil, op.Value))
		case engine.Delete:
			err = txn.Delete(key)
			deleted = append(deleted, op.Key)
		}
		if err != nil {
			return err
		}
	}
	rows, err := e.rowsAt(ts, deleted)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := e.deleteDeltas(txn, &rows[i]); err != nil {
			return err
		}
	}
	return e.finish(txn)
}

// deleteDeltas deletes the deltas of a row.
func (e *Engine) deleteDeltas(txn *transaction.KVTxn, r *row) error {
	for _, stamp := range r.stamps {
		if err := txn.Delete(deltaKey(e.valueKey(r.key), stamp)); err != nil {
			return err
		}
	}
	return nil
}

// maxReads is how many rows a commit reads at the same time.
const maxReads = 16

// rowsAt reads rows without folding them.
func (e *Engine) rowsAt(ts uint64, keys [][]byte) ([]row, error) {
	rows := make([]row, len(keys))
	if len(keys) == 0 {
		return nil, nil
	}
	return rows, e.viewAt(ts, func(v *view) error {
		var all errgroup.Group
		all.SetLimit(maxReads)
		for i, key := range keys {
			all.Go(func() (err error) {
				defer panics.Into(&err)
				from := e.valueKey(key)
				rows[i].key = key
				return v.scan(from, after(from), engine.ScanOptions{}, func(r *row) (bool, error) {
					rows[i] = r.clone()
					return true, nil
				})
			})
		}
		return all.Wait()
	})
}

// Commits whose first keys are in the same region share a lane, which runs a few transactions at a time. Further
// commits wait, and share the next transaction: group commit. So under load a commit takes fewer requests, timestamps
// and entries of the Raft log. Two kinds of commits run on their own: deletes, because they read first, and commits
// whose region is unknown, because its store may not answer.
const (
	maxLaneTransactions = 8
	maxBatch            = 64        // commits in a transaction
	maxBatchBytes       = 256 << 10 // of these commits
)

// lanes has the lanes of all regions with running commits.
type lanes struct {
	mu sync.Mutex
	of map[uint64]*lane // by region
}

// lane is the queue of a region.
type lane struct {
	running int // transactions
	waiting []*pending
}

// pending is a commit without an outcome.
type pending struct {
	ops  []engine.Op
	size int
	done func(error)
}

// enter reports whether a commit can run now. Otherwise it waits in its lane.
func (l *lanes) enter(region uint64, p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[region]
	if at == nil {
		at = &lane{}
		l.of[region] = at
	}
	if at.running < maxLaneTransactions {
		at.running++
		return true
	}
	at.waiting = append(at.waiting, p)
	return false
}

// next returns the commits of the next transaction. If none wait, the lane has one transaction less.
func (l *lanes) next(region uint64) []*pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.of[region]
	if len(at.waiting) == 0 {
		if at.running--; at.running == 0 {
			delete(l.of, region)
		}
		return nil
	}
	n, size := 0, 0
	for n < min(len(at.waiting), maxBatch) && (n == 0 || size+at.waiting[n].size <= maxBatchBytes) {
		size += at.waiting[n].size
		n++
	}
	batch := at.waiting[:n:n]
	at.waiting = at.waiting[n:]
	return batch
}
