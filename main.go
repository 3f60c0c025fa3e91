// Command cqld is a server that answers CQL clients as one Apache Cassandra 5.0 node would, and a small
// client for it.
//
//	cqld [serve] [flags]               runs the server until it is told to stop
//	cqld ping [ADDR]                   succeeds once a CQL handshake answers
//	cqld exec [ADDR] -f FILE|-e CQL    runs statements and prints tables as cqlsh does
//	cqld version
//
// main.go chooses the command and serve.go runs the server from what flags.go reads; memory.go and http.go
// are about the process. exec.go runs statements, table.go and cell.go print what they return.
package main

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
)

// command is one thing that cqld does. Its error is printed as one line.
type command struct {
	name, usage string
	run         func(ctx context.Context, c *console, args []string) error
}

var commands = []command{
	{"serve", "[flags]                      run the server (also without the word serve)", serve},
	{"ping", "[ADDR]                       succeed once the server at ADDR answers", ping},
	{"exec", "[ADDR] -f FILE | -e CQL      run statements and print what they return", execute},
	{"version", "                             print the version", printVersion},
}

// console is what a command reads and writes besides the network.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

// Exit codes: a command that was called wrongly ends with 2, as flags do everywhere.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage is the kind of error that a wrong command line is.
var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	c := &console{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(run(ctx, c, os.Args[1:]))
}

// run chooses the command and turns its error into a line and an exit code.
func run(ctx context.Context, c *console, args []string) int {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	err := fmt.Errorf("%w: there is no command %q; cqld help lists them", errUsage, name)
	if name == "help" {
		usage(c.stdout)
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

func usage(w io.Writer) {
	for _, c := range commands {
		fmt.Fprintf(w, "  cqld %-8s %s\n", c.name, c.usage)
	}
	fmt.Fprintln(w, "\nADDR is HOST or HOST:PORT. cqld COMMAND -h lists the flags of a command.")
}

// version is set when a release is linked.
var version = ""

func printVersion(_ context.Context, c *console, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: version takes no arguments", errUsage)
	}
	_, err := fmt.Fprintln(c.stdout, "cqld", buildVersion())
	return err
}

// buildVersion is the linked version, or what the Go tool recorded of the source.
func buildVersion() string {
	if version != "" {
		return version
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
