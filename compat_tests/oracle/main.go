// Command oracle runs a real Apache Cassandra 5.0 on a loopback address, the reference for all behaviour.
//
//	oracle [flags] start             starts a node, waits until it answers and prints its address
//	oracle [flags] run COMMAND...    runs a command with the node's address in CASSANDRA_ADDR; for a node that oracle
//	                                 started, CASSANDRA_PID is its process, CASSANDRA_LIB the folder of its jars
//	oracle [flags] stop              ends the node
//
// start begins with an empty node. run uses the node at CASSANDRA_ADDR if that is set, or the one that start began, and
// otherwise starts one for the command. The jars are downloaded once from Maven Central, by the coordinates in pom.xml.
// The node's configuration comes from cassandra.yaml, jvm.options and logback.xml. Everything is kept in one folder of
// the user's cache: lib-VERSION, and node-PORT with the node's data, log and process id.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// These variables tell commands where Cassandra is.
const (
	addrVariable = "CASSANDRA_ADDR"
	pidVariable  = "CASSANDRA_PID"
	libVariable  = "CASSANDRA_LIB"
)

func main() {
	n := &node{}
	flag.StringVar(&n.folder, "folder", "", "where jars and nodes are kept; cqld-oracle in the user's cache if empty")
	flag.StringVar(&n.address, "address", "127.0.0.1", "the address to listen on")
	flag.IntVar(&n.port, "port", 19042, "the port for CQL; the next three are used as well")
	flag.StringVar(&n.heap, "heap", "2G", "the size of the heap")
	flag.BoolVar(&n.auth, "auth", false, "want a password (cassandra, cassandra) and check permissions")
	flag.StringVar(&n.settings, "settings", "", "extra lines of cassandra.yaml: `NAME=VALUE`, with semicolons between them")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	err := command(ctx, n, flag.Args())
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() > 0 {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, n *node, args []string) error {
	if n.folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		n.folder = filepath.Join(cache, "cqld-oracle")
	}
	switch {
	case len(args) == 1 && args[0] == "start":
		return n.startSaying(ctx)
	case len(args) == 1 && args[0] == "stop":
		return n.stop()
	case len(args) > 1 && args[0] == "run":
		return run(ctx, n, args[1:])
	}
	flag.Usage()
	return fmt.Errorf("start, stop or run COMMAND is wanted")
}

// run runs a command beside a node.
func run(ctx context.Context, n *node, args []string) (err error) {
	addr, environment := os.Getenv(addrVariable), os.Environ()
	if addr == "" {
		addr = n.addr()
		if !n.running() {
			if err := n.startSaying(ctx); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, n.stop()) }()
		} else if _, err := n.ask(ctx); err != nil {
			return fmt.Errorf("the node that runs does not answer as this one should: %w", err)
		}
	}
	if p := n.process(); p != nil && addr == n.addr() {
		lib, err := jars(ctx, n.folder)
		if err != nil {
			return err
		}
		environment = append(environment, fmt.Sprint(pidVariable, "=", p.Pid), libVariable+"="+lib)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(environment, addrVariable+"="+addr)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
