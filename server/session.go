package server

import (
	"sync/atomic"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
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

// keyspaceFor is the keyspace of unqualified names: the request's own or the session's.
func (r *request) keyspaceFor(p *protocol.QueryParameters) (string, error) {
	if !p.Flags.Has(protocol.WithKeyspace) {
		return r.conn.session.currentKeyspace(), nil
	}
	return p.Keyspace, r.conn.server.checkKeyspace(p.Keyspace)
}

// checkKeyspace refuses a keyspace that does not exist. Its name is taken as it is.
func (s *Server) checkKeyspace(name string) error { return planner.CheckUse(s.store.Catalog(), name) }

// authorize sets the user of the request, and refuses a statement that the user may not run.
func (r *request) authorize(o *exec.Options, st *statements.Statement) error {
	u, err := r.conn.user(r.context())
	if err != nil {
		return err
	}
	o.User = u
	return r.permit(u, st)
}

// permit refuses a statement that a user may not run.
func (r *request) permit(u *auth.User, st *statements.Statement) error {
	n := st.Needs(r.conn.server.store.Catalog())
	r.roles = r.roles || n.WritesRoles
	return n.Check(u)
}

// authorizeBatch refuses a batch with a statement that the user may not run.
func (r *request) authorizeBatch() error {
	u, err := r.conn.user(r.conn.ctx)
	if err != nil {
		return err
	}
	r.batch.User = u
	for _, st := range r.children {
		if err := r.permit(u, st); err != nil {
			return err
		}
	}
	return nil
}

// validateAuthorization refuses a statement about roles or permissions that is prepared and has mistakes.
func (r *request) validateAuthorization(st *statements.Statement) error {
	a, is := st.Plan.Plan.(*define.Authorization)
	if !is {
		return nil
	}
	u, err := r.conn.user(r.conn.ctx)
	if err != nil {
		return err
	}
	return r.conn.server.roles.Validate(r.conn.ctx, u, &a.Statement)
}
