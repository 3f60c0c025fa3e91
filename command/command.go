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

// console is a command's view of its process: standard streams and environment.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        []string // NAME=value, to find unknown names

	version string  // linked; "": the version that the Go tool recorded
	engine  *Engine // or nil
	ends    bool    // the process ends with the command
}

// Program runs commands: the arguments name one.
type Program struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value

	Version string  // "": the version that the Go tool recorded
	Engine  *Engine // nil: data is in a folder or in memory

	ends bool // the process ends when Run returns
}

// Engine is a storage engine that another module brings. serve uses it instead of a data folder.
type Engine struct {
	// Program is the name of the program in its help.
	Program string

	// About and Example describe the program in the help of serve.
	About, Example string

	// Reach adds the flags with the location of the engine to serve and restore. Flags adds more flags to serve.
	Reach, Flags func(*pflag.FlagSet)

	// Open opens the engine that the flags describe. The process is about to end when ctx ends.
	Open func(context.Context, engine.Fold, zerolog.Logger) (engine.Engine, error)

	// Shared makes the server one node of all servers that have the engine open. It has the times of a node; other
	// flags of serve complete it. nil if the engine is not shared.
	Shared *cluster.Options
}

// Main runs the command of the process's arguments and exits. The first SIGINT or SIGTERM stops a server gracefully,
// the second one at once.
func Main(version string, e *Engine) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	cobra.MousetrapHelpText = "" // serve when started by a double click on Windows too
	p := Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Version: version, Engine: e, ends: true,
	}
	if isCqlsh(os.Args[0]) {
		p.Args = append([]string{"shell"}, p.Args...)
	}
	os.Exit(p.Run(ctx))
}

// Run runs the command that the arguments name and returns the exit code.
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

// name returns the name of the program.
func (c *console) name() string {
	if c.engine != nil && c.engine.Program != "" {
		return c.engine.Program
	}
	return "cqld"
}

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2 // a wrong command line
)

// errUsage is the kind of error of a wrong command line.
var errUsage = errors.New("wrong usage")

// run runs a command and turns its error into one line and an exit code.
func run(ctx context.Context, c *console, args []string) int {
	root := newRoot(c)
	root.SetArgs(append([]string{}, args...)) // for nil cobra would take os.Args
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var failed statementsFailed
	if errors.As(err, &failed) {
		return int(failed)
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

// buildVersion returns the linked version, or else the one that the Go tool recorded.
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

// newRoot makes the root command, which serves, and its subcommands.
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
		serveCommand(c, "serve"), pingCommand(c), nodesCommand(c), execCommand(c), shellCommand(c), diagramCommand(c),
		exportCommand(c), importCommand(c), snapshotCommand(c), restoreCommand(c), verifyCommand(c), proxyCommand(c), replayCommand(c),
		adviseCommand(c), completionCommand(c), versionCommand(c),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand(c))
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	return root
}

// newCommand completes a command. run gets its arguments once all flags are set, from the command line or the
// environment. cmd.Use lists the arguments: exec [ADDR] takes one, which is optional.
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

// checkArguments checks the number of arguments against the use of a command.
func checkArguments(use string, args []string) error {
	name, wanted, _ := strings.Cut(use, " ")
	minArgs, maxArgs := 0, 0
	for word := range strings.FieldsSeq(wanted) {
		if maxArgs++; word[0] != '[' {
			minArgs++
		}
	}
	for _, arg := range args {
		if arg == "" {
			return usagef("%s: an argument is empty", name)
		}
	}
	switch {
	case len(args) > maxArgs && maxArgs == 0:
		return usagef("%s takes no argument %q", name, args[0])
	case len(args) > maxArgs:
		return usagef("%s takes %s, so %q is one argument too many", name, wanted, args[maxArgs])
	case len(args) < minArgs:
		return usagef("%s needs %s; see the command help %s", name, wanted, name)
	}
	return nil
}

// unknownCommand returns the error for an unknown command, which suggests a similar one.
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
