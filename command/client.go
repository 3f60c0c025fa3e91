package command

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/protocol/client/shell"
)

// execCommand is cqld exec: the shell without a prompt.
func execCommand(c *console) *cobra.Command {
	var file, text, keyspace, format string
	cmd := &cobra.Command{
		Use: "exec [ADDR]", GroupID: groupClient, Short: "Run CQL statements and print their results",
		Long: "Run CQL statements and the commands of the shell on the server at ADDR and print their results: those of -e, of a " +
			"file or of the standard input. ADDR is HOST, HOST:PORT or a PORT of this machine; by default, the address that a " +
			"server in the same environment listens on, or " + defaultListen + ". If statements fail, the others are run, and the " +
			"exit code is 1.",
		Example: `exec -e "SELECT cluster_name, release_version FROM system.local"
exec db.example:9042 -f schema.cql --username app`,
	}
	topic(cmd.Flags(), "Statements", func(f *pflag.FlagSet) {
		f.StringVarP(&text, "execute", "e", "", "run these `STATEMENTS`")
		f.StringVarP(&file, "file", "f", "", "run the statements in `FILE`, which may be compressed with gzip (.gz); - is the "+
			"standard input")
		f.StringVarP(&keyspace, "keyspace", "k", "", "use the keyspace `NAME`")
	})
	topic(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		choiceFlag(f, &format, "format", shell.FormatTable, shell.Formats, "`FORMAT` of results: "+oneOf(shell.Formats))
	})
	login := loginFlags(cmd.Flags(), "wait at most this long for the connection and for each answer")
	return newCommand(c, cmd, func(ctx context.Context, args []string) (err error) {
		switch {
		case file != "" && text != "":
			return usagef("exec takes either -f FILE or -e STATEMENTS")
		case file == "" && text == "" && isTerminal(c.stdin):
			return usagef("exec needs -f FILE, -e STATEMENTS or statements in its standard input; the command shell has a prompt")
		}
		if err := login.complete(c, optional(args)); err != nil {
			return err
		}
		o := shell.Options{
			Login: login.Login, RequestTimeout: login.Timeout, Keyspace: keyspace, Version: c.buildVersion(), Out: c.stdout, Err: c.stderr,
			Format: format,
		}
		if o.In, o.Name, err = inputOrFile(c, file); err != nil {
			return err
		}
		return runSession(ctx, c, &o, text, exitFailed)
	})
}

// optional returns the first argument, or "".
func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// pingCommand is cqld ping: the health check of a container, which has the environment of the server.
func pingCommand(c *console) *cobra.Command {
	var secure clientTLS
	var timeout, wait time.Duration
	cmd := &cobra.Command{
		Use: "ping [ADDR]", GroupID: groupClient, Short: "Check whether a server answers CQL",
		Long: "Exit with 0 if the server at ADDR answers a CQL handshake, else with 1. No password is needed. ADDR is HOST, " +
			"HOST:PORT or a PORT of this machine; by default, the address that a server in the same environment listens on, " +
			"or " + defaultListen + ".",
		Example: "ping\nping 127.0.0.1:9043 --wait 30s",
	}
	topic(cmd.Flags(), "Time", func(f *pflag.FlagSet) {
		f.DurationVar(&timeout, "timeout", 5*time.Second, "wait at most this long for an answer")
		f.DurationVar(&wait, "wait", 0, "retry for this long, until the server answers; by default, try once")
	})
	secure.addFlags(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		config, err := secure.config()
		if err != nil {
			return err
		}
		addr := serverAddress(c, optional(args))
		return pingUntil(ctx, addr, config, c.stdout, timeout, wait)
	})
}

// The backoff between two attempts of ping --wait grows from minPause to maxPause.
const (
	minPause = 20 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// pingUntil pings a server until it answers or wait has passed, at least once.
func pingUntil(
	ctx context.Context, addr string, config *tls.Config, out io.Writer, timeout, wait time.Duration,
) error {
	deadline := time.Now().Add(wait)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		limit := timeout
		if left := time.Until(deadline); left > 0 {
			limit = min(limit, left)
		}
		attempt, cancel := context.WithTimeout(ctx, limit)
		err := shell.Ping(attempt, addr, config, out)
		cancel()
		left := time.Until(deadline)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case left <= 0 && wait > 0:
			return fmt.Errorf("%w; gave up after %v", err, wait)
		case left <= 0:
			return err
		}
		select {
		case <-time.After(min(pause, left)):
		case <-ctx.Done():
			return err
		}
	}
}

// clientTLS has the TLS flags of commands that connect to a server.
type clientTLS struct {
	on    switchTLS
	files certificateFiles
	name  string
}

// addFlags adds the flags.
func (t *clientTLS) addFlags(f *pflag.FlagSet) {
	topic(f, "TLS", func(f *pflag.FlagSet) {
		f.VarPF(&t.on, "tls", "", "encrypt the connection; the other flags of TLS imply this").NoOptDefVal = "true"
		f.StringVar(&t.files.authorities, "tls-ca", "", "trust the authorities in `FILE` (PEM) instead of the system's")
		f.StringVar(&t.files.certificate, "tls-cert", "", "present the client certificate in `FILE` (PEM)")
		f.StringVar(&t.files.key, "tls-key", "", "private key of --tls-cert, in `FILE` (PEM)")
		f.StringVar(&t.name, "tls-name", "", "require a certificate for `NAME` instead of the host of ADDR")
	})
}

// config reads the files. It returns nil if the connection is not encrypted.
func (t *clientTLS) config() (*tls.Config, error) {
	if !t.on && t.name == "" && t.files == (certificateFiles{}) {
		return nil, nil
	}
	if (t.files.certificate == "") != (t.files.key == "") {
		return nil, usagef("--tls-cert and --tls-key need each other")
	}
	own, trusted, err := t.files.read()
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: own, RootCAs: trusted, ServerName: t.name}, nil
}

// inputOrFile returns the statements of a file, or else the standard input, and the name for errors.
func inputOrFile(c *console, file string) (io.Reader, string, error) {
	if file == "" || file == "-" {
		return c.stdin, "<stdin>", nil
	}
	script, err := cqlfiles.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		err = cannotRead(file, err)
	}
	return strings.NewReader(script.Text), file, err
}

// serverAddress returns the address to connect to: addr, or the one that a server with the same environment listens
// on, or the default.
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

// nodesCommand is cqld nodes: it prints the nodes of a cluster.
func nodesCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "nodes [ADDR]", GroupID: groupClient, Short: "List the nodes of a cluster",
		Long: "List the nodes of the cluster as the server at ADDR sees them: whether they are up, their addresses, " +
			"datacenters, racks, tokens and versions.",
		Example: "nodes\nnodes 192.0.2.11:9042",
	}
	login := loginFlags(cmd.Flags(), "wait at most this long for the answer")
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if err := login.complete(c, optional(args)); err != nil {
			return err
		}
		return shell.Nodes(ctx, &login.Login, c.stdout)
	})
}

// login has the flags with which a command connects to a server.
type login struct {
	shell.Login
	secure clientTLS
}

// loginFlags adds the flags of a command that connects to a server. timeout is the usage of --timeout.
func loginFlags(f *pflag.FlagSet, timeout string) *login {
	l := &login{}
	topic(f, "Authentication", func(f *pflag.FlagSet) {
		f.StringVar(&l.Username, "username", "", "log in as the role `NAME`, if the server asks")
		f.StringVar(&l.Password, "password", "", "`PASSWORD` of the role; the environment hides it from other users")
	})
	topic(f, "Time", func(f *pflag.FlagSet) {
		f.DurationVar(&l.Timeout, "timeout", 30*time.Second, timeout)
	})
	l.secure.addFlags(f)
	return l
}

// quietFlag adds --quiet, which turns progress off.
func quietFlag(f *pflag.FlagSet) *bool {
	quiet := false
	topic(f, "Output", func(f *pflag.FlagSet) { f.BoolVar(&quiet, "quiet", false, "do not show progress") })
	return &quiet
}

// complete sets the address of the server and reads the TLS files.
func (l *login) complete(c *console, addr string) (err error) {
	l.Addr = serverAddress(c, addr)
	l.TLS, err = l.secure.config()
	return err
}

// query connects, and returns queries of all rows of a result; each has the time of --timeout.
func (l *login) query(ctx context.Context) (query model.Query, conn *client.Conn, err error) {
	dialing, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	conn, err = client.Dial(dialing, l.Addr, client.Options{Username: l.Username, Password: l.Password, TLS: l.TLS})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, statement string) (*client.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, l.Timeout)
		defer cancel()
		return model.QueryOn(conn)(ctx, statement)
	}, conn, nil
}
