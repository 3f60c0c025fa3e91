package roles

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
)

// hashQueue schedules bcrypt computations fairly by client network: networks take turns, and each has at most one
// computation at a time. So wrong passwords from one network do not delay logins from others. A network is removed as
// soon as none of its clients waits.
type hashQueue struct {
	mu       sync.Mutex
	free     int // number of further computations that may begin
	networks map[netip.Prefix]*network
	turns    []*network // networks with waiting clients and no computation, in FIFO order
}

// network is a network of clients that log in.
type network struct {
	from      netip.Prefix
	computing bool
	waiting   []chan struct{} // each is closed when its turn comes; in FIFO order
}

// maxWaiting is the maximum queue length of a network. Clients that send the same password for a role share one entry.
const maxWaiting = 100

// errManyLogins refuses a login while too many of its network wait.
var errManyLogins = cqlerr.Overloadedf("Too many logins from this address are waiting. Server is currently in an " +
	"overloaded state and cannot accept more requests.")

func (q *hashQueue) init() {
	q.free = max(1, runtime.GOMAXPROCS(0)/2)
	q.networks = map[netip.Prefix]*network{}
}

// enter waits until a client of a network may compute a hash. The caller calls leave with the network afterwards,
// unless there is an error.
func (q *hashQueue) enter(ctx context.Context, from netip.Prefix) (*network, error) {
	n, turn := q.wait(from)
	if n == nil {
		return nil, errManyLogins
	}
	select {
	case <-turn:
		return n, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(n.waiting, turn); i >= 0 {
		n.waiting = slices.Delete(n.waiting, i, i+1)
		q.forgetIdle(n)
	} else {
		q.free++ // its turn has come meanwhile
		q.next(n)
	}
	return nil, ctx.Err()
}

// wait queues a client, and returns a channel that is closed when its turn comes. The network is nil if its queue is
// full.
func (q *hashQueue) wait(from netip.Prefix) (*network, chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.networks[from]
	if n == nil {
		n = &network{from: from}
		q.networks[from] = n
	}
	if len(n.waiting) >= maxWaiting {
		return nil, nil
	}
	turn := make(chan struct{})
	if n.waiting = append(n.waiting, turn); len(n.waiting) == 1 && !n.computing {
		q.turns = append(q.turns, n)
	}
	q.grant()
	return n, turn
}

// leave ends the turn of a client.
func (q *hashQueue) leave(n *network) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.next(n)
}

// next moves a network whose computation has finished to the end of the queue, if more of its clients wait.
func (q *hashQueue) next(n *network) {
	n.computing = false
	if len(n.waiting) > 0 {
		q.turns = append(q.turns, n)
	}
	q.forgetIdle(n)
	q.grant()
}

// grant gives turns as long as hashes may be computed.
func (q *hashQueue) grant() {
	for q.free > 0 && len(q.turns) > 0 {
		n := q.turns[0]
		q.turns = slices.Delete(q.turns, 0, 1)
		close(n.waiting[0])
		n.waiting = slices.Delete(n.waiting, 0, 1)
		n.computing = true
		q.free--
	}
}

// forgetIdle forgets a network none of whose clients waits or has a hash computed.
func (q *hashQueue) forgetIdle(n *network) {
	if len(n.waiting) > 0 || n.computing {
		return
	}
	if i := slices.Index(q.turns, n); i >= 0 {
		q.turns = slices.Delete(q.turns, i, i+1)
	}
	delete(q.networks, n.from)
}

// NetworkOf is the network to which the logins from an address are attributed: the address itself, or for IPv6 its
// first 64 bits, because one client may have any number of addresses in such a network.
func NetworkOf(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // a connection inside the process has no address
	}
	return p
}
