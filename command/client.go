package command

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/shell"
)

// execute is cqld exec: it runs statements and prints what they return.
func execute(ctx context.Context, c *console, args []string) error {
	f := newFlags("exec")
	file := f.String("f", "", "a `file` of statements, unpacked if its name ends in .gz; - is the standard input")
	text := f.String("e", "", "the `statements` themselves")
	keyspace := f.String("k", "", "the `keyspace` to use")
	username := f.String("username", "", "the `role` to log in as, if the server asks")
	password := f.String("password", "", "its `password`; the environment does not show it to others")
	var secure clientTLS
	secure.addFlags(f)
	timeout := f.Duration("timeout", 30*time.Second, "the `time` to wait for the connection and for each answer")
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	if (*file == "") == (*text == "") {
		return fmt.Errorf("%w: exec wants either -f FILE or -e CQL", errUsage)
	}
	s := shell.Script{
		Addr: serverAddress(c, addr), Keyspace: *keyspace, Timeout: *timeout, Out: c.stdout, Err: c.stderr,
		Username: *username, Password: *password,
	}
	if s.TLS, err = secure.config(); err != nil {
		return err
	}
	if s.File, err = readScript(c, *file, *text); err != nil {
		return err
	}
	return s.Run(ctx)
}

// ping is cqld ping. It is the container's health check, so it also reads CQLD_LISTEN.
func ping(ctx context.Context, c *console, args []string) error {
	f := newFlags("ping")
	var secure clientTLS
	secure.addFlags(f)
	timeout := f.Duration("timeout", 5*time.Second, "the `time` to wait for an answer")
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	config, err := secure.config()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	return shell.Ping(ctx, serverAddress(c, addr), config, c.stdout)
}

// clientTLS are the flags with which commands connect to a server through TLS.
type clientTLS struct {
	on    switchTLS
	files certificateFiles
	name  string
}

// switchTLS is the value of --tls of these commands. It also takes the values that the flag has for serve, because a
// container's health check has the environment of its server.
type switchTLS bool

// String implements flag.Value.
func (s *switchTLS) String() string { return "" }

// IsBoolFlag lets the flag stand without a value.
func (s *switchTLS) IsBoolFlag() bool { return true }

// Set implements flag.Value.
func (s *switchTLS) Set(text string) error {
	switch text {
	case "true", "required":
		*s = true
	case "false", "optional":
		*s = false
	default:
		return errors.New("want true or false")
	}
	return nil
}

// addFlags adds the flags.
func (t *clientTLS) addFlags(f *flag.FlagSet) {
	f.Var(&t.on, "tls", "connect through TLS; the other flags of TLS do so too")
	f.StringVar(&t.files.authorities, "tls-ca", "", "a `file` in PEM with the authorities to trust; "+
		"empty: those that the system trusts")
	f.StringVar(&t.files.certificate, "tls-cert", "", "a `file` in PEM with a certificate to show")
	f.StringVar(&t.files.key, "tls-key", "", "a `file` in PEM with its key")
	f.StringVar(&t.name, "tls-name", "", "the `name` that the server's certificate has to be for; empty: the host of its address")
}

// config reads the files; nil: the connection is not encrypted.
func (t *clientTLS) config() (*tls.Config, error) {
	if !t.on && t.name == "" && t.files == (certificateFiles{}) {
		return nil, nil
	}
	if (t.files.certificate == "") != (t.files.key == "") {
		return nil, fmt.Errorf("%w: --tls-cert and --tls-key belong together", errUsage)
	}
	own, trusted, err := t.files.read()
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: own, RootCAs: trusted, ServerName: t.name}, nil
}

// readScript returns the statements of a file, "-" being the standard input, or those given as a text.
func readScript(c *console, file, text string) (script cqlfiles.File, err error) {
	switch {
	case text != "":
		return cqlfiles.File{Name: "-e", Text: text}, nil
	case file == "-":
		script, err = cqlfiles.Read(c.stdin, file)
	default:
		script, err = cqlfiles.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file))
		script.Name = file
	}
	if err != nil {
		err = fmt.Errorf("read the statements: %w", err)
	}
	return script, err
}

// addressAndFlags parses a command line with an address before, between or behind the flags.
func addressAndFlags(f *flag.FlagSet, c *console, args []string) (addr string, err error) {
	for first := true; first || len(args) > 0; first = false {
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			if addr != "" {
				return "", fmt.Errorf("%w: one address, not %s and %s", errUsage, addr, args[0])
			}
			addr, args = args[0], args[1:]
		}
		if err := parse(f, c, args); err != nil {
			return "", err
		}
		if args = f.Args(); len(args) > 0 && args[0] == "" {
			return "", errors.Join(errUsage, errors.New("an empty argument"))
		}
	}
	return addr, nil
}

// serverAddress is where ping and exec connect to: ADDR, or the address that a server with the same environment listens
// at, or the default.
func serverAddress(c *console, addr string) string {
	for _, name := range []string{envName("listen"), cassandraPrefix + "RPC_ADDRESS"} {
		if addr == "" {
			addr = c.getenv(name)
		}
	}
	if addr == "" {
		return defaultListen
	}
	host, port, err := net.SplitHostPort(withPort(addr))
	if err != nil {
		return addr
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
