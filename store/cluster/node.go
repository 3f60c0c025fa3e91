package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// Options describe a node.
type Options struct {
	// Address is where clients connect to. A node that starts at the address of one that was there before takes its
	// place: it has the host id, the number and the tokens.
	Address    netip.AddrPort
	Datacenter string
	Rack       string
	Release    string // of the server, which Members shows

	// Tokens chooses the tokens of a node that joins a datacenter with others; nil: it has none.
	Tokens func(datacenter string, others []Member) []int64

	Now         func() time.Time // the clock of the machine; nil: time.Now
	Lease       time.Duration    // 0: a second
	DownAfter   time.Duration    // without a sign of life a node is down; 0: 5 seconds
	ForgetAfter time.Duration    // for so long a node is down until it is removed; 0: 10 minutes
	Log         zerolog.Logger
}

// ErrNoClock says that an engine cannot be shared.
var ErrNoClock = errors.New("this engine has no clock that servers could share")

// Definitions are followed by a node.
type Definitions interface {
	// Version is the version of the definitions in use, and the one that drivers see.
	Version() (number uint64, schema [16]byte)

	// Follow makes the stored definitions the current ones.
	Follow() error

	// Settled reports whether nothing is under way that began under definitions before those in use.
	Settled() bool
}

// Node is a server of a cluster.
type Node struct {
	*Clock
	engine      engine.Engine
	options     Options
	log         zerolog.Logger
	definitions Definitions

	leaseEnd atomic.Int64 // by the monotonic clock, in nanoseconds
	changed  atomic.Int64 // when the definitions were last seen to change, likewise
	absent   atomic.Bool  // the lease is over, and was waited for in vain
	alone    atomic.Bool  // the record says so; see alone.go
	lastOwn  atomic.Int64 // the last timestamp that the node has taken or answered while it was alone
	polled   atomic.Int64 // when AwaitPassed has last asked the engine, by the monotonic clock

	followsLone bool // the process that was this node before was alone, and has let its timestamps not pass

	ticking sync.Mutex // held by a tick
	own     Member     // guarded by ticking

	mu        sync.Mutex
	renewed   chan struct{} // is closed when the lease is renewed, or the node is closed
	sightings sightings
	watchers  []func([]State)
	failing   bool // the last tick has failed
	fellAt    time.Duration

	members atomic.Pointer[[]State]

	ctx    context.Context
	cancel context.CancelFunc
	loop   sync.WaitGroup
}

// Join makes a process a node of the cluster that shares an engine. The node has no lease before Start.
func Join(ctx context.Context, e engine.Engine, o Options) (*Node, error) {
	source, ok := e.(engine.Clock)
	if !ok {
		return nil, ErrNoClock
	}
	o.Lease = cmp.Or(o.Lease, time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.DownAfter = cmp.Or(o.DownAfter, 5*time.Second)
	o.ForgetAfter = cmp.Or(o.ForgetAfter, 10*time.Minute)
	n := &Node{
		engine: e, options: o, log: o.Log, renewed: make(chan struct{}), sightings: sightings{},
	}
	var err error
	if n.Clock, err = newClock(ctx, source, o.Now); err != nil {
		return nil, fmt.Errorf("read the clock of the cluster: %w", err)
	}
	if err := n.register(ctx); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	if err := n.awaitLone(ctx, n.followsLone); err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n, nil
}

func (n *Node) register(ctx context.Context) error {
	var drawn [24]byte
	if _, err := rand.Read(drawn[:]); err != nil {
		return err
	}
	id := [16]byte(drawn[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, version 4
	process := binary.BigEndian.Uint64(drawn[16:])
	for {
		err := engine.Update(ctx, n.engine, countKey, func(txn engine.Txn) error { return n.write(txn, id, process) })
		if !errors.Is(err, engine.ErrConflict) && !errors.Is(err, engine.ErrUnknown) { // it can be written twice
			return err
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

func (n *Node) write(txn engine.Txn, id [16]byte, process uint64) error {
	all, err := readMembers(txn)
	if err != nil {
		return err
	}
	o := &n.options
	m := Member{HostID: id}
	if i := slices.IndexFunc(all, func(m Member) bool { return m.Address == o.Address }); i >= 0 {
		m = all[i]
		n.followsLone = n.followsLone || m.Alone
		all = slices.Delete(all, i, i+1)
	} else {
		var count uint64
		if _, err := txn.Get(countKey, func(b []byte) error {
			count = binary.BigEndian.Uint64(b)
			return nil
		}); err != nil {
			return err
		}
		m.Number = int(count) + 1
		txn.Put(countKey, binary.BigEndian.AppendUint64(nil, count+1))
	}
	if o.Tokens != nil && (len(m.Tokens) == 0 || m.Datacenter != o.Datacenter) {
		m.Tokens = o.Tokens(o.Datacenter, all)
	}
	m.Address, m.Datacenter, m.Rack, m.Release = o.Address, o.Datacenter, o.Rack, o.Release
	m.Process, m.Beat, m.Left, m.Definitions = process, m.Beat+1, false, 0
	n.own = m
	n.own.Alone = !n.hasOthers(all)
	op := n.own.op()
	txn.Put(op.Key, op.Value)
	return nil
}

// Own is the record of the node, as it was when the node joined.
func (n *Node) Own() Member {
	n.ticking.Lock()
	defer n.ticking.Unlock()
	return n.own
}

// HostID is the host id of the node.
func (n *Node) HostID() [16]byte { return n.own.HostID } // it never changes

// Number is the number of the node.
func (n *Node) Number() int { return n.own.Number } // it never changes

// Start makes the node follow definitions. It returns when the node has its first lease.
func (n *Node) Start(d Definitions) error {
	n.definitions = d
	n.alone.Store(n.own.Alone)
	if err := n.tick(); err != nil {
		return err
	}
	n.loop.Add(1)
	panics.Go(&n.log, n.run)
	return nil
}

// ticksPerLease is how often a lease is renewed before it would end.
const ticksPerLease = 4

// looksPerLease is how often a node looks whether definitions change, or others have followed, while it expects that.
const looksPerLease = 32

// expectFor is for how many leases after a change of the definitions more changes are expected: they often come in
// groups, and each waits for all nodes.
const expectFor = 5

// run renews the lease until the node is closed, and sooner where others wait for its record.
func (n *Node) run() {
	defer n.loop.Done()
	ticker := time.NewTicker(n.options.Lease / looksPerLease)
	defer ticker.Stop()
	due := monotonic() + n.options.Lease/ticksPerLease
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-ticker.C:
		}
		isDue := monotonic() >= due
		err := panics.Call(func() (err error) {
			if isDue = isDue || n.isAwaited(); isDue {
				err = n.tick()
			}
			return err
		})
		if !isDue && err == nil {
			continue
		}
		n.note(err)
		due = monotonic() + n.options.Lease/ticksPerLease
	}
}

// isAwaited reports whether a definition may wait for the next record of this node: the definitions have changed again
// soon after a change, or the work that began under older ones has ended. The goroutine of ticks calls it.
func (n *Node) isAwaited() bool {
	number, _ := n.definitions.Version()
	if n.own.Definitions < number && n.definitions.Settled() {
		return true
	}
	changed := time.Duration(n.changed.Load())
	if changed == 0 || monotonic()-changed > expectFor*n.options.Lease {
		return false
	}
	v, err := ReadVersion(n.engine)
	return err == nil && number < v.Number // a tick tells of errors
}

// note logs when the node begins or ends to fail. The watcher of the engine reports that the cluster does not answer.
func (n *Node) note(err error) {
	n.mu.Lock()
	failed, since := n.failing, n.fellAt
	n.failing = err != nil
	if err != nil && !failed {
		n.fellAt = monotonic()
	}
	n.mu.Unlock()
	switch {
	case n.ctx.Err() != nil:
	case panics.Is(err) && !failed:
		panics.Log(&n.log, err).Msg("this node cannot renew its lease: it serves nothing until it can")
	case errors.Is(err, errReplaced) && !failed:
		n.log.Error().Err(err).Msg("this node cannot renew its lease: it serves nothing until it can")
	case err != nil && !failed:
		n.log.Debug().Err(err).Msg("this node cannot renew its lease: it serves nothing until it can")
	case err == nil && failed:
		n.log.Debug().Dur("after", monotonic()-since).Msg("this node has renewed its lease")
	}
}

// errReplaced says that another process is the node now.
var errReplaced = errors.New("another process has taken the place of this node, which has the same address")

// tick follows the definitions, renews the record and the lease, and looks at the other nodes.
func (n *Node) tick() error {
	n.ticking.Lock()
	defer n.ticking.Unlock()
	began := monotonic()
	if err := n.Clock.measure(n.ctx); err != nil {
		return fmt.Errorf("read the clock of the cluster: %w", err)
	}
	v, err := ReadVersion(n.engine)
	if err != nil {
		return err
	}
	number, schema := n.definitions.Version()
	if number < v.Number {
		n.changed.Store(int64(began))
		if err := n.definitions.Follow(); err != nil {
			return fmt.Errorf("follow the definitions: %w", err)
		}
		number, schema = n.definitions.Version()
	}
	all, err := readMembers(n.engine)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(m Member) bool { return m.HostID == n.own.HostID && m.Process != n.own.Process }) {
		return errReplaced
	}
	if !slices.ContainsFunc(all, func(m Member) bool { return m.HostID == n.own.HostID }) {
		return n.rejoin()
	}
	if n.own.Alone && n.hasOthers(all) {
		n.noLongerAlone(n.ctx)
	}
	n.own.Beat++
	if n.definitions.Settled() {
		n.own.Definitions, n.own.Schema = number, schema
	}
	if err := n.commit(n.own.op()); err != nil {
		return fmt.Errorf("renew the record of this node: %w", err)
	}
	n.renew(began + n.options.Lease)
	n.look(all)
	if !n.alone.Load() && !n.hasOthers(all) {
		n.becomeAlone()
	}
	return nil
}

// rejoin, while ticking is held, commits the record of a node that was down for so long that others have removed it.
// The next tick renews the lease.
func (n *Node) rejoin() error {
	n.alone.Store(false)
	n.own.Alone = false
	err := engine.Update(n.ctx, n.engine, countKey, func(txn engine.Txn) error {
		op := n.own.op()
		txn.Put(op.Key, op.Value)
		return nil
	})
	if err != nil {
		return fmt.Errorf("join the cluster again: %w", err)
	}
	return n.awaitLone(n.ctx, false)
}

func (n *Node) commit(ops ...engine.Op) error {
	outcome := make(chan error, 1)
	n.engine.Commit(ops, func(err error) { outcome <- err })
	return <-outcome
}

// Close ends the lease and tells the other nodes that this one is gone.
func (n *Node) Close() error {
	n.cancel()
	n.loop.Wait()
	n.ticking.Lock()
	defer n.ticking.Unlock()
	n.renew(0)
	if n.own.Alone {
		n.noLongerAlone(context.Background())
	}
	n.own.Beat++
	n.own.Left = true
	return n.commit(n.own.op())
}
