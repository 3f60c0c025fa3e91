package server

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/auth/roles"
)

// Connect opens a connection to the first node inside the process. It needs no listener, so that a server can be
// prepared before clients reach it.
func (s *Server) Connect() net.Conn { return s.ConnectFor(netip.AddrPort{}, nil) }

// ConnectFor is Connect on behalf of a client elsewhere, such as a visitor of the console. Its address is the one that
// logins are counted and logged by. With a login the connection acts as its role and no password is sent, so that no
// hash is computed.
func (s *Server) ConnectFor(client netip.AddrPort, as *Login) net.Conn {
	ours, theirs := net.Pipe()
	c := newConn(s.allNodes()[0], pipe{ours, client}, rand.Uint32())
	c.inside, c.as = true, as
	s.admit(c)
	return theirs
}

// pipe is the server's end of a connection inside the process, with the address of the client that it is for.
type pipe struct {
	net.Conn
	client netip.AddrPort
}

// RemoteAddr implements net.Conn.
func (p pipe) RemoteAddr() net.Addr {
	if !p.client.IsValid() {
		return p.Conn.RemoteAddr()
	}
	return net.TCPAddrFromAddrPort(p.client)
}

// TakeHTTP waits for n bytes of the memory for requests over HTTP. The owner gives them back with GiveHTTP.
func (s *Server) TakeHTTP(ctx context.Context, owner any, n int64) error {
	return s.memory.http.Take(ctx, owner, n)
}

// GiveHTTP gives back all that an owner has taken.
func (s *Server) GiveHTTP(owner any, n int64) { s.memory.http.Leave(owner, n) }

// Login is a role that has logged in over something other than CQL, by its password.
type Login struct{ session roles.Session }

// Role is the name of the role.
func (l *Login) Role() string { return l.session.Role }

// Login checks the password of a role for a client, as a connection does that logs in: clients of other addresses are
// not delayed, and a failed login is logged. Only a server with logins has roles.
func (s *Server) Login(ctx context.Context, client netip.AddrPort, name, password string) (*Login, error) {
	began := monotonic()
	name, password, err := roles.Credentials([]byte("\x00" + name + "\x00" + password))
	var session roles.Session
	if err == nil {
		session, err = s.roles.Begin(ctx, client.Addr(), name, password)
	}
	if err != nil {
		s.failedLogin(ctx, s.log.With().Stringer("client", client).Logger(), client.Addr(), name, began)
		return nil, err
	}
	return &Login{session}, nil
}

// MayAccess refuses a login whose role lacks the permission to read a table, or to modify it.
func (s *Server) MayAccess(ctx context.Context, l *Login, keyspace, table string, modify bool) error {
	u, err := s.roles.User(ctx, l.Role())
	if err != nil {
		return err
	}
	p := auth.Select
	if modify {
		p = auth.Modify
	}
	need := auth.NewNeed(p, auth.Table(keyspace, table))
	return u.Check(&need)
}

// resumeLogin makes the role of a login the user of the session, unless it may not log in with that password any more.
func (c *conn) resumeLogin() error {
	if err := c.server.roles.Resume(c.ctx, c.as.session); err != nil {
		return err
	}
	return c.loggedIn(c.as.Role())
}
