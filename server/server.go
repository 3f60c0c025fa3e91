package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/server/wire"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/pace"
	"github.com/cqld/cqld/store/system"
)

// ErrClosed is returned by Serve when the server was shut down before it began.
var ErrClosed = errors.New("server: closed")

// Options configure a Server. Only Store is required.
type Options struct {
	Store *store.Store
	Log   zerolog.Logger // the zero value logs nothing

	// Advertise is the address in system.local, which drivers connect to. If it is zero, each client sees the address
	// that it dialled.
	Advertise   netip.AddrPort
	ClusterName string // Test Cluster
	Datacenter  string // datacenter1
	Rack        string // rack1

	// Logins makes clients log in and checks their permissions; without it every client may do everything.
	Logins     bool
	Login      Authenticator // how they log in, if they do
	TLS        *TLS          // nil: connections are not encrypted
	Masks      bool          // columns may be masked, and are for those who lack the permission UNMASK
	BcryptCost int           // of the passwords that are stored, up to 12; 0: Cassandra's

	// HTTP is the address of the metrics, for the answer to HTTP clients of the CQL port; zero: there is none.
	HTTP netip.AddrPort

	// StrictReplicas answers Unavailable where a consistency level needs more replicas than this node is. Otherwise the
	// node counts as all replicas that a keyspace asks for.
	StrictReplicas bool

	// Ring makes the server act as several nodes; nil: it is one. ServeRing then takes the place of Serve. Advertise,
	// Datacenter, Rack and StrictReplicas are ignored.
	Ring *RingOptions

	Limits   Limits
	Settings *guardrail.Settings // nil: the defaults
	Shown    map[string]string   // more values for system_views.settings, by Cassandra's names of settings
	Recent   *RecentStatements   // nil: they are not kept
}

// Server answers CQL clients from one store. Its connections share the prepared statements, the limits and
// the counters.
type Server struct {
	store     *store.Store
	exec      *exec.Executor
	log       zerolog.Logger
	limits    Limits
	settings  *guardrail.Settings
	recent    *RecentStatements
	inspector atomic.Pointer[Inspector] // nil: there is none

	alone *node // the node of Serve; nil: there is a ring
	ring  *Ring // nil: the server is one node

	cluster *clusterView // nil: the store shares its engine with no others

	datacenter string        // for replication strategies that name it
	roles      *roles.Keeper // nil: there are no logins
	login      Authenticator
	tls        *TLS // nil: connections are not encrypted
	http       netip.AddrPort
	handshakes handshakes
	logged     observe.LogLimit
	masks      bool

	uuids     *types.UUIDClock
	planner   statements.Planner
	texts     *statements.Texts
	memory    memory
	throttle  *throttle       // nil: the rate of requests is not bounded
	scheduler *pace.Scheduler // of work that may take long
	open      atomic.Int64    // how many connections are open
	metrics   counters
	latencies *observe.Latencies

	ctx    context.Context // ends when Shutdown stops waiting
	cancel context.CancelFunc

	mu            sync.Mutex
	listeners     map[net.Listener]struct{}
	conns         map[*conn]struct{}
	perIP         map[netip.Addr]int
	registered    int64 // connections that get events
	closing       bool
	running       sync.WaitGroup // listeners and connections
	watchdogEnded chan struct{}  // nil: the watchdog does not run
	rounds        atomic.Int64   // how many rounds the watchdog has made

	events  wire.EventQueue
	streams streams

	batches [exec.Counter + 1]observe.Amounts // of partitions, by the kind of batch
}

// New makes a server of a store: it adds the tables that show this server to the store.
func New(o Options) (*Server, error) {
	if o.Store == nil {
		return nil, errors.New("server: Options.Store is missing")
	}
	if o.Settings == nil {
		o.Settings = guardrail.Default()
	}
	s := &Server{
		store:    o.Store,
		log:      o.Log,
		limits:   o.Limits.withDefaults(),
		settings: o.Settings,
		recent:   o.Recent,

		datacenter: o.Datacenter,
		masks:      o.Masks,
		login:      o.Login,
		tls:        o.TLS,
		http:       o.HTTP,

		listeners: make(map[net.Listener]struct{}),
		conns:     make(map[*conn]struct{}),
		perIP:     make(map[netip.Addr]int),
	}
	if o.Logins {
		var err error
		if s.roles, err = roles.Open(roles.Options{
			Store: o.Store, Log: o.Log, Cost: o.BcryptCost, Datacenter: o.Datacenter, HasDatacenter: s.hasDatacenter(o),
		}); err != nil {
			return nil, err
		}
	}
	s.exec = exec.New(o.Store, s.roles, o.Settings, o.Log)

	if o.StrictReplicas {
		s.exec.StrictReplicas(cmp.Or(o.Datacenter, system.DefaultDatacenter))
	}
	host := o.Store.HostID() // random, and the same as long as the data is there
	s.uuids = types.NewUUIDClock([8]byte(host[8:]))
	s.latencies = observe.NewLatencies(o.Store)
	s.planner = statements.Planner{
		Store: o.Store, Exec: s.exec, Settings: s.settings, Latencies: s.latencies,
		Limits: parser.Limits{Length: s.limits.Statement, Nesting: s.limits.Nesting},
		Logins: o.Logins, Masks: o.Masks, Datacenter: o.Datacenter, Nodes: s.nodesByDatacenter,
	}
	s.texts = statements.NewTexts(&s.planner, s.limits.TextBytes)
	s.memory.init(&s.limits)
	s.throttle = newThrottle(s.limits.RequestsPerSecond)
	s.handshakes.limit = s.limits.Handshakes
	s.logged.Log, s.events.Log = o.Log, &s.log
	s.scheduler = pace.NewScheduler(pace.Options{
		Running:  runtime.GOMAXPROCS(0),
		Started:  s.limits.Reads,
		PerParty: s.limits.ConnectionReads,
		Slice:    readSlice,
		Room:     s.memory.answers.Room,
	})
	if o.Ring != nil {
		s.ring = s.startRing(o.Ring)
	} else {
		if n := o.Store.Cluster(); n != nil {
			s.joinCluster(n)
		}
		s.alone = s.newNode(&ring.Node{Number: 1})
	}
	s.registerSystem(o)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// readSlice is how long a turn runs before others run.
const readSlice = 4 * time.Millisecond

// Serve accepts connections until Shutdown, which makes it return nil, or until the listener fails. It may
// be called for several listeners. A server with a ring is served by ServeRing.
func (s *Server) Serve(l net.Listener) error {
	if s.alone == nil {
		return errors.Join(errors.New("server: each node of a ring has its own listener"), l.Close())
	}
	if !s.addListener(s.alone, l) {
		return errors.Join(ErrClosed, l.Close())
	}
	defer s.running.Done()
	return s.accept(s.alone, l)
}

// accept accepts connections to a node until its listener is closed by the server, or fails.
func (s *Server) accept(n *node, l net.Listener) error {
	for {
		socket, err := l.Accept()
		if err == nil {
			panics.Run(&s.log, func() { s.admit(newConn(n, socket, rand.Uint32())) })
			continue
		}
		if !s.listensOn(l) {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept connections on %s: %w", l.Addr(), err)
		}
		// Probably no file descriptors are left; connections that end free some.
		if s.logged.Allow(cannotAccept, netip.Addr{}) {
			s.log.Error().Err(err).Msg(cannotAccept)
		}
		time.Sleep(acceptPause)
	}
}

const cannotAccept = "cannot accept a connection"

// acceptPause is how long Serve waits after a listener has failed.
const acceptPause = 50 * time.Millisecond

// Go runs fn in a goroutine. If fn panics, that is logged.
func (s *Server) Go(fn func()) { panics.Go(&s.log, fn) }

// addListener notes that connections to a node are accepted. It reports false if the server is closing.
func (s *Server) addListener(n *node, l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if s.watchdogEnded == nil {
		s.watchdogEnded = make(chan struct{})
		panics.Go(&s.log, s.runWatchdog)
	}
	s.listeners[l] = struct{}{}
	n.accepting = true
	s.running.Add(1)
	return true
}

// listensOn reports whether the server has not closed a listener.
func (s *Server) listensOn(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.listeners[l]
	return open && !s.closing
}

// Shutdown stops accepting, lets the requests in flight be answered, closes every connection and returns
// when the last goroutine has ended. When ctx ends first, the requests are abandoned and ctx's error is
// returned, after the goroutines have ended all the same.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	for l := range s.listeners {
		_ = l.Close() // a listener that is closed already is as good
	}
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()

	refused := time.AfterFunc(queueTime, func() { panics.Run(&s.log, s.scheduler.Refuse) })
	defer refused.Stop()
	stopped := time.AfterFunc(longTime, func() { panics.Run(&s.log, s.scheduler.Stop) })
	defer stopped.Stop()
	ended := make(chan struct{})
	panics.Go(&s.log, func() {
		defer close(ended)
		s.running.Wait()
	})
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = fmt.Errorf("shut down: %w", ctx.Err())
		s.abandon()
		<-ended
	}
	s.cancel()
	if s.watchdogEnded != nil {
		<-s.watchdogEnded
	}
	s.logged.End()
	return err
}

// queueTime is how long Shutdown lets long work wait to be begun. A queue that takes longer would still be there when
// the time for stopping is over: its clients get an error in time to retry elsewhere.
const queueTime = 2 * time.Second

// longTime is how long Shutdown lets long work go on. Longer work would mostly be abandoned without an answer.
const longTime = 3500 * time.Millisecond

// abandon ends all requests and connections at once.
func (s *Server) abandon() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.abort()
	}
}
