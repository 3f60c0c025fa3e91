package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client/shell"
	"github.com/cqld/cqld/protocol/client/shell/prompt"
)

// isCqlsh reports whether the program is called cqlsh, through a link. Health checks and Testcontainers run cqlsh
// inside a container.
func isCqlsh(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == "cqlsh"
}

// shellOptions are the options of cqlsh.
type shellOptions struct {
	execute, file, keyspace, username, password string
	rc, credentials                             string // files
	connectTime, requestTime                    int    // in seconds; 0: as the cqlshrc says
	protocol                                    int
	ssl, color, noColor, terminal, noHistory    bool
	noWarning, version                          bool
	encoding, format                            string
	secure                                      clientTLS
}

// addFlags adds the flags, which set o.
func (o *shellOptions) addFlags(f *pflag.FlagSet) {
	topic(f, "Statements", func(f *pflag.FlagSet) {
		f.StringVarP(&o.execute, "execute", "e", "", "run these `STATEMENTS`")
		f.StringVarP(&o.file, "file", "f", "", "run the statements in `FILE`, which may be compressed with gzip "+
			"(.gz); - is the "+
			"standard input")
		f.StringVarP(&o.keyspace, "keyspace", "k", "", "use the keyspace `NAME`")
	})
	topic(f, "Authentication", func(f *pflag.FlagSet) {
		f.StringVarP(&o.username, "username", "u", "", "log in as the role `NAME`")
		f.StringVarP(&o.password, "password", "p", "", "`PASSWORD` of the role; a file of --credentials hides it "+
			"from other users")
		f.StringVar(&o.credentials, "credentials", "", "read name and password from `FILE`, by default "+
			"~/.cassandra/credentials")
		f.BoolVar(&o.noWarning, "insecure-password-without-warning", false, "do not warn about --password")
		f.BoolVar(&o.ssl, "ssl", false, "encrypt the connection, as the cqlshrc says")
	})
	topic(f, "Time", func(f *pflag.FlagSet) {
		f.IntVar(&o.connectTime, "connect-timeout", 0, "wait at most `SECONDS` for the connection, by default 5")
		f.IntVar(&o.requestTime, "request-timeout", 0, "wait at most `SECONDS` for each answer, by default 10")
	})
	topic(f, "Output", func(f *pflag.FlagSet) {
		choiceFlag(f, &o.format, "format", shell.FormatTable, shell.Formats,
			"`FORMAT` of results: "+oneOf(shell.Formats))
		f.BoolVarP(&o.color, "color", "C", false, "use colours even if the output is no terminal")
		f.BoolVar(&o.noColor, "no-color", false, "use no colours; the variable NO_COLOR has the same effect")
		f.BoolVarP(&o.terminal, "tty", "t", false, "prompt even if the input is no terminal")
		f.BoolVar(&o.noHistory, "disable-history", false, "do not write typed lines to the history")
	})
	topic(f, "Other", func(f *pflag.FlagSet) {
		f.StringVar(&o.rc, "cqlshrc", "", "read settings from `FILE`, by default ~/.cassandra/cqlshrc")
		f.IntVar(&o.protocol, "protocol-version", 0, "use `VERSION` 3, 4 or 5 of the protocol, by default the "+
			"newest that the server has")
		f.StringVar(&o.encoding, "encoding", "", "only the `ENCODING` utf-8 is known")
		f.BoolVarP(&o.version, "version", "v", false, "print the version")
	})
	topic(f, "Without effect", func(f *pflag.FlagSet) {
		f.String("cqlversion", "", "the `VERSION` is always that of the server")
		f.Bool("no_compact", false, "tables are shown as they are")
	})
	o.secure.addFlags(f)
}

// shellCommand is cqld shell, also called cqlsh. Its flags are not read from the environment.
func shellCommand(c *console) *cobra.Command {
	var o shellOptions
	cmd := &cobra.Command{
		Use: "shell [HOST [PORT]]", Aliases: []string{"cqlsh"}, GroupID: groupClient,
		Short: "Run CQL statements interactively, as cqlsh does",
		Long: "Run CQL statements on the server at HOST and PORT, cqld, Cassandra or another one: from the " +
			"terminal, with the options " +
			"of cqlsh, or from a file or the standard input. If this program has the name cqlsh, it runs this " +
			"command. The files " +
			"cqlshrc and credentials and the variables CQLSH_HOST and CQLSH_PORT are read as by cqlsh. HELP lists " +
			"the commands.",
		Example: `shell
shell -e "DESCRIBE KEYSPACES"
shell -u app -p secret -f schema.cql db.example 9042`,
	}
	o.addFlags(cmd.Flags())
	newCommand(c, cmd, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.runShell(cmd.Context(), c, args) }
	return cmd
}

// statementsFailed ends the process with an exit code and no further text: the errors of statements were printed.
type statementsFailed int

// Error is for tests; run prints nothing.
func (statementsFailed) Error() string { return shell.ErrStatements.Error() }

// exitCqlsh is cqlsh's exit code if statements have failed.
const exitCqlsh = 2

// runShell starts the session that the options and the cqlshrc describe.
func (o *shellOptions) runShell(ctx context.Context, c *console, where []string) error {
	if o.version {
		return printVersion(c)
	}
	if o.execute != "" && o.file != "" {
		return usagef("shell takes either -f FILE or -e STATEMENTS")
	}
	if e := strings.ReplaceAll(strings.ToLower(o.encoding), "-", ""); e != "" && e != "utf8" {
		return badFlag("encoding", o.encoding, "only utf-8 is known")
	}
	if o.protocol != 0 && (o.protocol < 3 || o.protocol > 5) {
		return badFlag("protocol-version", strconv.Itoa(o.protocol), "want 3, 4 or 5")
	}
	rc, err := readRC(c, o.rc)
	if err != nil {
		return err
	}
	s := shell.Options{
		Keyspace: o.keyspace, Version: c.buildVersion(), Out: c.stdout, Err: c.stderr, Format: o.format,
		Protocol: protocol.Version(o.protocol),
	}
	if err := o.complete(c, rc, &s, where); err != nil {
		return err
	}
	if s.In, s.Name, err = inputOrFile(c, o.file); err != nil {
		return err
	}
	if s.Terminal && prompt.Supported() && c.ends {
		return o.runPrompt(ctx, c, s)
	}
	return runSession(ctx, c, &s, o.execute, exitCqlsh)
}

// runPrompt runs the session on the terminal.
func (o *shellOptions) runPrompt(ctx context.Context, c *console, s shell.Options) error {
	p := prompt.Options{NoHistory: o.noHistory, History: c.getenv("CQL_HISTORY")}
	if p.History == "" && c.getenv("HOME") != "" {
		p.History = expandHome(c, "~/.cassandra/cqlsh_history")
	}
	err := prompt.Run(ctx, s, p)
	if err != nil && errors.Is(err, shell.ErrConnect) {
		fmt.Fprintln(c.stderr, "Connection error:", shell.ConnectError(s.Addr, err))
		return statementsFailed(exitFailed)
	}
	return err
}

// complete sets the options without a flag, by the cqlshrc and the environment.
func (o *shellOptions) complete(c *console, rc *settingsFile, s *shell.Options, where []string) (err error) {
	s.Addr = shellAddress(c, rc, where)
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return usagef("%q is no address", s.Addr)
	}
	if s.Username, s.Password, err = o.login(c, rc); err != nil {
		return err
	}
	if s.Keyspace == "" {
		s.Keyspace = rc.get("authentication", "keyspace")
	}
	connect, err := rc.number("connection", "timeout", o.connectTime, 5)
	if err != nil {
		return err
	}
	request, err := rc.number("connection", "request_timeout", o.requestTime, 10)
	if err != nil {
		return err
	}
	s.Timeout, s.RequestTimeout = time.Duration(connect)*time.Second, time.Duration(request)*time.Second
	wait, err := rc.number("tracing", "max_trace_wait", 0, 10)
	if err != nil {
		return err
	}
	s.TraceWait = time.Duration(wait) * time.Second
	for i, key := range []string{"float_precision", "double_precision"} {
		if s.Digits[i], err = rc.number("ui", key, 0, 5); err != nil {
			return err
		}
	}
	if s.TimeFormat = rc.get("ui", "time_format"); s.TimeFormat == "" {
		s.TimeFormat = c.getenv("CQLSH_DEFAULT_TIMESTAMP_FORMAT")
	}
	if s.Zone, err = timeZone(c.getenv("TZ"), rc.get("ui", "timezone")); err != nil {
		fmt.Fprintf(c.stderr, "\nWarning: %v\n\n", err)
	}
	s.CopyFile = rc.path
	o.noHistory = o.noHistory || rc.flag("history", "disabled", false)
	typed := o.execute == "" && o.file == ""
	s.Terminal = typed && (o.terminal || rc.flag("ui", "tty", isTerminal(c.stdin)))
	s.Color = o.usesColor(c, rc)
	if s.TLS, err = o.secure.config(); err == nil && s.TLS == nil && (o.ssl || rc.flag("connection", "ssl", false)) {
		s.TLS, err = rc.tls(c, host)
	}
	return err
}

// usesColor reports whether output has colours, as cqlsh decides it, except that NO_COLOR counts too.
func (o *shellOptions) usesColor(c *console, rc *settingsFile) bool {
	switch {
	case o.noColor:
		return false
	case o.color:
		return true
	case o.file != "" || !isTerminal(c.stdout) || c.getenv("NO_COLOR") != "":
		return false
	}
	return rc.flag("ui", "color", hasColors(c.getenv("TERM")))
}

// hasColors reports whether a kind of terminal has colours. cqlsh asks tput; the kinds without colours that are in use
// have such names, and other terminals ignore colours they do not have.
func hasColors(term string) bool {
	return term != "" && term != "dumb" && !strings.HasPrefix(term, "vt") && !strings.HasSuffix(term, "-m") &&
		!strings.HasSuffix(term, "-mono")
}

// timeZone returns the zone with the name in the environment, or else in the cqlshrc.
func timeZone(environment, rc string) (*time.Location, error) {
	for _, name := range []string{environment, rc} {
		if name == "" {
			continue
		}
		zone, err := time.LoadLocation(strings.TrimPrefix(name, ":"))
		if err != nil {
			return time.UTC, fmt.Errorf("the time zone %s is not known here; timestamps are in UTC", name)
		}
		return zone, nil
	}
	return time.UTC, nil
}

// login returns the name and password: from the flags, the file of credentials or the cqlshrc.
func (o *shellOptions) login(c *console, rc *settingsFile) (name, password string, err error) {
	name, password = o.username, o.password
	if password != "" && !o.noWarning {
		fmt.Fprint(c.stderr, "\nWarning: Using a password on the command line interface can be insecure."+
			"\nRecommendation: use the credentials file to securely provide the password.\n\n")
	}
	file := o.credentials
	if file == "" {
		if file = rc.get("authentication", "credentials"); file == "" {
			file = filepath.Join(filepath.Dir(rc.path), "credentials")
		}
	}
	file = expandHome(c, file)
	credentials := &settingsFile{}
	switch info, err := os.Stat(file); {
	case err != nil:
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		fmt.Fprintf(c.stderr, "\nWarning: the credentials file %s is not used: others may read it.\n", file)
	default:
		if credentials, err = readSections(file); err != nil {
			return "", "", err
		}
	}
	for _, from := range []struct {
		file    *settingsFile
		section string
	}{{credentials, "plain_text_auth"}, {rc, "authentication"}} {
		if name == "" {
			name = from.file.get(from.section, "username")
		}
		if password == "" {
			password = from.file.get(from.section, "password")
		}
	}
	return name, password, nil
}

// shellAddress returns the address to connect to. Arguments come first, then CQLSH_HOST and CQLSH_PORT, then the
// cqlshrc. Without all of these it is the address where a server with the same environment listens.
func shellAddress(c *console, rc *settingsFile, where []string) string {
	host, port := c.getenv("CQLSH_HOST"), c.getenv("CQLSH_PORT")
	if host == "" {
		host = rc.get("connection", "hostname")
	}
	if port == "" {
		port = rc.get("connection", "port")
	}
	if len(where) > 0 {
		host = where[0]
	}
	if len(where) > 1 {
		port = where[1]
	}
	switch {
	case host == "" && port == "":
		return serverAddress(c, "")
	case host == "":
		host = "127.0.0.1"
	}
	if _, _, err := net.SplitHostPort(host); err == nil && len(where) == 1 {
		return serverAddress(c, host) // HOST:PORT, which cqlsh does not take
	}
	if port == "" {
		port = defaultPort
	}
	return serverAddress(c, net.JoinHostPort(strings.Trim(host, "[]"), port))
}

// runSession runs the statements of a text, or of the session's input. failed is the exit code if some fail.
func runSession(ctx context.Context, c *console, o *shell.Options, statements string, failed int) error {
	s, err := shell.Start(ctx, *o)
	if errors.Is(err, shell.ErrConnect) && failed == exitCqlsh {
		fmt.Fprintln(c.stderr, "Connection error:", shell.ConnectError(o.Addr, err))
		return statementsFailed(exitFailed)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if statements != "" {
		err = s.RunText(ctx, statements)
	} else {
		err = s.RunInput(ctx)
	}
	if err == shell.ErrStatements { //nolint:errorlint // an error that wraps it has more to say
		return statementsFailed(failed)
	}
	return err
}
