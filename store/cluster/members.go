package cluster

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// sighting is the last sign of life of a node, as another one has seen it.
type sighting struct {
	process uint64
	beat    uint64
	at      time.Duration // by the monotonic clock
}

// sightings are by the host ids of the nodes.
type sightings map[[16]byte]*sighting

// note notes the record of a node, and returns the last sign of life.
func (all sightings) note(m *Member, now time.Duration) *sighting {
	s := all[m.HostID]
	if s == nil || s.beat != m.Beat || s.process != m.Process {
		s = &sighting{beat: m.Beat, process: m.Process, at: now}
		all[m.HostID] = s
	}
	return s
}

// State is a node as another one sees it.
type State struct {
	Member
	Up bool
}

// Members returns all nodes, in the order in which they have joined. The slice never changes.
func (n *Node) Members() []State {
	if all := n.members.Load(); all != nil {
		return *all
	}
	return nil
}

// Watch has fn called with all nodes, one call after the other, when a node has come or gone.
func (n *Node) Watch(fn func([]State)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watchers = append(n.watchers, fn)
}

// look, while ticking is held, notes signs of life in the records, and forgets nodes that are down for long.
func (n *Node) look(all []Member) {
	now := monotonic()
	states := make([]State, 0, len(all))
	n.mu.Lock()
	for _, m := range all {
		s := n.sightings.note(&m, now)
		own := m.HostID == n.own.HostID
		if own {
			m = n.own
		}
		states = append(states, State{m, own || !m.Left && now-s.at < n.options.DownAfter})
	}
	watchers := n.watchers
	n.mu.Unlock()
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Number, b.Number) })
	before := n.Members()
	n.members.Store(&states)
	if !slices.EqualFunc(before, states, looksSame) {
		for _, fn := range watchers {
			fn(states)
		}
	}
	if n.Leads() {
		n.forget(states, now)
	}
}

func (n *Node) refresh() error {
	n.ticking.Lock()
	defer n.ticking.Unlock()
	all, err := readMembers(n.engine)
	if err == nil {
		n.look(all)
	}
	return err
}

// looksSame reports whether clients see no difference between two states of a node.
func looksSame(a, b State) bool {
	return a.Up == b.Up && a.HostID == b.HostID && a.Address == b.Address && a.Schema == b.Schema &&
		a.Datacenter == b.Datacenter && a.Rack == b.Rack && slices.Equal(a.Tokens, b.Tokens)
}

// Leads reports whether the node is the leader, which does the background work: the first node that is up. For a while
// there may be two leaders.
func (n *Node) Leads() bool {
	for _, s := range n.Members() {
		if s.Up {
			return s.HostID == n.own.HostID && n.Holds()
		}
	}
	return false
}

func (n *Node) forget(states []State, now time.Duration) {
	for _, s := range states {
		n.mu.Lock()
		seen := n.sightings[s.HostID]
		n.mu.Unlock()
		if s.Up || now-seen.at < n.options.ForgetAfter {
			continue
		}
		n.engine.Update(n.ctx, [][]byte{s.key()}, func(txn engine.Txn) error {
			same := false
			if _, err := txn.Get(s.key(), func(b []byte) error {
				same = bytes.Equal(b, s.op().Value)
				return nil
			}); err != nil {
				return err
			}
			if same {
				txn.Delete(s.key())
			}
			return nil
		}, func(err error) {
			if err != nil {
				n.log.Error().Err(err).Stringer("address", s.Address).Msg("cannot remove the record of a node that is gone")
			}
		})
	}
}
