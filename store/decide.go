package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Snapshot is the view of the store that Decide gives to its function.
type Snapshot struct {
	store *writer
	src   engine.Reader
	clock uint64    // of deletions, before it was chosen
	seen  *seenRows // the rows that were read; nil: the engine is not shared

	clocked bool  // the timestamp is one of the cluster's clock
	stamp   int64 // the timestamp, where nodes share the engine
}

// Read is Store.Read of the snapshot, for tables whose rows are stored.
func (s *Snapshot) Read(ctx context.Context, r *Read, fn func(*Row) (bool, error)) error {
	_, id, err := s.store.source(r)
	if err != nil {
		return err
	}
	rd := readers.Get().(*reader)
	defer rd.release()
	rd.prepare(ctx, s.store.core, r, id, fn)
	rd.clock = s.clock
	return rd.readSnapshot(s.src)
}

// Timestamp is the timestamp of the decision: later than all earlier decisions in the partition, and than writes that
// were answered before. It is called after all reads.
func (s *Snapshot) Timestamp() (ts int64, err error) {
	if s.seen == nil {
		return s.store.TimestampAt(s.store.now())
	}
	if s.clocked = s.clocked || s.seen.vague || s.seen.future; s.clocked {
		if ts, err = s.store.sharedTimestamp(); err != nil {
			return 0, err
		}
	}
	s.stamp = max(ts, s.store.cluster.After(s.seen.newest))
	return s.stamp, nil
}

// Decide writes the mutations that decide returns, which are of the table and the partition. No other Decide in the
// partition and no TRUNCATE of the table comes between the reads of decide and its writes; an Apply may, and only
// timestamps order its writes. done is called exactly once, as by Apply, when the mutations are written; after an
// error nothing is written, unless it is ErrUnknown.
//
// decide may be called repeatedly and from another goroutine, and only its last result counts. Other writes wait while
// it runs. partition is copied.
func (s *writer) Decide(
	ctx context.Context, t *schema.Table, partition []byte, decide func(*Snapshot) ([]*Mutation, error), done func(error),
) {
	d := decisions.Get().(*decision)
	if d.onUpdate == nil {
		d.onUpdate, d.onOutcome = d.update, d.outcome
	}
	d.ctx, d.snapshot.store, d.table, d.decide, d.done = ctx, s, t.ID, decide, done
	d.snapshot.clock = s.deletions.Clock()
	d.guards[0] = appendGuard(d.guards[0][:0], t, partition)
	s.engine.Update(ctx, d.guards[:], d.onUpdate, d.onOutcome)
}

// decision is one Decide. It is reused with its buffers.
type decision struct {
	ctx      context.Context
	snapshot Snapshot
	table    [16]byte
	guards   [1][]byte
	seen     seenRows
	decide   func(*Snapshot) ([]*Mutation, error)
	done     func(error)

	mutations []*Mutation
	refused   error                  // by decide, or because its mutations cannot be written
	onUpdate  func(engine.Txn) error // update and outcome, as values that are made once
	onOutcome func(error)
}

var decisions = sync.Pool{New: func() any { return new(decision) }}

func (d *decision) update(txn engine.Txn) error {
	s := d.snapshot.store
	d.freeMutations()
	if s.lapsed() || s.state.Load().suspended[d.table] != 0 {
		d.refused = errTruncated // it is decided anew when the table can be used
		return d.refused
	}
	d.snapshot.src = txn
	state := s.state.Load()
	if d.refused = d.decideAndStage(txn); d.refused != nil || len(d.mutations) == 0 {
		return d.refused
	}
	// the mutations may be of the truncated table, and the reads of the old one
	if now := s.state.Load(); now != state && now.ids[d.table] != state.ids[d.table] {
		d.refused = errTruncated
		return d.refused
	}
	if d.snapshot.clocked { // before the next decision, which may write what it has not read either, wherever it is made
		return s.cluster.AwaitPassed(s.closing, d.snapshot.stamp)
	}
	return nil
}

// decideAndStage decides, and gives the mutations to a transaction, with a timestamp that follows from the rows that
// were read or else from the clock.
func (d *decision) decideAndStage(txn engine.Txn) (err error) {
	s := d.snapshot.store
	d.snapshot.seen, d.snapshot.clocked, d.snapshot.stamp = nil, false, 0
	for {
		if s.cluster != nil {
			d.seen.forget(txn, s.cluster.Future())
			d.snapshot.src, d.snapshot.seen = &d.seen, &d.seen
		}
		if d.mutations, err = d.decide(&d.snapshot); err != nil || len(d.mutations) == 0 {
			return err
		}
		if s.cluster != nil {
			d.snapshot.checkTimestamp()
		}
		if err = s.stage(txn, d.mutations, d.snapshot.clock, d.mustCover()); !errors.Is(err, errUnseen) {
			return err
		}
		d.freeMutations()
		d.snapshot.clocked = true
	}
}

// freeMutations ends mutations that are decided again. They are forgotten, because decide may panic then.
func (d *decision) freeMutations() {
	_ = free(d.mutations, errRetried)
	d.mutations = nil
}

// mustCover returns the rows that were read, if they must contain all that are written.
func (d *decision) mustCover() *seenRows {
	if d.snapshot.clocked {
		return nil
	}
	return d.snapshot.seen
}

// errUnseen says that not all written rows were read, so the timestamp has to come from the clock.
var errUnseen = errors.New("not all that is written was read")

// outcome ends the decision, or begins it again where another write or TRUNCATE came in between.
func (d *decision) outcome(err error) {
	s := d.snapshot.store
	if isRetried(err) {
		panics.Go(&s.log, func() {
			if err := s.awaitRetry(d.ctx, err, d.table, d.mutations); err != nil {
				d.end(err)
				return
			}
			s.engine.Update(d.ctx, d.guards[:], d.onUpdate, d.onOutcome)
		})
		return
	}
	if err == nil && s.cluster != nil && len(d.mutations) > 0 {
		s.confirm(d.mutations, d.snapshot.stamp, d.end)
		return
	}
	d.end(err)
}

func (d *decision) end(err error) {
	if d.refused != nil && errors.Is(err, d.refused) {
		err = d.refused // without the text that the engine adds
	}
	err = free(d.mutations, err)
	done := d.done
	d.seen.forget(nil, 0)
	*d = decision{guards: d.guards, seen: d.seen, onUpdate: d.onUpdate, onOutcome: d.onOutcome}
	decisions.Put(d)
	done(err)
}

// isRetried reports whether an update that ended with an error has to run again.
func isRetried(err error) bool {
	return errors.Is(err, errUnmarked) || errors.Is(err, engine.ErrConflict) || errors.Is(err, errTruncated)
}

// awaitRetry waits until an update of mutations of a table can run again. Others may wait for the mutations meanwhile.
func (s *writer) awaitRetry(ctx context.Context, cause error, table [16]byte, ms []*Mutation) (err error) {
	defer panics.Into(&err)
	if errors.Is(cause, errUnmarked) {
		return s.definer.mark(ms)
	}
	for _, m := range ms {
		m.stopWriting()
	}
	_, err = s.usable(ctx, table)
	return err
}

// errRetried ends mutations that are decided again.
var errRetried = errors.New("decided again")

// stage gives the operations of mutations to a transaction. clock is the tombstones' clock from before it began. If
// seen is not nil it must contain all rows that are written.
func (s *writer) stage(txn engine.Txn, ms []*Mutation, clock uint64, seen *seenRows) error {
	if len(ms) == 0 {
		return nil
	}
	first := ms[0]
	first.apply.store, first.apply.group = s.core, append(first.apply.group[:0], ms...)
	ops, err := s.operations(first.ops[:0], ms)
	if first.ops = ops; err != nil {
		return err
	}
	if seen != nil && !seen.covers(ms, ops) {
		return errUnseen
	}
	if changesCounters(ms) {
		if ops, err = unite(ops); err == nil {
			err = putTotals(txn, ops)
		}
		if err != nil {
			return err
		}
		ops = nil // they are written
	} else if slices.ContainsFunc(ms, (*Mutation).hasViews) {
		if err := s.stageWithViews(txn, ms, ops, clock); err != nil {
			return err
		}
		ops = nil // they are written
	}
	ops, first.apply.bound = s.withBound(ops)
	engine.Lend(txn, ops) // their memory is that of the mutations, which end after the update
	return nil
}

// free ends staged mutations, and translates the error for clients.
func free(ms []*Mutation, err error) error {
	if len(ms) == 0 {
		return err
	}
	return ms[0].end(err)
}
