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

// updateAttempts is how often an Update runs its function before it says that there is a conflict.
const updateAttempts = 16

// optimisticAttempts is how many of the attempts lock nothing before they commit.
const optimisticAttempts = 2

// Update locks the guards in this process, and runs fn on what was committed when it got the locks. In the cluster they
// are locked by the commit, or before fn runs if there were conflicts.
func (e *Engine) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	if err := e.enter(); err != nil {
		done(err)
		return
	}
	defer e.under.Done()
	done(e.update(ctx, guards, fn))
}

func (e *Engine) update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error) (err error) {
	u := &update{ctx: ctx, fn: fn, outcome: make(chan error, 1)}
	guards = slices.Clone(guards)
	slices.SortFunc(guards, bytes.Compare) // so that no two updates wait for each other
	guards = slices.CompactFunc(guards, bytes.Equal)
	if len(guards) == 1 {
		return e.updateTogether(guards[0], u)
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

// guardKey is what stands for a guard in the cluster.
func (e *Engine) guardKey(guard []byte) []byte { return append(e.area(nil, areaGuards), guard...) }

// repeatUpdate runs a group until nothing has come in between.
func (e *Engine) repeatUpdate(g *updateGroup, guards [][]byte) (err error) {
	for attempt := range updateAttempts {
		g.begin()
		if err = e.attemptUpdate(g, guards, attempt < optimisticAttempts); !errors.Is(err, errRepeat) {
			return err
		}
	}
	return fmt.Errorf("%w: %v", engine.ErrConflict, err)
}

// errRepeat says that an attempt of an update conflicts with a commit.
var errRepeat = errors.New("a key has changed")

// attemptUpdate runs a group and commits what it wrote, unless that undid what it did not see. An optimistic attempt
// locks nothing before: it reads, and its commit fails if another update with one of the guards has come in between.
func (e *Engine) attemptUpdate(g *updateGroup, guards [][]byte, optimistic bool) error {
	ctx := g.updates[0].ctx
	t, err := e.begin()
	if err != nil {
		return refusal{err}
	}
	ts, committed := t.StartTS(), false
	if !optimistic {
		t.SetPessimistic(true)
		defer func() { // fn may panic
			if !committed {
				_ = t.Rollback() // the locks expire where it fails
			}
		}()
		if ts, err = e.lockGuards(ctx, t, guards); err != nil {
			if ctx.Err() != nil {
				g.leaveFrom(1) // the others have time
			}
			return err
		}
	}
	return e.viewAt(ts, func(v *view) error {
		x := newTxn(v)
		if g.run(x); len(x.Ops) == 0 {
			return nil
		}
		if optimistic { // this only notes that the commit locks them
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

// The times that an update waits for another one of another process: for a lock at a time, and all in all.
const (
	lockWait    = 1000 // milliseconds
	lockPatient = 30 * time.Second
)

// lockGuards locks guards, and returns a timestamp before which all other updates with one of them were committed.
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
		case time.Since(began) > lockPatient:
			return 0, fmt.Errorf("%w: a guard was locked for %v: %v", engine.ErrConflict, lockPatient, err)
		case !tikverr.IsErrWriteConflict(err) && !errors.Is(err, tikverr.ErrLockWaitTimeout) && !lostRace(err):
			return 0, refusal{err}
		}
		// What another update committed is to be seen. A later timestamp also keeps client-go from giving the next lock
		// back with the one that it did not get.
		if ts, err = e.now(); err != nil {
			return 0, refusal{err}
		}
	}
}

// txn reads what was committed when it got its guard, and what it has written.
type txn struct {
	view *view
	engine.Writes
	rows   map[string]row // that were read, without values
	own    []engine.Op    // one for each key that was written, sorted by key
	copied int            // operations that are in own
}

// maxNotedRows is how many rows a transaction remembers. Of others it asks the cluster again before it writes them.
const maxNotedRows = 1 << 12

func newTxn(v *view) *txn {
	x := &txn{view: v, rows: map[string]row{}}
	x.Check = v.engine.check
	v.read = func(r *row) {
		if len(x.rows) < maxNotedRows {
			x.rows[string(r.key)] = row{there: r.there, stamp: r.stamp, stamps: slices.Clone(r.stamps)}
		}
	}
	return x
}

// written returns one operation for each key that was written.
func (x *txn) written() ([]engine.Op, error) {
	if x.Err != nil {
		return nil, x.Err
	}
	if x.copied < len(x.Ops) {
		own, err := x.view.engine.united(x.Ops)
		if err != nil {
			return nil, err
		}
		x.own, x.copied = own, len(x.Ops)
	}
	return x.own, nil
}

// takeBack takes back what was written behind the first operations.
func (x *txn) takeBack(kept int) {
	clear(x.Ops[kept:])
	x.Ops, x.Err = x.Ops[:kept], nil
	x.own, x.copied = nil, 0
}

// stage gives a transaction of the cluster what was written, and locks the values that are replaced or deleted, unless
// the commit finds out whether they have changed.
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
		return t.Set(deltaKey(key, x.view.ts), appendDelta(nil, op.Value)) // behind all values that it may have read
	}
	r := x.rows[string(op.Key)]
	r.key = op.Key
	if err := x.view.engine.deleteDeltas(t, &r); err != nil {
		return err
	}
	if op.Kind == engine.Delete {
		return t.Delete(key)
	}
	return t.Set(key, appendValue(nil, r.stamp, op.Value)) // the deltas that did not count before do not count now
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
