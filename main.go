// Command cqld is a server that answers CQL clients as one Apache Cassandra 5.0 node would, and a small
// client for it.
//
//	cqld [serve] [flags]               runs the server until it is told to stop
//	cqld ping [ADDR]                   succeeds once a CQL handshake answers
//	cqld nodes [ADDR]                  prints the nodes of a cluster
//	cqld exec [ADDR] -f FILE|-e CQL    runs statements and prints tables as cqlsh does
//	cqld cqlsh [options] [HOST [PORT]] the same for those who call cqlsh
//	cqld proxy --to HOST               records what clients and a server say to each other
//	cqld replay FILE --against ADDR    plays that against another server and prints differences
//	cqld snapshot ADDR FILE            fetches all that a running server holds as of one moment
//	cqld restore FILE FOLDER           makes a data folder of a snapshot
//	cqld verify FOLDER|ADDR            compares files with their checksums, and rows with indexes and views
//	cqld export ADDR [KEYSPACE[.TABLE]] FOLDER   writes tables as JSON lines, CSV or CQL
//	cqld import ADDR FOLDER            writes an export into a server
//	cqld version
//
// main.go chooses the command. serve.go runs the server from the settings that flags.go reads, or cassandra_env.go for
// containers; init.go runs the scripts of --init; certificates.go reads the files of TLS. memory.go, processors.go,
// descriptors.go, http.go and metrics.go are about its process. client.go, nodes.go and cqlsh.go have
// the flags of ping, exec, nodes and cqlsh, which are in protocol/client/shell; traffic.go has those of proxy and
// replay, which are in protocol/client/traffic.
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
}

// Exit codes: 2 is for a wrong command line.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage is the kind of error of a wrong command line.
var errUsage = errors.New("wrong usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	c := &console{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	args := os.Args[1:]
	if isCqlsh(os.Args[0]) {
		args = append([]string{"cqlsh"}, args...)
	}
	os.Exit(run(ctx, c, args))
}

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
	printFlags(serveFlags(new(settings)), c)
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

// buildVersion is the linked version, or else the one that the Go tool recorded.
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
