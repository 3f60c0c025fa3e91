package server

import (
	"context"
	"crypto/x509"
	"encoding/asn1"
	"net/netip"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/auth/roles"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/statements"
)

// authenticate serves a request between STARTUP and the login. It refuses all but AUTH_RESPONSE. The reader waits
// meanwhile, which delays only this client.
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
	c.out.Append(h.Stream, nil, &protocol.AuthSuccess{})
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
		c.server.failedLogin(c.arriving, c.log, c.remote.Addr(), name, began)
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

// failedLoginPause is the least delay of the answer to a failed login.
const failedLoginPause = 100 * time.Millisecond

// failedLogin logs a login that has failed and holds the answer back until ctx ends: a client that guesses passwords on
// one connection can try few of them. The answer comes at a multiple of the pause after the login began, so that its
// time does not reveal how the login failed.
func (s *Server) failedLogin(ctx context.Context, log zerolog.Logger, client netip.Addr, name string, began time.Duration) {
	if s.logged.Allow(loginFailed, client) {
		log.Warn().Str("role", observe.Shown(name)).Msg(loginFailed)
	}
	pause := time.NewTimer(2*failedLoginPause - (monotonic()-began)%failedLoginPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

const loginFailed = "a login failed"

// user is the user of the session, as of now; nil: there are no logins.
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

// Authenticator is a way to log in.
type Authenticator int

// The authenticators of Cassandra.
const (
	ByPassword Authenticator = iota

	// ByCertificate logs a client in as the role of the identity in its certificate.
	ByCertificate

	// ByCertificateOrPassword asks clients that show no certificate for a password.
	ByCertificateOrPassword
)

// class is the name in AUTHENTICATE.
func (a Authenticator) class() string {
	return [...]string{
		ByPassword:              protocol.PasswordAuthenticator,
		ByCertificate:           protocol.MutualTLSAuthenticator,
		ByCertificateOrPassword: protocol.MutualTLSWithPasswordAuthenticator,
	}[a]
}

// byCertificate reports whether a client logs in with its certificate. The content of AUTH_RESPONSE does not matter
// then.
func (a Authenticator) byCertificate(c *conn) bool {
	return a == ByCertificate || a == ByCertificateOrPassword && c.certificate() != nil
}

// certificate is the certificate of the client; nil: it has shown none.
func (c *conn) certificate() *x509.Certificate {
	if s := c.secured.Load(); s != nil && len(s.PeerCertificates) > 0 {
		return s.PeerCertificates[0]
	}
	return nil
}

var subjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// tagURI is the tag of an alternative name that is a URI.
const tagURI = 6

// spiffeID is the first alternative name of a certificate that is a URI and begins with spiffe://, as Cassandra's
// SpiffeCertificateValidator finds it.
func spiffeID(certificate *x509.Certificate) (string, error) {
	if certificate != nil {
		for _, extension := range certificate.Extensions {
			var names []asn1.RawValue
			if !extension.Id.Equal(subjectAltName) {
				continue
			}
			if _, err := asn1.Unmarshal(extension.Value, &names); err != nil {
				break
			}
			for _, n := range names {
				if n.Tag == tagURI && strings.HasPrefix(string(n.Bytes), "spiffe://") {
					return string(n.Bytes), nil
				}
			}
		}
	}
	return "", roles.BadCredentials("Unable to extract Spiffe from the certificate")
}

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
