package tikv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/cqld/cqld/store/engine"
)

// updateAttempts is how often an Update tries before it returns a conflict. The first optimisticAttempts do not lock
// anything before they commit.
const (
	updateAttempts     = 16
	optimisticAttempts = 2
)

// Update locks the guards in this process and then runs fn. In the cluster the commit locks them; after conflicts they
// are locked before fn runs.
func (e *Engine) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if err := e.enter(); err != nil {
		done(err)
		return
	}
	defer e.calls.Done()
	done(e.update(ctx, guards, fn))
}

func (e *Engine) update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error) (err error) {
	u := &update{ctx: ctx, fn: fn, outcome: make(chan error, 1)}
	guards = slices.Clone(guards)
	slices.SortFunc(guards, bytes.Compare) // prevents deadlocks
	guards = slices.CompactFunc(guards, bytes.Equal)
	if len(guards) == 1 {
		return e.updateGrouped(guards[0], u)
	}
	keys := make([][]byte, len(guards))
	for i, guard := range guards {
		unlock, err := e.guards.lock(ctx, string(guard))
		if err != nil {
			return err
		}
		defer unlock()
		keys[i] = e.guardKey(guard)
	}
	return e.lead(&updateGroup{updates: []*update{u}}, keys)
}

// guardKey returns the key of a guard in the cluster.
func (e *Engine) guardKey(guard []byte) []byte { return append(e.area(nil, areaGuards), guard...) }

// repeatUpdate runs a group until it does not conflict.
func (e *Engine) repeatUpdate(g *updateGroup, guards [][]byte) (err error) {
	for attempt := range updateAttempts {
		g.collect()
		if err = e.attemptUpdate(g, guards, attempt < optimisticAttempts); !errors.Is(err, errRepeat) {
			return err
		}
	}
	return fmt.Errorf("%w: %v", engine.ErrConflict, err)
}

// errRepeat is the error of an attempt that conflicts with another commit.
var errRepeat = errors.New("a key has changed")

// attemptUpdate runs a group and commits its writes. The commit fails if it would overwrite a change that the group
// has not read. An optimistic attempt locks nothing before: its commit fails if another update with one of the guards
// has committed since it read.
func (e *Engine) attemptUpdate(g *updateGroup, guards [][]byte, optimistic bool) error {
	ctx := g.updates[0].ctx
	t, err := e.begin()
	if err != nil {
		return refusal{err}
	}
	ts, committed := t.StartTS(), false
	if !optimistic {
		t.SetPessimistic(true)
		defer func() {
			if !committed {
				_ = t.Rollback() // if it fails, the locks expire
			}
		}()
		if ts, err = e.lockGuards(ctx, t, guards); err != nil {
			if ctx.Err() != nil {
				g.leaveFrom(1) // the others may wait longer
			}
			return err
		}
	}
	return e.viewAt(ts, func(v *view) error {
		x := newTxn(v)
		if g.runFunctions(x); len(x.Ops) == 0 {
			return nil
		}
		if optimistic { // the commit locks them
			if err := t.LockKeys(context.Background(), kv.NewLockCtx(ts, lockWait, time.Now()), guards...); err != nil {
				return refusal{err}
			}
		}
		if err := x.stage(ctx, t); err != nil {
			return err
		}
		committed = true // or rolled back by Commit
		if err := e.finish(t); err != nil {
			if lostRace(err) {
				return fmt.Errorf("%w: %v", errRepeat, err)
			}
			return failed(err)
		}
		return nil
	})
}

// The limits of the wait for guards that other processes have locked.
const (
	lockWait    = 1000 // per attempt, in milliseconds
	lockTimeout = 30 * time.Second
)

// lockGuards locks guards and returns a timestamp. All earlier updates with one of these guards have committed before
// it.
func (e *Engine) lockGuards(ctx context.Context, t *transaction.KVTxn, guards [][]byte) (ts uint64, err error) {
	ts = t.StartTS()
	for began := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		err := t.LockKeys(context.Background(), kv.NewLockCtx(ts, lockWait, time.Now()), guards...)
		switch {
		case err == nil:
			return ts, nil
		case time.Since(began) > lockTimeout:
			return 0, fmt.Errorf("%w: a guard was locked for %v: %v", engine.ErrConflict, lockTimeout, err)
		case !tikverr.IsErrWriteConflict(err) && !errors.Is(err, tikverr.ErrLockWaitTimeout) && !lostRace(err):
			return 0, refusal{err}
		}
		// The later timestamp makes commits of other updates visible. It also prevents client-go from releasing the next
		// lock together with the one that it did not get.
		if ts, err = e.now(); err != nil {
			return 0, refusal{err}
		}
	}
}

// txn is the transaction of an Update: it reads at the timestamp of its view, and its own writes.
type txn struct {
	view *view
	engine.Writes
	rows   map[string]row // the rows it has read, without values
	own    []engine.Op    // its writes, one for each key, sorted by key
	copied int            // how many of Ops are in own
}

// maxNotedRows limits rows. Rows beyond it are read again before they are written.
const maxNotedRows = 1 << 12

func newTxn(v *view) *txn {
	x := &txn{view: v, rows: map[string]row{}}
	x.Check = v.engine.check
	v.read = func(r *row) {
		if len(x.rows) < maxNotedRows {
			x.rows[string(r.key)] = row{exists: r.exists, stamp: r.stamp, stamps: slices.Clone(r.stamps)}
		}
	}
	return x
}

// written returns the writes, one for each key.
func (x *txn) written() ([]engine.Op, error) {
	if x.Err != nil {
		return nil, x.Err
	}
	if x.copied < len(x.Ops) {
		own, err := x.view.engine.combine(x.Ops)
		if err != nil {
			return nil, err
		}
		x.own, x.copied = own, len(x.Ops)
	}
	return x.own, nil
}

// truncate drops all but the first kept writes.
func (x *txn) truncate(kept int) {
	clear(x.Ops[kept:])
	x.Ops, x.Err = x.Ops[:kept], nil
	x.own, x.copied = nil, 0
}

// stage adds the writes to a transaction of the cluster. A pessimistic transaction locks the values that it replaces
// or deletes; an optimistic one checks them when it commits.
func (x *txn) stage(ctx context.Context, t *transaction.KVTxn) error {
	e := x.view.engine
	own, err := x.written()
	if err != nil {
		return err
	}
	var replaced, unread [][]byte
	for i := range own {
		if op := &own[i]; op.Kind != engine.Merge {
			replaced = append(replaced, e.valueKey(op.Key))
			if _, ok := x.rows[string(op.Key)]; !ok {
				unread = append(unread, op.Key)
			}
		}
	}
	if len(replaced) > 0 && t.IsPessimistic() {
		err := t.LockKeys(context.WithoutCancel(ctx), kv.NewLockCtx(x.view.ts, lockWait, time.Now()), replaced...)
		if err != nil {
			if lostRace(err) || errors.Is(err, tikverr.ErrLockWaitTimeout) {
				return fmt.Errorf("%w: %v", errRepeat, err)
			}
			return refusal{err}
		}
	}
	rows, err := e.rowsAt(x.view.ts, unread)
	if err != nil {
		return err
	}
	for i, key := range unread {
		x.rows[string(key)] = rows[i]
	}
	for i := range own {
		if err := x.stageOp(t, &own[i]); err != nil {
			return failed(err)
		}
	}
	return nil
}

func (x *txn) stageOp(t *transaction.KVTxn, op *engine.Op) error {
	key := x.view.engine.valueKey(op.Key)
	if op.Kind == engine.Merge {
		return t.Set(deltaKey(key, x.view.ts), appendDelta(nil, op.Value)) // after all values that it may have read
	}
	r := x.rows[string(op.Key)]
	r.key = op.Key
	if err := x.view.engine.deleteDeltas(t, &r); err != nil {
		return err
	}
	if op.Kind == engine.Delete {
		return t.Delete(key)
	}
	return t.Set(key, appendValue(nil, r.stamp, op.Value)) // deltas that did not count before still do not
}

// Get reads a key.
func (x *txn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	own, err := x.written()
	if err != nil {
		return false, err
	}
	i, ok := slices.BinarySearchFunc(own, key, compareKey)
	if !ok {
		return x.view.Get(key, fn)
	}
	op := &own[i]
	switch op.Kind {
	case engine.Put:
		return true, fn(op.Value)
	case engine.Delete:
		return false, nil
	}
	value := op.Value
	_, err = x.view.Get(key, func(existing []byte) (err error) {
		value, err = x.view.engine.fold(nil, key, existing, op.Value)
		return err
	})
	if err != nil {
		return false, err
	}
	return true, fn(value)
}

// Scan reads a range.
func (x *txn) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	all, err := x.written()
	if err != nil {
		return err
	}
	m := merger{fold: x.view.engine.fold, o: o, own: within(all, start, end), fn: fn}
	if err := x.view.Scan(start, end, o, m.take); err != nil || m.stopped {
		return err
	}
	return m.rest()
}
