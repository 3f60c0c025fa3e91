package tikv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/txnkv/transaction"
	"golang.org/x/sync/errgroup"

	"github.com/cqld/cqld/store/engine"
)

// Commit writes ops in one transaction of the cluster, on a goroutine of its own or on that of another commit.
func (e *Engine) Commit(ops []engine.Op, done func(error)) {
	if err := e.enter(); err != nil {
		done(err)
		return
	}
	if err := e.checkAll(ops); err != nil || len(ops) == 0 {
		e.under.Done()
		done(err)
		return
	}
	e.commits <- struct{}{}
	p := &pending{ops: ops, size: sizeOf(ops), done: done}
	place := e.cluster.GetRegionCache().TryLocateKey(e.valueKey(ops[0].Key))
	isDelete := func(op engine.Op) bool { return op.Kind == engine.Delete }
	if place == nil || slices.ContainsFunc(ops, isDelete) {
		go e.commitTogether([]*pending{p})
		return
	}
	region := place.Region.GetID()
	if !e.lanes.enter(region, p) {
		return
	}
	go func() {
		for together := []*pending{p}; len(together) > 0; together = e.lanes.next(region) {
			e.commitTogether(together)
		}
	}()
}

// checkAll refuses operations that cannot be committed together.
func (e *Engine) checkAll(ops []engine.Op) error {
	for i := range ops {
		if err := e.check(&ops[i]); err != nil {
			return err
		}
	}
	return checkSize(ops)
}

// commitTogether commits in one transaction, and gives all commits its outcome.
func (e *Engine) commitTogether(all []*pending) {
	ops := all[0].ops
	if len(all) > 1 {
		ops = nil
		for _, p := range all {
			ops = append(ops, p.ops...)
		}
	}
	united, err := e.united(ops)
	if err != nil && len(all) > 1 { // one of them cannot be folded into the others
		for _, p := range all {
			e.commitTogether([]*pending{p})
		}
		return
	}
	if err == nil {
		err = e.repeat(func() error { return e.attempt(united) })
	}
	for _, p := range all {
		<-e.commits
		p.done(err)
		e.under.Done()
	}
}

// The bounds of attempts to commit against others that write to the same keys.
const (
	maxAttempts = 64
	maxPause    = 100 * time.Millisecond
)

// repeat calls try again while it loses races, with pauses that grow.
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

// lostRace reports whether a transaction changed nothing because of another one.
func lostRace(err error) bool {
	var retryable *tikverr.ErrRetryable
	var deadlock *tikverr.ErrDeadlock
	var latched *tikverr.ErrWriteConflictInLatch
	return tikverr.IsErrWriteConflict(err) || errors.As(err, &retryable) || errors.As(err, &deadlock) ||
		errors.As(err, &latched)
}

// refusal is an error of the cluster that left everything as it was.
type refusal struct{ err error }

// Error says why.
func (r refusal) Error() string { return fmt.Sprintf("the cluster does not take it: %v", r.err) }

// Unwrap returns what the contract calls it, and why.
func (r refusal) Unwrap() []error { return []error{engine.ErrRefused, r.err} }

// failed says in the words of the contract how a transaction ended.
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

// begin begins a transaction. Its writes may be committed with the first request. They need no timestamp to be behind
// what was committed before: their start timestamp is younger than the call that makes them.
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

// attempt tries once to commit one operation for each key.
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

// readers is how many rows are read at the same time for one commit.
const readers = 16

// rowsAt reads the rows of keys without folding them.
func (e *Engine) rowsAt(ts uint64, keys [][]byte) ([]row, error) {
	rows := make([]row, len(keys))
	if len(keys) == 0 {
		return nil, nil
	}
	return rows, e.viewAt(ts, func(v *view) error {
		var all errgroup.Group
		all.SetLimit(readers)
		for i, key := range keys {
			all.Go(func() error {
				from := e.valueKey(key)
				rows[i].key = key
				return v.scan(from, behind(from), engine.ScanOptions{}, func(r *row) (bool, error) {
					rows[i] = r.clone()
					return true, nil
				})
			})
		}
		return all.Wait()
	})
}
