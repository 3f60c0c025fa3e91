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

	"github.com/cqld/cqld/internal/suggest"
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

// The groups of commands in the help.
const (
	groupServer = "server"
	groupClient = "client"
	groupData   = "data"
	groupCheck  = "check"
	groupOther  = "other"
)

// newRoot makes the program's command, which serves, with all others below it.
func newRoot(c *console) *cobra.Command {
	root := serveCommand(c, c.name())
	version := false
	topic(root.Flags(), generalTopic, func(f *pflag.FlagSet) { f.BoolVar(&version, "version", false, "print the version") })
	serve := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version {
			return printVersion(c)
		}
		return serve(cmd, args)
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Server"},
		&cobra.Group{ID: groupClient, Title: "Clients"},
		&cobra.Group{ID: groupData, Title: "Data"},
		&cobra.Group{ID: groupCheck, Title: "Comparing with another server"},
		&cobra.Group{ID: groupOther, Title: "Other"},
	)
	root.AddCommand(
		serveCommand(c, "serve"), pingCommand(c), nodesCommand(c), execCommand(c), cqlshCommand(c), exportCommand(c),
		importCommand(c), snapshotCommand(c), restoreCommand(c), verifyCommand(c), proxyCommand(c), replayCommand(c),
		completionCommand(c), versionCommand(c),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand(c))
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	return root
}

// newCommand completes a command: run is called with its arguments when its flags have their values, which may come
// from the environment. The words of its use after the name say which arguments it takes; those in brackets may be
// left out.
func newCommand(c *console, cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	f := cmd.Flags()
	f.SortFlags = false
	topic(f, generalTopic, func(f *pflag.FlagSet) { f.BoolP("help", "h", false, "print this help") })
	f.VisitAll(func(one *pflag.Flag) {
		if v, ok := one.Value.(choice); ok {
			words := cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
			if err := cmd.RegisterFlagCompletionFunc(one.Name, words); err != nil {
				panic(err) // the flag exists
			}
		}
	})
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableSuggestions = true, true, true
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd.Flags(), err) })
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(c, cmd) })
	cmd.Args = func(cmd *cobra.Command, args []string) error { return checkArguments(cmd.Use, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.readEnvironment(cmd); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
	return cmd
}

// checkArguments compares arguments with the use of a command.
func checkArguments(use string, args []string) error {
	name, wanted, _ := strings.Cut(use, " ")
	least, most := 0, 0
	for word := range strings.FieldsSeq(wanted) {
		if most++; word[0] != '[' {
			least++
		}
	}
	for _, arg := range args {
		if arg == "" {
			return usagef("%s: an argument is empty", name)
		}
	}
	switch {
	case len(args) > most && most == 0:
		return usagef("%s takes no argument %q", name, args[0])
	case len(args) > most:
		return usagef("%s takes %s, so %q is one argument too many", name, wanted, args[most])
	case len(args) < least:
		return usagef("%s needs %s; see the command help %s", name, wanted, name)
	}
	return nil
}

// unknownCommand is the error of a name that no command has.
func unknownCommand(root *cobra.Command, name string) error {
	root = root.Root()
	var names []string
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		return usagef("there is no command %q: did you mean %s?", name, near)
	}
	return usagef("there is no command %q; %s help lists all commands", name, root.Name())
}

func versionCommand(c *console) *cobra.Command {
	return newCommand(c, &cobra.Command{
		Use: "version", GroupID: groupOther, Short: "Print the version",
		Example: "version\n--version",
	}, func(context.Context, []string) error { return printVersion(c) })
}
