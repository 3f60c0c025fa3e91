package command

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/shell"
)

// isCqlsh reports whether the program is called cqlsh, through a link. Health checks and Testcontainers run cqlsh
// inside a container.
func isCqlsh(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == "cqlsh"
}

// cqlshOptions are the options of cqlsh that cqld understands.
type cqlshOptions struct {
	execute, file, keyspace, username, password string
	connectTime, requestTime                    int // in seconds
}

// addFlags adds the flags, which set o. Flags for colours, encodings and versions are accepted without effect.
func (o *cqlshOptions) addFlags(f *pflag.FlagSet) {
	topic(f, "Statements", func(f *pflag.FlagSet) {
		f.StringVarP(&o.execute, "execute", "e", "", "run these `STATEMENTS`")
		f.StringVarP(&o.file, "file", "f", "", "run the statements in `FILE`; by default, those of the standard input")
		f.StringVarP(&o.keyspace, "keyspace", "k", "", "use the keyspace `NAME`")
	})
	topic(f, "Authentication", func(f *pflag.FlagSet) {
		f.StringVarP(&o.username, "username", "u", "", "log in as the role `NAME`")
		f.StringVarP(&o.password, "password", "p", "", "`PASSWORD` of the role")
	})
	topic(f, "Time", func(f *pflag.FlagSet) {
		f.IntVar(&o.connectTime, "connect-timeout", 5, "wait at most `SECONDS` for the connection")
		f.IntVar(&o.requestTime, "request-timeout", 10, "wait at most `SECONDS` for each answer")
	})
	topic(f, "Without effect", func(f *pflag.FlagSet) {
		f.String("encoding", "", "the `ENCODING` is always UTF-8")
		f.String("cqlversion", "", "the `VERSION` is always that of the server")
		f.String("protocol-version", "", "the `VERSION` is always the newest that the server knows")
		f.BoolP("color", "C", false, "there are no colours")
		f.Bool("no-color", false, "there are no colours")
		f.Bool("no_compact", false, "tables are shown as they are")
	})
}

// cqlshCommand is cqld cqlsh: exec with the options of cqlsh. Its flags are not read from the environment.
func cqlshCommand(c *console) *cobra.Command {
	var o cqlshOptions
	cmd := &cobra.Command{
		Use: "cqlsh [HOST [PORT]]", GroupID: groupClient, Short: "Run CQL statements as scripts call cqlsh",
		Long: "Run CQL statements on the server at HOST and PORT, with the options of cqlsh that scripts use; also run when " +
			"this program has the name cqlsh. There is no prompt. CQLSH_HOST and CQLSH_PORT are read as by cqlsh.",
		Example: `cqlsh -e "DESCRIBE KEYSPACES"
cqlsh -u app -p secret -f schema.cql db.example 9042`,
	}
	o.addFlags(cmd.Flags())
	newCommand(c, cmd, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.runScript(cmd.Context(), c, args) }
	return cmd
}

// runScript runs the statements on the server at an optional host and port.
func (o *cqlshOptions) runScript(ctx context.Context, c *console, where []string) error {
	if o.execute == "" && o.file == "" {
		if in, ok := c.stdin.(*os.File); ok && isTerminal(in) {
			return usagef("this is cqld's cqlsh, which has no prompt: use -e STATEMENTS or -f FILE")
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

// cqlshAddress returns the address to connect to: the given host and port, or CQLSH_HOST and CQLSH_PORT, or the
// address of a server with the same environment.
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
