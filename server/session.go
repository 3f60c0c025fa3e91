package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
)

// session is the state of a connection between requests.
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

	// user is the user who has logged in, as of some version of the roles; nil: none has.
	user atomic.Pointer[auth.User]

	// Changed by requests, which run concurrently.
	keyspace  atomic.Pointer[string] // set by USE; nil if none
	events    atomic.Uint32          // bits of eventBits, set by REGISTER
	useWarned atomic.Bool            // the warning about USE with prepared statements was sent
}

// currentKeyspace is the keyspace of unqualified names, or "".
func (s *session) currentKeyspace() string {
	if k := s.keyspace.Load(); k != nil {
		return *k
	}
	return ""
}

// storeSession is the connection as virtual tables see it.
func (c *conn) storeSession() store.Session {
	return store.Session{LocalAddr: c.local, Node: c.node.Number}
}

// anonymous is the user of connections that have not logged in.
const anonymous = "anonymous"

// username is the name of the user.
func (s *session) username() string {
	if u := s.user.Load(); u != nil {
		return u.Name
	}
	return anonymous
}

// superuser reports whether the session may do everything: superusers may, and all clients where there are no logins.
func (s *session) superuser() bool { return s.user.Load().IsSuper() }
