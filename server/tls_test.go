package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// Statements, large answers and bursts go through TLS as they go without, in every version of both protocols.
func TestTLS(t *testing.T) {
	s := withTable(t, cqltest.WithTLS())
	fill(t, s, 200, 4096)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
			config := s.TLSConfig()
			config.MinVersion, config.MaxVersion = version, version
			c := connect(t, s, client.Options{Version: v, TLS: config, Compression: protocol.LZ4})
			if r := run(t, c, "SELECT * FROM ks.wide"); len(r.Rows) != 200 {
				t.Errorf("%s: %d rows", v, len(r.Rows))
			}
			r := run(t, c, "SELECT ssl_enabled, ssl_protocol, ssl_cipher_suite FROM system_views.clients")
			shown := fmt.Sprintf("%x %s", r.Rows[0][0], r.Rows[0][1])
			if want := fmt.Sprintf("01 TLSv1.%d", version-tls.VersionTLS10); shown != want || len(r.Rows[0][2]) == 0 {
				t.Errorf("system_views.clients shows %s %s, want %s", shown, r.Rows[0][2], want)
			}
			c.Close()
			eventually(t, "the connection ends", func() bool { return inside.Of(s).Metrics().Connections == 0 })
		}
	}
}

// Connections that are not what the server wants are closed without an answer.
func TestTLSRefuses(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithTLS(), inside.Log(zerolog.Nop()))
	plain := dialRaw(t, s)
	plain.send("040000010500000000")
	plain.expectClosed()
	old := s.TLSConfig()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	stranger := &tls.Config{RootCAs: x509.NewCertPool()}
	for name, config := range map[string]*tls.Config{"TLS 1.1": old, "an unknown authority": stranger} {
		if _, err := client.Dial(testContext(t), s.Addr(), client.Options{TLS: config}); err == nil {
			t.Errorf("%s: connected", name)
		}
	}
	eventually(t, "the handshakes have failed", func() bool { return inside.Of(s).Metrics().HandshakesFailed == 3 })
	connect(t, s, client.Options{TLS: s.TLSConfig()})
}

// Where clients need certificates, those without one are refused, and so are certificates of other authorities.
func TestTLSClientCertificates(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithClientCertificates(), inside.Log(zerolog.Nop()))
	other := cqltest.RunT(t, cqltest.WithClientCertificates())
	foreign := other.TLSConfigOf(t)
	foreign.RootCAs = s.CertPool()
	for name, config := range map[string]*tls.Config{"no certificate": s.TLSConfig(), "one of another authority": foreign} {
		if _, err := client.Dial(testContext(t), s.Addr(), client.Options{TLS: config}); err == nil {
			t.Errorf("%s: connected", name)
		}
	}
	run(t, connect(t, s, client.Options{TLS: s.TLSConfigOf(t)}), "SELECT * FROM system.local")
}

// optional has the port take both kinds of connections.
func optional(t *testing.T, limits server.Limits) (*cqltest.Server, string) {
	t.Helper()
	made := cqltest.RunT(t, cqltest.WithTLS()) // for its certificate
	s := cqltest.RunT(t, inside.TLS(&server.TLS{Config: made.ServerTLSConfig(), Optional: true}),
		inside.Limits(limits), inside.Log(zerolog.Nop()))
	return made, s.Addr()
}

// With optional TLS the first byte of a connection decides.
func TestOptionalTLS(t *testing.T) {
	unfinished := func(addr string) (idle, half net.Conn) {
		for _, c := range []*net.Conn{&idle, &half} {
			var err error
			if *c, err = net.Dial("tcp", addr); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { (*c).Close() })
		}
		if _, err := half.Write([]byte{0x16, 3, 1}); err != nil {
			t.Fatal(err)
		}
		return idle, half
	}
	made, addr := optional(t, server.Limits{Handshake: time.Minute, TLSHandshake: time.Minute})
	unfinished(addr)
	for range 3 {
		for _, o := range []client.Options{{}, {TLS: made.TLSConfig()}} {
			c, err := client.Dial(testContext(t), addr, o)
			if err != nil {
				t.Fatal(err)
			}
			run(t, c, "SELECT * FROM system.local")
			c.Close()
		}
	}
	// Who began a TLS handshake has to go on with it; who has said nothing has the time that CQL gives. No client has to
	// complete a handshake on this server, because on a busy machine 50 ms may be too short for any.
	_, addr = optional(t, server.Limits{Handshake: time.Minute, TLSHandshake: 50 * time.Millisecond})
	idle, half := unfinished(addr)
	_ = half.SetReadDeadline(time.Now().Add(patience))
	if n, err := half.Read(make([]byte, 1)); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("half a handshake: %d bytes, %v", n, err)
	}
	if _, err := idle.Write([]byte{4, 0, 0, 1, 5, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	_ = idle.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(idle, make([]byte, 9)); err != nil {
		t.Errorf("SUPPORTED: %v", err)
	}
}

// Handshakes that are not completed are bounded: the oldest goes when there are too many, and others get through.
func TestHalfOpenHandshakes(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithTLS(), inside.Log(zerolog.Nop()), inside.Limits(server.Limits{
		TLSHandshake: time.Minute, Handshakes: 10,
	}))
	const attackers = 50
	for i := range attackers {
		c := dialRaw(t, s)
		if i%2 == 0 {
			c.send("160301")
		}
	}
	// Each connection begins in a goroutine of its own: one that begins later would be the newer one.
	eventually(t, "all have begun", func() bool { return inside.Of(s).Metrics().HandshakesFailed >= attackers-10 })
	run(t, connect(t, s, client.Options{TLS: s.TLSConfig()}), "SELECT * FROM system.local")
	eventually(t, "the oldest are closed", func() bool {
		m := inside.Of(s).Metrics()
		return m.Connections <= 10+1 && m.HandshakesFailed >= attackers-10
	})
}

// A handshake that takes too long ends.
func TestHandshakeTakesTooLong(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithTLS(), inside.Log(zerolog.Nop()), inside.Limits(server.Limits{
		TLSHandshake: 50 * time.Millisecond,
	}))
	silent, half := dialRaw(t, s), dialRaw(t, s)
	half.send("160301")
	silent.expectClosed()
	half.expectClosed()
}

// A client that hangs up is noticed through TLS, answers under way are written at a shutdown, and nothing is left.
func TestTLSEnds(t *testing.T) {
	s := withTable(t, cqltest.WithTLS())
	fill(t, s, 100, 1000)
	before := atRest(t, s)
	for range 5 {
		c := connect(t, s, client.Options{TLS: s.TLSConfig()})
		sendAll(t, c, 20, queryOf(0, "SELECT * FROM ks.wide"))
		c.Close()
	}
	before.expect(t, s)
	c := connect(t, s, client.Options{TLS: s.TLSConfig()})
	arrived := inside.Of(s).Metrics().Requests["QUERY"]
	sendAll(t, c, 20, queryOf(0, "SELECT * FROM system.local"))
	eventually(t, "the requests have arrived", func() bool { return inside.Of(s).Metrics().Requests["QUERY"] == arrived+20 })
	silent := dialRaw(t, s)
	if err := s.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	silent.expectClosed()
	for i := range 20 {
		if _, err := c.Receive(testContext(t)); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	if _, err := c.Receive(testContext(t)); !errors.Is(err, io.EOF) {
		t.Errorf("behind the answers: %v", err)
	}
}

// Roles are found by the identity in a certificate. Texts are Cassandra 5.0.8's.
func TestCertificateLogin(t *testing.T) {
	t.Parallel()
	passwords := cqltest.RunT(t, cqltest.WithMutualTLSOrPassword(), inside.Log(zerolog.Nop()))
	super := asSuperuser(protocol.V4)
	super.TLS = passwords.TLSConfig()
	c := connect(t, passwords, super)
	run(t, c, "CREATE ROLE app WITH LOGIN = true", "CREATE ROLE nobody", "ADD IDENTITY 'spiffe://test/app' TO ROLE 'app'",
		"ADD IDENTITY 'spiffe://test/nobody' TO ROLE 'nobody'")
	only := passwords.Fork(t, cqltest.WithMutualTLS(), inside.Log(zerolog.Nop()))
	for _, s := range []*cqltest.Server{passwords, only} {
		for _, test := range []struct {
			identities []string
			want       string // the error; "": logged in as app
		}{
			{identities: []string{"spiffe://test/app"}},
			{identities: []string{"https://test/app", "spiffe://test/app", "spiffe://test/other"}},
			{[]string{"spiffe://test/other"}, "Certificate identity 'spiffe://test/other' not authorized"},
			{[]string{"https://test/app"}, "Unable to extract Spiffe from the certificate"},
			{nil, "Unable to extract Spiffe from the certificate"},
			{[]string{"spiffe://test/nobody"}, "nobody is not permitted to log in"},
		} {
			c, err := client.Dial(testContext(t), s.Addr(), client.Options{TLS: s.TLSConfigOf(t, test.identities...)})
			if test.want != "" {
				expectError(t, err, cqlerr.BadCredentials, test.want)
				continue
			}
			if err != nil {
				t.Errorf("%q: %v", test.identities, err)
				continue
			}
			_, err = c.Query(testContext(t), "SELECT * FROM system_auth.roles", nil, nil)
			expectError(t, err, cqlerr.Unauthorized,
				"User app has no SELECT permission on <table system_auth.roles> or any of its parents")
			c.Close()
		}
	}
	_, err := client.Dial(testContext(t), only.Addr(), client.Options{TLS: only.TLSConfig()})
	if err == nil {
		t.Error("connected without a certificate")
	}
	run(t, c, "DROP IDENTITY 'spiffe://test/app'") // effective at once
	_, err = client.Dial(testContext(t), passwords.Addr(),
		client.Options{TLS: passwords.TLSConfigOf(t, "spiffe://test/app")})
	expectError(t, err, cqlerr.BadCredentials, "Certificate identity 'spiffe://test/app' not authorized")
}

// AUTHENTICATE has the class name of Cassandra's authenticator.
func TestAuthenticatorNames(t *testing.T) {
	var names []string
	for _, login := range []cqltest.Option{cqltest.WithMutualTLS(), cqltest.WithMutualTLSOrPassword()} {
		s := cqltest.RunT(t, login)
		conn, err := tls.Dial("tcp", s.Addr(), s.TLSConfigOf(t))
		if err != nil {
			t.Fatal(err)
		}
		b := protocol.AppendRequest(nil, protocol.Header{Version: protocol.V4}, nil, startupMessage)
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 200)
		n, err := conn.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, string(answer[protocol.HeaderSize+2:n]))
		conn.Close()
	}
	want := []string{
		"org.apache.cassandra.auth.MutualTlsAuthenticator",
		"org.apache.cassandra.auth.MutualTlsWithPasswordFallbackAuthenticator",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}
