package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/shell"
)

// isCqlsh reports whether the program is called by the name cqlsh, as by a link to it. Health checks and the modules of
// Testcontainers run cqlsh inside a container.
func isCqlsh(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == "cqlsh"
}

// cqlshOptions are the options of cqlsh that cqld understands.
type cqlshOptions struct {
	execute, file, keyspace, username, password string
	connectTime, requestTime                    int // in seconds
}

// cqlshFlags makes the flags of cqlsh, which set o. Those about colours, encodings and versions have no effect on what
// is printed here.
func cqlshFlags(o *cqlshOptions) *flag.FlagSet {
	f := flag.NewFlagSet("cqlsh", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	text := func(to *string, usage string, names ...string) {
		for _, name := range names {
			f.StringVar(to, name, "", usage)
		}
	}
	text(&o.execute, "the `statements` to run", "e", "execute")
	text(&o.file, "a `file` of statements", "f", "file")
	text(&o.keyspace, "the `keyspace` to use", "k", "keyspace")
	text(&o.username, "the `role` to log in as", "u", "username")
	text(&o.password, "its `password`", "p", "password")
	f.IntVar(&o.connectTime, "connect-timeout", 5, "the `seconds` to wait for the connection")
	f.IntVar(&o.requestTime, "request-timeout", 10, "the `seconds` to wait for an answer")
	none := new(string)
	text(none, "no effect", "encoding", "cqlversion", "protocol-version")
	for _, name := range []string{"C", "color", "no-color", "no_compact"} {
		f.Bool(name, false, "no effect")
	}
	return f
}

// cqlsh runs statements for those who know the options of cqlsh: cqlsh [options] [host [port]].
func cqlsh(ctx context.Context, c *console, args []string) error {
	var o cqlshOptions
	f := cqlshFlags(&o)
	var where []string
	for first := true; first || len(args) > 0; first = false {
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			where, args = append(where, args[0]), args[1:]
		}
		if err := f.Parse(args); err != nil {
			return fmt.Errorf("%w: cqlsh: %w; cqld exec has more", errUsage, err)
		}
		args = f.Args()
	}
	if len(where) > 2 {
		return fmt.Errorf("%w: cqlsh takes a host and a port, not %q", errUsage, where)
	}
	if o.execute == "" && o.file == "" {
		if in, ok := c.stdin.(*os.File); ok && isTerminal(in) {
			return fmt.Errorf("%w: this cqlsh is a part of cqld without a prompt: give -e or -f", errUsage)
		}
		o.file = "-"
	}
	script, err := readScript(c, o.file, o.execute)
	if err != nil {
		return err
	}
	s := shell.Script{
		Addr: cqlshAddress(c, where), Keyspace: o.keyspace, File: script, Out: c.stdout, Err: c.stderr,
		Username: o.username, Password: o.password,
		Timeout: time.Duration(max(o.connectTime, o.requestTime)) * time.Second,
	}
	return s.Run(ctx)
}

// cqlshAddress is where cqlsh connects to: the host and port that are given, CQLSH_HOST and CQLSH_PORT, or the address
// of the server in the same environment.
func cqlshAddress(c *console, where []string) string {
	host, port := c.getenv("CQLSH_HOST"), c.getenv("CQLSH_PORT")
	if len(where) > 0 {
		host = where[0]
	}
	if len(where) > 1 {
		port = where[1]
	}
	if host == "" && port == "" {
		return serverAddress(c, "")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = defaultPort
	}
	return serverAddress(c, net.JoinHostPort(strings.Trim(host, "[]"), port))
}
