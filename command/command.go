// Package command has the commands of cqld. The program cqld has them, and cqld-cluster, whose server has its data in a
// cluster.
//
// command.go runs the command that the arguments name, commands.go has all of them, and help.go prints their help.
// serve.go runs the server from the settings of flags.go and settings.go, which environment.go also takes from the
// environment, and cassandra_env.go from that of Cassandra's image; init.go runs the scripts of --init;
// certificates.go reads the files of TLS; startup.go says what has started. shared.go makes it a node of several that
// share an engine. memory.go, descriptors.go, http.go and metrics.go are about its process. client.go,
// nodes.go and cqlsh.go have the flags of ping, exec, nodes and cqlsh, which are in protocol/client/shell; traffic.go
// has those of proxy and replay, which are in protocol/client/traffic.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
)

// console is what a command reads and writes besides the network.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        []string // NAME=value, as getenv has them; only names are looked at, to find unknown ones

	version string  // that was linked; empty: what the Go tool recorded
	engine  *Engine // in place of those of a folder and of memory, or nil
	ends    bool    // the process ends with the command
}

// Program is a program that has the commands, and what it is started with.
type Program struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value

	Version string  // empty: what the Go tool recorded
	Engine  *Engine // of serve; nil: that of a folder, and that of memory

	ends bool // the process ends when Run returns
}

// Engine is an engine that serve opens in place of that of a folder. Another module brings it.
type Engine struct {
	// Program is the name of the program in its help.
	Program string

	// About is what the help of serve says, and Example how it shows serve.
	About, Example string

	// Reach adds the flags that say where it is to those of serve and restore, and Flags adds more to those of serve.
	Reach, Flags func(*pflag.FlagSet)

	// Open opens it as the flags say. When ctx ends, what Open goes on to do is for nothing.
	Open func(context.Context, engine.Fold, zerolog.Logger) (engine.Engine, error)

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
	cobra.MousetrapHelpText = "" // started from the desktop of Windows, it serves as everywhere else
	p := Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Version: version, Engine: e, ends: true,
	}
	if isCqlsh(os.Args[0]) {
		p.Args = append([]string{"cqlsh"}, p.Args...)
	}
	os.Exit(p.Run(ctx))
}

// Run runs the command that the arguments name, and returns the exit code.
func (p *Program) Run(ctx context.Context) int {
	values := map[string]string{}
	for _, one := range p.Environ {
		name, value, _ := strings.Cut(one, "=")
		values[name] = value
	}
	c := &console{
		stdin: p.Stdin, stdout: p.Stdout, stderr: p.Stderr, version: p.Version, engine: p.Engine, ends: p.ends,
		environ: p.Environ, getenv: func(name string) string { return values[name] },
	}
	return run(ctx, c, p.Args)
}

// name is the name of the program.
func (c *console) name() string {
	if c.engine != nil && c.engine.Program != "" {
		return c.engine.Program
	}
	return "cqld"
}

// Exit codes: 2 is for a wrong command line.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage is the kind of error of a wrong command line.
var errUsage = errors.New("wrong usage")

// run runs a command, and turns its error into a line and an exit code.
func run(ctx context.Context, c *console, args []string) int {
	root := newRoot(c)
	root.SetArgs(append([]string{}, args...)) // not nil, which would be the arguments of the process
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := exitFailed
	text := err.Error()
	if errors.Is(err, errUsage) {
		code, text = exitUsage, strings.ReplaceAll(text, errUsage.Error()+": ", "")
	}
	fmt.Fprintf(c.stderr, "%s: %s\n", c.name(), strings.ReplaceAll(text, "\n", "; "))
	return code
}

// usagef makes an error of a wrong command line.
func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUsage, fmt.Errorf(format, args...))
}

// printVersion is cqld version, and cqld --version.
func printVersion(c *console) error {
	_, err := fmt.Fprintln(c.stdout, c.name(), c.buildVersion())
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
