package server

import (
	"context"
	"time"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// authenticate serves a request between STARTUP and the login. It refuses all but AUTH_RESPONSE. The reader waits
// meanwhile: nobody but this client has to.
func (c *conn) authenticate(h protocol.Header, body []byte) {
	c.server.metrics.requests[h.Opcode].Add(1)
	var decoder protocol.Requests
	m, err := decoder.Decode(h, body)
	if err != nil {
		c.refuse(h.Stream, err)
		return
	}
	response, is := m.(*protocol.AuthResponse)
	if !is {
		c.refuse(h.Stream, cqlerr.Protocolf("Unexpected message %s, expecting SASL_RESPONSE", h.Opcode))
		return
	}
	c.pause(func() { err = c.login(response.Token) })
	if err != nil {
		c.refuse(h.Stream, err)
		return
	}
	c.session.authenticates, c.session.ready = false, true
	c.setReadDeadline(time.Time{})
	c.out.append(h.Stream, nil, &protocol.AuthSuccess{})
}

// authResponse serves AUTH_RESPONSE on a connection that is ready: another user may log in. Without logins a client
// that sends a password unasked gets success.
func authResponse(r *request) {
	if r.conn.server.roles != nil {
		if err := r.conn.login(r.message.(*protocol.AuthResponse).Token); err != nil {
			r.fail(err)
			return
		}
	}
	r.answer(&protocol.AuthSuccess{})
}

// login checks a token, or the client's certificate, and makes its user that of the session.
func (c *conn) login(token []byte) error {
	began := monotonic()
	name, err := c.loginName(token)
	if err != nil {
		c.failedLogin(name, began)
		return err
	}
	return c.loggedIn(name)
}

// loginName is the role that logs in, and an error if it may not.
func (c *conn) loginName(token []byte) (name string, err error) {
	if c.server.login.byCertificate(c) {
		identity, err := spiffeID(c.certificate())
		if err != nil {
			return "", err
		}
		return c.server.roles.LoginByIdentity(c.ctx, identity)
	}
	name, password, err := roles.Credentials(token)
	if err == nil {
		err = c.server.roles.Login(c.ctx, c.remote.Addr(), name, password)
	}
	return name, err
}

// loggedIn makes a role the user of the session.
func (c *conn) loggedIn(name string) error {
	u, err := c.server.roles.User(c.ctx, name)
	if err == nil {
		c.session.user.Store(u)
		c.log.Debug().Str("role", name).Msg("logged in")
	}
	return err
}

// failedLoginPause is how long the answer to a failed login is held back at least.
const failedLoginPause = 100 * time.Millisecond

// failedLogin logs a login that has failed and holds the answer back: a client that guesses passwords on one connection
// can try few of them. The answer comes at a multiple of the pause after the login began, so that it does not tell what
// was done before.
func (c *conn) failedLogin(name string, began time.Duration) {
	if c.server.logged.allow(loginFailed, c.remote.Addr()) {
		c.log.Warn().Str("role", shown(name)).Msg(loginFailed)
	}
	pause := time.NewTimer(2*failedLoginPause - (monotonic()-began)%failedLoginPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-c.arriving.Done():
	}
}

const loginFailed = "a login failed"

// username is who has logged in.
func (s *session) username() string {
	if u := s.user.Load(); u != nil {
		return u.Name
	}
	return anonymous
}

// superuser reports whether the session may do everything: superusers may, and everybody where nobody logs in.
func (s *session) superuser() bool { return s.user.Load().IsSuper() }

// user is who has logged in, as of now; nil: nobody logs in.
func (c *conn) user(ctx context.Context) (*auth.User, error) {
	keeper := c.server.roles
	if keeper == nil {
		return nil, nil
	}
	u := c.session.user.Load()
	if u.Version == keeper.Version() {
		return u, nil
	}
	now, err := keeper.User(ctx, u.Name)
	if err == nil {
		c.session.user.CompareAndSwap(u, now)
	}
	return now, err
}
