package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// A node that is alone does not wait for timestamps to pass, because no other node takes any. Its record says that it
// is alone. Another node that joins does not begin before the first one has seen it, has let its timestamps pass and
// has withdrawn that, or before the lease of the first one has ended.
//
// Joining and becoming alone are updates with the same guard, so that neither misses the other.

// aloneWithin is how many steps of the engine's clock the timestamps of a lone node may be later than that clock. A
// joining node waits for as many steps.
const aloneWithin = 2

// Until returns how long it takes until no node can take a timestamp up to this one, in microseconds; 0: none can.
func (n *Node) Until(timestamp int64) time.Duration {
	d := n.Clock.Until(timestamp)
	if d <= n.margin() && n.alone.Load() && n.Holds() {
		return 0
	}
	return d
}

// margin is how much later than the clock the timestamps of a lone node may be.
func (n *Node) margin() time.Duration { return aloneWithin * n.source.Step() }

// hasOthers reports whether other nodes may take timestamps. A node that is down may come back.
func (n *Node) hasOthers(all []Member) bool {
	return slices.ContainsFunc(all, func(m Member) bool { return m.HostID != n.own.HostID && !m.Left })
}

// noLongerAlone lets the timestamps of this node pass. The caller, who holds ticking, commits the record.
func (n *Node) noLongerAlone() {
	n.alone.Store(false)
	n.own.Alone = false
	for last := n.Now().UnixMicro(); ; {
		d := n.Clock.Until(last)
		if d == 0 || !n.sleep(d) {
			return
		}
	}
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
	if err == nil && became {
		n.own.Alone = true // the rest stays as it is: its host id is read without the lock
		n.alone.Store(true)
	}
}

// awaitLone returns when no other node takes this one to be absent, and the timestamps have passed that were answered
// before.
func (n *Node) awaitLone(ctx context.Context) error {
	heard := sightings{}
	for waits := true; waits; {
		all, err := readMembers(n.engine)
		if err != nil {
			return err
		}
		now := monotonic()
		waits = false
		for i := range all {
			m := &all[i]
			if m.HostID == n.own.HostID || m.Left || !m.Alone {
				continue
			}
			waits = waits || now-heard.note(m, now).at <= n.lapsed()
		}
		d := n.options.Lease / looksPerLease
		if !waits {
			d = n.margin()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
		}
	}
	return nil
}

// sleep waits. It reports false if the node is closed meanwhile.
func (n *Node) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-n.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
