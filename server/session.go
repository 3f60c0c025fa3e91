package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
)

// session is what a connection has agreed on and remembers between requests.
type session struct {
	// Set by STARTUP, in the goroutine that reads, and constant when requests run.
	ready         bool
	authenticates bool // STARTUP was right, and AUTH_RESPONSE has to follow
	version       protocol.Version
	compression   protocol.Compression
	throwOverload bool              // over the limits, answer an error instead of waiting
	options       map[string]string // of STARTUP, with keys in upper case

	// shown tells other goroutines that the fields above are set.
	shown atomic.Bool

	// user is who has logged in, as of some version of the roles; nil: nobody has.
	user atomic.Pointer[auth.User]

	// Changed by requests, which run concurrently.
	keyspace  atomic.Pointer[string] // set by USE; nil if none
	events    atomic.Uint32          // bits of eventBits: what REGISTER asked for
	useWarned atomic.Bool            // the warning about USE with prepared statements was sent
}

// currentKeyspace is the keyspace of unqualified names, or "".
func (s *session) currentKeyspace() string {
	if k := s.keyspace.Load(); k != nil {
		return *k
	}
	return ""
}

// storeSession is what virtual tables may show of the connection.
func (c *conn) storeSession() store.Session {
	return store.Session{LocalAddr: c.local, Node: c.node.Number}
}

// keyspaceFor is the keyspace of unqualified names: the request's own or the session's.
func (r *request) keyspaceFor(p *protocol.QueryParameters) (string, error) {
	if !p.Flags.Has(protocol.WithKeyspace) {
		return r.conn.session.currentKeyspace(), nil
	}
	return p.Keyspace, r.conn.server.checkKeyspace(p.Keyspace)
}

// checkKeyspace refuses a keyspace that does not exist. Its name is taken as it is.
func (s *Server) checkKeyspace(name string) error { return planner.CheckUse(s.store.Catalog(), name) }
