package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// Options are the parameters of a connection. The zero value means the newest common version, without compression.
type Options struct {
	Version            protocol.Version // 0: the newest
	Compression        protocol.Compression
	Keyspace           string            // exact name, for a USE after the start; "": none
	Username, Password string            // if the server asks
	TLS                *tls.Config       // nil: the connection is not encrypted
	Startup            []protocol.Option // after CQL_VERSION, COMPRESSION and the driver's name

	// Dial opens the connection to an address, without TLS; nil: over TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// Driver name and version in STARTUP, which servers list for their clients.
const (
	driverName    = "cqld client"
	driverVersion = "1.0"
)

// Dial connects to a server and starts the protocol.
func Dial(ctx context.Context, addr string, o Options) (*Conn, error) {
	versions := []protocol.Version{o.Version}
	if o.Version == 0 {
		versions = []protocol.Version{protocol.V5, protocol.V4, protocol.V3}
	}
	var err error
	for _, v := range versions {
		var c *Conn
		if c, err = dialVersion(ctx, addr, v, o); err == nil {
			return c, nil
		}
		if !unsupportedVersion(err) {
			break
		}
	}
	return nil, fmt.Errorf("connect to %s: %w", addr, cause(err))
}

// cause returns the reason of a failed dial without the address.
func cause(err error) error {
	var network *net.OpError
	if !errors.As(err, &network) || network.Op != "dial" {
		return err
	}
	var system *os.SyscallError
	var name *net.DNSError
	switch {
	case errors.As(network.Err, &system):
		return system.Err
	case errors.As(network.Err, &name):
		return errors.New(name.Err)
	}
	return network.Err
}

// unsupportedVersion reports whether a server refused the version. All servers use these texts because drivers check
// them. The second is Cassandra 3.11's answer to v5, which was a beta version there.
func unsupportedVersion(err error) bool {
	e, ok := cqlerr.As(err)
	return ok && e.Code == cqlerr.ProtocolError &&
		(strings.Contains(e.Message, "Invalid or unsupported protocol version") ||
			strings.Contains(e.Message, "USE_BETA flag is unset"))
}

// Connect opens a connection without starting the protocol.
func Connect(ctx context.Context, addr string, v protocol.Version) (*Conn, error) {
	return connect(ctx, addr, v, Options{})
}

// connect opens a connection, through TLS if the options say so.
func connect(ctx context.Context, addr string, v protocol.Version, o Options) (*Conn, error) {
	dial := o.Dial
	if dial == nil {
		var dialer net.Dialer
		dial = func(ctx context.Context, addr string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }
		if o.TLS != nil {
			secure := tls.Dialer{Config: o.TLS}
			dial = func(ctx context.Context, addr string) (net.Conn, error) { return secure.DialContext(ctx, "tcp", addr) }
		}
	}
	sock, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return newConn(sock, v), nil
}

func newConn(sock net.Conn, v protocol.Version) *Conn {
	return &Conn{
		sock: sock, in: bufio.NewReaderSize(sock, 1<<16), enc: protocol.Encoder{Version: v},
		segments: protocol.Segments{Limit: maxBody},
	}
}

func dialVersion(ctx context.Context, addr string, v protocol.Version, o Options) (*Conn, error) {
	c, err := connect(ctx, addr, v, o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx, o); err != nil {
		closed := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
		if closed && o.TLS == nil {
			err = fmt.Errorf("the server closed the connection (it may require TLS): %w", err)
		}
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// start sends STARTUP, logs in if asked to, and uses the keyspace.
func (c *Conn) start(ctx context.Context, o Options) error {
	startup := &protocol.Startup{Options: []protocol.Option{{Key: protocol.OptionCQLVersion, Value: "3.0.0"}}}
	if o.Compression != protocol.NoCompression {
		startup.Options = append(startup.Options,
			protocol.Option{Key: protocol.OptionCompression, Value: o.Compression.String()})
	}
	startup.Options = append(startup.Options, protocol.Option{Key: protocol.OptionDriverName, Value: driverName},
		protocol.Option{Key: protocol.OptionDriverVersion, Value: driverVersion})
	startup.Options = append(startup.Options, o.Startup...)
	answer, err := c.Start(ctx, startup, o.Compression)
	if err != nil {
		return err
	}
	if m, ok := answer.Response.(*protocol.Authenticate); ok {
		if err := c.authenticate(ctx, m.Authenticator, o); err != nil {
			return err
		}
	}
	if o.Keyspace == "" {
		return nil
	}
	_, err = c.Query(ctx, `USE "`+strings.ReplaceAll(o.Keyspace, `"`, `""`)+`"`, nil, nil)
	return err
}

// ErrPasswordWanted means that the server requires a login and Options has no user.
var ErrPasswordWanted = errors.New("the server asks for a user and a password")

// authenticate answers AUTHENTICATE with SASL PLAIN, or with an empty token if the server checks the certificate.
func (c *Conn) authenticate(ctx context.Context, authenticator string, o Options) error {
	token := []byte{} // Cassandra wants one, even if it is empty
	switch {
	case authenticator == protocol.MutualTLSAuthenticator:
	case authenticator == protocol.MutualTLSWithPasswordAuthenticator && o.showsCertificate():
	case o.Username == "":
		return ErrPasswordWanted
	default:
		token = []byte("\x00" + o.Username + "\x00" + o.Password)
	}
	answer, err := c.Do(ctx, &protocol.AuthResponse{Token: token})
	if err != nil {
		return err
	}
	if _, ok := answer.Response.(*protocol.AuthSuccess); !ok {
		return fmt.Errorf("the server's %s asks for more than a user and a password", authenticator)
	}
	return nil
}

// showsCertificate reports whether the client has a certificate.
func (o *Options) showsCertificate() bool {
	return o.TLS != nil && (len(o.TLS.Certificates) > 0 || o.TLS.GetClientCertificate != nil)
}

// Start sends STARTUP and after its response uses the agreed compression and segments.
func (c *Conn) Start(ctx context.Context, m *protocol.Startup, compression protocol.Compression) (*Answer, error) {
	c.Agree(compression, false)
	answer, err := c.Do(ctx, m)
	if err != nil {
		return answer, err
	}
	c.Agree(compression, c.enc.Version.HasSegments())
	return answer, nil
}

// Agree sets compression and segments. Start calls it; tests call it after sending STARTUP themselves.
func (c *Conn) Agree(compression protocol.Compression, segments bool) {
	c.enc.Compression, c.enc.Segments = compression, segments
	c.segments.Compressed = compression == protocol.LZ4
}
