package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// A node that is alone does not ask the engine for timestamps, because no other node takes any. Its record says that it
// is alone. Another node that joins does not begin before the first one has seen it, has let its timestamps pass and
// has withdrawn that, or before the lease of the first one has ended.
//
// Joining and becoming alone are updates with the same guard, so that neither misses the other.

// isAlone reports whether the node may take timestamps without the engine.
func (n *Node) isAlone() bool { return n.alone.Load() && n.Holds() }

// TakesTime reports whether Timestamp waits for the engine.
func (n *Node) TakesTime() bool { return !n.isAlone() }

// Timestamp returns a timestamp in microseconds that is later than those of all writes that were acknowledged before.
// It fails with ErrLapsed if the node loses its lease meanwhile.
func (n *Node) Timestamp(ctx context.Context) (int64, error) {
	for {
		if ts, ok := n.ownTimestamp(); ok { // perhaps since the last reading of the engine's clock
			return ts, nil
		}
		t, err := n.source.Timestamp(ctx, 1)
		if err == nil {
			if ts := microseconds(t); ts > n.lastOwn.Load() {
				return ts, nil
			}
			if !sleep(ctx, passPoll) { // the timestamps from when the node was alone have not passed
				return 0, ctx.Err()
			}
			continue
		}
		if errors.Is(err, engine.ErrClosed) || ctx.Err() != nil {
			return 0, err
		}
		if err := n.Await(ctx); err != nil {
			return 0, err
		}
	}
}

// ownTimestamp returns a timestamp without asking the engine, if the node is alone. It is at least the last reading of
// the engine's clock, and at most that and ownLimit.
func (n *Node) ownTimestamp() (ts int64, ok bool) {
	if !n.isAlone() {
		return 0, false
	}
	now := n.Now().UnixMicro()
	for {
		last := n.lastOwn.Load()
		ts := max(now, last+1)
		if ts > n.lastOwnMax() {
			return 0, false
		}
		if n.lastOwn.CompareAndSwap(last, ts) {
			return ts, true
		}
	}
}

// passPoll is how often the engine is asked whether a timestamp has passed.
const passPoll = 5 * time.Millisecond

// HasPassed reports whether no node will take a timestamp up to this one. A node that is alone ensures it: it takes
// only later ones itself, also where the engine's clock has jumped and it has not read that yet, and lets this one pass
// before another node may join.
func (n *Node) HasPassed(timestamp int64) bool {
	has := passed(n.source.Seen()) >= timestamp
	if !n.alone.Load() {
		return has
	}
	if !has && timestamp > n.lastOwnMax() {
		return false
	}
	raise(&n.lastOwn, timestamp)
	return has || n.isAlone() // it may have ended to be alone before lastOwn was raised
}

// Future is the latest timestamp that a node may have taken, and a lease more: only a client can have chosen a later
// one. A row that a transaction reads has got its timestamp before the transaction began, so no node's is, also after a
// jump.
func (n *Node) Future() int64 { return passed(n.source.Seen()) + n.options.Lease.Microseconds() }

// AwaitPassed waits until no node can take a timestamp up to this one, unless it is in the future.
//
// It takes timestamps, because each moves the engine's clock on, even if that stands. One of all that wait does so.
func (n *Node) AwaitPassed(ctx context.Context, timestamp int64) error {
	for !n.HasPassed(timestamp) {
		if timestamp > n.Future() {
			return nil
		}
		seen := n.source.Seen()
		last, now := n.polled.Load(), int64(monotonic())
		if now-last < int64(passPoll) || !n.polled.CompareAndSwap(last, now) {
			if !sleep(ctx, passPoll/5) {
				return ctx.Err()
			}
			continue
		}
		if _, err := n.source.Timestamp(ctx, missing(seen, timestamp)); errors.Is(err, engine.ErrClosed) {
			return err
		} else if err != nil {
			if err := n.Await(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownLimit is how much later than the engine's clock the timestamps of a lone node may be.
func (n *Node) ownLimit() time.Duration { return n.options.Lease / 2 }

// lastOwnMax is the latest timestamp that a lone node may take without the engine.
func (n *Node) lastOwnMax() int64 { return n.read.Load().time.Add(n.ownLimit()).UnixMicro() }

// hasOthers reports whether other nodes may take timestamps. A node that is down may come back.
func (n *Node) hasOthers(all []Member) bool {
	return slices.ContainsFunc(all, func(m Member) bool { return m.HostID != n.own.HostID && !m.Left })
}

// noLongerAlone lets the timestamps of this node pass. The caller, who holds ticking, commits the record. If the
// engine's clock stands, the record says for longer that the node is alone, so that others wait.
func (n *Node) noLongerAlone(ctx context.Context) {
	n.alone.Store(false)
	ctx, cancel := context.WithTimeout(ctx, n.options.Lease/ticksPerLease)
	defer cancel()
	n.own.Alone = n.AwaitPassed(ctx, n.lastOwn.Load()) != nil
}

// becomeAlone commits a record which says so, unless another node has joined. The caller holds ticking. If it fails,
// the next tick commits a record which does not say so.
func (n *Node) becomeAlone() {
	alone := n.own
	alone.Alone = true
	became := false
	err := engine.Update(n.ctx, n.engine, countKey, func(txn engine.Txn) error {
		all, err := readMembers(txn)
		if became = err == nil && !n.hasOthers(all); became {
			op := alone.op()
			txn.Put(op.Key, op.Value)
		}
		return err
	})
	if err != nil || !became {
		return
	}
	n.own.Alone = true                     // the rest stays as it is: its host id is read without the lock
	n.alone.Store(n.measure(n.ctx) == nil) // later than the timestamps that others took before they went
}

// awaitLone returns when no other node takes this one to be absent, and the timestamps have passed that were answered
// before.
//
// former reports whether the process that was this node before has let its timestamps not pass.
func (n *Node) awaitLone(ctx context.Context, former bool) error {
	heard := sightings{}
	for {
		all, err := readMembers(n.engine)
		if err != nil {
			return err
		}
		now := monotonic()
		waits, silent := false, former
		for i := range all {
			m := &all[i]
			if m.HostID == n.own.HostID || !m.Alone {
				continue
			}
			silent = true
			waits = waits || !m.Left && now-heard.note(m, now).at <= n.lapsed()
		}
		switch {
		case !silent:
			return nil
		case !waits: // it has taken timestamps that it has not let pass, until its lease has ended
			t, err := n.source.Timestamp(ctx, 1) // the records may have been read before a jump, when it had its lease
			if err != nil {
				return err
			}
			return n.AwaitPassed(ctx, passed(t)+n.ownLimit().Microseconds())
		}
		if !sleep(ctx, n.options.Lease/looksPerLease) {
			return ctx.Err()
		}
	}
}

// sleep waits. It reports false if ctx ends meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
