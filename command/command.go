// Package command has the commands of cqld. The program cqld has them, and cqld-cluster, whose server has its data in a
// cluster.
//
// command.go chooses the command. serve.go runs the server from the settings that flags.go reads, or cassandra_env.go
// for containers; init.go runs the scripts of --init; certificates.go reads the files of TLS. shared.go makes it a
// node of several that share an engine. memory.go, processors.go, descriptors.go, http.go and metrics.go are about
// its process. client.go, nodes.go and cqlsh.go have the flags of ping, exec, nodes and cqlsh, which are in
// protocol/client/shell; traffic.go has those of proxy and replay, which are in protocol/client/traffic.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// command is one of the commands. Its error is printed as one line.
type command struct {
	name, usage string
	run         func(ctx context.Context, c *console, args []string) error
}

var commands = []command{
	{"serve", "[flags]                      run the server (also without the word serve)", serve},
	{"ping", "[ADDR]                       succeed once the server at ADDR answers", ping},
	{"nodes", "[ADDR]                      print the nodes of the cluster that the server at ADDR is in", listNodes},
	{"exec", "[ADDR] -f FILE | -e CQL      run statements and print what they return", execute},
	{"cqlsh", "[-e CQL | -f FILE] [HOST]    the same with options of cqlsh; also where cqld is named cqlsh", cqlsh},
	{"proxy", "--to HOST                   record what clients and a server say to each other", proxy},
	{"replay", "FILE --against ADDR         play a recording, and print where answers differ", replay},
	{"verify", "FOLDER | ADDR              compare files with checksums, and rows with indexes and views", verify},
	{"snapshot", "ADDR FILE                  fetch all that a running server holds as of one moment", snapshot},
	{"restore", "FILE FOLDER                make a data folder of a snapshot", restore},
	{"export", "ADDR [KEYSPACE[.TABLE]] FOLDER  write tables as JSON lines, CSV or CQL", export},
	{"import", "ADDR FOLDER                write an export into a server", importTables},
	{"version", "                             print the version", printVersion},
}

// console is what a command reads and writes besides the network.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	version string  // that was linked; empty: what the Go tool recorded
	engine  *Engine // in place of those of a folder and of memory, or nil
	ends    bool    // the process ends with the command
}

// Program is a program that has the commands, and what it is started with.
type Program struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string

	Version string  // empty: what the Go tool recorded
	Engine  *Engine // of serve; nil: that of a folder, and that of memory

	ends bool // the process ends when Run returns
}

// Engine is an engine that serve opens in place of that of a folder. Another module brings it.
type Engine struct {
	// Flags adds its flags to those of serve.
	Flags func(*flag.FlagSet)

	// Open opens it as the flags say.
	Open func(engine.Fold, zerolog.Logger) (engine.Engine, error)

	// Shared makes the server a node of all servers that have the engine open, with the times that it says; nil: nobody
	// else has it open. The other flags of serve say the rest.
	Shared *cluster.Options
}

// Main runs the program that the process was started as, and ends the process. SIGINT and SIGTERM stop it in order, and
// at once when they come a second time.
func Main(version string, e *Engine) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	p := Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Version: version, Engine: e, ends: true,
	}
	if isCqlsh(os.Args[0]) {
		p.Args = append([]string{"cqlsh"}, p.Args...)
	}
	os.Exit(p.Run(ctx))
}

// Run runs the command that the arguments name, and returns the exit code.
func (p *Program) Run(ctx context.Context) int {
	c := &console{
		stdin: p.Stdin, stdout: p.Stdout, stderr: p.Stderr, getenv: p.Getenv, version: p.Version, engine: p.Engine,
		ends: p.ends,
	}
	return run(ctx, c, p.Args)
}

// Exit codes: 2 is for a wrong command line.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage is the kind of error of a wrong command line.
var errUsage = errors.New("wrong usage")

// run chooses the command, and turns its error into a line and an exit code.
func run(ctx context.Context, c *console, args []string) int {
	name := "serve"
	switch {
	case len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help"):
		name = "help"
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		name, args = args[0], args[1:]
	}
	err := fmt.Errorf("%w: there is no command %q; cqld help lists them", errUsage, name)
	if name == "help" {
		printUsage(c)
		return 0
	}
	for _, command := range commands {
		if command.name == name {
			err = command.run(ctx, c, args)
		}
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(c.stderr, "cqld:", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return exitUsage
	default:
		fmt.Fprintln(c.stderr, "cqld:", err)
		return exitFailed
	}
}

// printUsage lists the commands, then the flags of the server.
func printUsage(c *console) {
	fmt.Fprint(c.stdout, "Commands:\n\n")
	for _, command := range commands {
		fmt.Fprintf(c.stdout, "  cqld %-8s %s\n", command.name, command.usage)
	}
	fmt.Fprint(c.stdout, "\nADDR is HOST or HOST:PORT. cqld COMMAND --help lists the flags of a command.\n\n")
	printFlags(serveFlags(&settings{engine: c.engine}), c)
}

func printVersion(_ context.Context, c *console, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: version takes no arguments", errUsage)
	}
	_, err := fmt.Fprintln(c.stdout, "cqld", c.buildVersion())
	return err
}

// buildVersion is the linked version, or else the one that the Go tool recorded.
func (c *console) buildVersion() string {
	if c.version != "" {
		return c.version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v = "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
