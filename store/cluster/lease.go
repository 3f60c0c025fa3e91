package cluster

import (
	"context"
	"errors"
	"time"
)

// ErrLapsed says that the node does not know whether its definitions are the newest.
var ErrLapsed = errors.New("this node has lost touch with the cluster")

// Holds reports whether the node has its lease: its definitions are the newest, or a node that changes them waits for
// it.
func (n *Node) Holds() bool { return int64(monotonic()) < n.leaseEnd.Load() }

// Lapsed is for how long the node has had no lease; 0: it has it.
func (n *Node) Lapsed() time.Duration { return max(0, monotonic()-time.Duration(n.leaseEnd.Load())) }

// renew makes the lease end at another time of the monotonic clock.
func (n *Node) renew(end time.Duration) {
	n.leaseEnd.Store(int64(end))
	n.absent.Store(false)
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.renewed)
	n.renewed = make(chan struct{})
}

// Await waits until the node has its lease. A node that was stopped for a while gets it again after a moment. After a
// timeout other calls fail at once, until the lease is renewed.
func (n *Node) Await(ctx context.Context) error {
	patience := time.NewTimer(max(2*n.options.Lease, time.Second))
	defer patience.Stop()
	for {
		n.mu.Lock()
		renewed := n.renewed
		n.mu.Unlock()
		switch {
		case n.Holds():
			return nil
		case n.absent.Load():
			return ErrLapsed
		}
		select {
		case <-renewed:
		case <-patience.C:
			n.absent.Store(true)
			return ErrLapsed
		case <-n.ctx.Done():
			return ErrLapsed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lapsed is the time after which the lease of a node that is silent has certainly ended.
func (n *Node) lapsed() time.Duration { return n.options.Lease + n.options.Lease/10 }

// Patience is how long a node that has begun something may take to end it before the others go on without it.
func (n *Node) Patience() time.Duration { return 2 * (n.options.DownAfter + n.options.Lease) }

// Barrier returns when all nodes have definitions of a version, which are stored, or newer ones: nothing is under way
// under older ones. It waits for the leases of nodes that do not answer to end.
func (n *Node) Barrier(ctx context.Context, version uint64) error {
	began := monotonic()
	n.changed.Store(int64(began))
	lapsed := n.lapsed()
	heard := sightings{}
	for {
		all, err := readMembers(n.engine)
		if err != nil {
			return err
		}
		now := monotonic()
		waits := false
		for i := range all {
			m := &all[i]
			if m.HostID == n.own.HostID || m.Definitions >= version || m.Left {
				continue
			}
			s := heard.note(m, now)
			// A lease that is in force was given before the version was stored. A node that goes on to renew its lease
			// is about to follow, and may have writes under way.
			silent := now-s.at > lapsed
			waits = waits || now-began <= lapsed || !silent
		}
		if waits = waits || !n.definitions.Settled(); !waits {
			return n.refresh()
		}
		if now-began > n.options.DownAfter+lapsed {
			n.log.Error().Uint64("version", version).Msg("a node takes long to follow a definition")
			return n.refresh()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-n.ctx.Done():
			return ErrLapsed
		case <-time.After(n.options.Lease / looksPerLease):
		}
	}
}
