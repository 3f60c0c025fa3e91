package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// visitor is the role that pages act as. The zero value acts on a server without logins.
type visitor struct {
	name  string
	login *server.Login
}

// editorDriver is the name of the connection that statements of the editor run on. Unlike the queries of the pages,
// they are recorded, and faults apply to them.
const editorDriver = "cqld console"

// connect opens a connection inside the process with the permissions of the visitor, for a request from an address.
func (c *Console) connect(ctx context.Context, from netip.AddrPort, v *visitor, driver string) (*client.Conn, error) {
	return client.Dial(ctx, "the server itself", client.Options{
		Version: protocol.V5,
		Startup: []protocol.Option{{Key: protocol.OptionDriverName, Value: driver}},
		Dial: func(context.Context, string) (net.Conn, error) {
			return c.o.Server.ConnectFor(from, v.login), nil
		},
	})
}

// Sender is the address that a request comes from.
func Sender(r *http.Request) netip.AddrPort {
	from, _ := netip.ParseAddrPort(r.RemoteAddr) // net/http sets it
	return netip.AddrPortFrom(from.Addr().Unmap().WithZone(""), from.Port())
}

// The limits of sessions. Those of one role cannot end the sessions of others.
const (
	maxSessions     = 1024
	maxRoleSessions = 16
	sessionTime     = 12 * time.Hour
	idleTime        = time.Hour
)

// sessions are the visitors who have logged in, by the hashes of their cookies.
type sessions struct {
	cookie string // its name differs between servers: browsers send cookies of one port to all ports of a host
	mu     sync.Mutex
	all    map[[sha256.Size]byte]*session
}

type session struct {
	visitor     visitor
	begun, used time.Time
}

func (s *session) isOver(now time.Time) bool {
	return now.Sub(s.begun) > sessionTime || now.Sub(s.used) > idleTime
}

func (s *sessions) init() {
	s.cookie, s.all = "cqld-"+rand.Text()[:8], map[[sha256.Size]byte]*session{}
}

// begin starts a session and returns its cookie. If there are too many sessions, of its role or in all, the one of them
// that was not used for longest ends.
func (s *sessions) begin(v visitor) *http.Cookie {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	value := hex.EncodeToString(secret[:])
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ [sha256.Size]byte, one *session) bool { return one.isOver(now) })
	s.limit(maxRoleSessions, func(one *session) bool { return one.visitor.name == v.name })
	s.limit(maxSessions, func(*session) bool { return true })
	s.all[sha256.Sum256([]byte(value))] = &session{visitor: v, begun: now, used: now}
	return &http.Cookie{
		Name: s.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(sessionTime.Seconds()),
	}
}

// limit ends the session not used for longest, if there are as many of a kind as may be. The lock is held.
func (s *sessions) limit(n int, is func(*session) bool) {
	var oldest [sha256.Size]byte
	for key, one := range s.all {
		if !is(one) {
			continue
		}
		if n--; s.all[oldest] == nil || one.used.Before(s.all[oldest].used) {
			oldest = key
		}
	}
	if n <= 0 {
		delete(s.all, oldest)
	}
}

// of returns the visitor of a request, or nil.
func (s *sessions) of(r *http.Request) *visitor {
	cookie, err := r.Cookie(s.cookie)
	if err != nil {
		return nil
	}
	key, now := sha256.Sum256([]byte(cookie.Value)), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[key]
	if one == nil || one.isOver(now) {
		delete(s.all, key)
		return nil
	}
	one.used = now
	return &one.visitor
}

// end ends the session of a request.
func (s *sessions) end(r *http.Request) {
	if cookie, err := r.Cookie(s.cookie); err == nil {
		s.mu.Lock()
		delete(s.all, sha256.Sum256([]byte(cookie.Value)))
		s.mu.Unlock()
	}
}

// visitor returns the visitor of a request, or nil for one who has to log in.
func (c *Console) visitor(r *http.Request) *visitor {
	if !c.o.Logins {
		return c.everyone
	}
	return c.sessions.of(r)
}
