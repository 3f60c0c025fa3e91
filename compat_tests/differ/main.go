// Command differ sends the same random statements to cqld and to a real Cassandra, compares everything that a client
// sees and lists the differences. For each difference it prints the smallest script that still shows it. It exits with
// 1 if it found any.
//
// The statements come from families (family.go). Each family makes tables of some kind and statements on them. Families
// build statements as trees of nodes (node.go), so that the shrinker (shrink.go, simplify.go) can leave parts out. A
// statement is sent as a step (step.go): plain, with values, prepared or as a batch message, with or without paging. A
// run (run.go) collects the answers of both servers (answer.go), compare.go finds the differences, and tolerances.go
// lists the known ones that are not shown. The same seed gives the same statements.
//
// To extend it, write another family in a new file and add it to families.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	o := options{out: os.Stdout}
	flag.Uint64Var(&o.seed, "seed", 1, "what the statements are made from")
	flag.IntVar(&o.statements, "statements", 20000, "end after so many statements")
	minutes := flag.Float64("minutes", 0, "end after so long, however many statements that are")
	flag.IntVar(&o.first, "first", 0, "begin with the scenario that has this number")
	flag.IntVar(&o.shows, "shows", 200, "shrink and show at most so many differences; the others are counted")
	flag.StringVar(&o.cassandra, "cassandra", os.Getenv("CASSANDRA_ADDR"), "the address of Cassandra")
	flag.StringVar(&o.cqld, "cqld", "", "the address of a cqld that runs already; one is built and started otherwise")
	flag.StringVar(&o.settings, "settings", "", "send what guardrails are about: these settings, like `NAME=VALUE; NAME=VALUE`, "+
		"are those of Cassandra, which has to ask for passwords")
	flag.StringVar(&o.only, "only", "", "run this family alone: "+familyNames())
	flag.Parse()
	o.duration = time.Duration(*minutes * float64(time.Minute))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	found, err := differ(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "differ:", err)
	}
	if err != nil || found > 0 {
		stop()
		os.Exit(1)
	}
}

// serveArguments start a cqld with settings, which apply to every user.
func serveArguments(settings string) []string {
	args := []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--set", "user_defined_functions_enabled=true"}
	if settings != "" {
		args = append(args, "--set", "guardrails_apply_to_all=true")
		for _, setting := range strings.Split(settings, ";") {
			args = append(args, "--set", strings.TrimSpace(setting))
		}
	}
	return args
}

// differ starts a cqld unless -cqld names one.
func differ(ctx context.Context, o options) (found int, err error) {
	if o.cassandra == "" {
		return 0, errors.New("no address of Cassandra; make differ starts one")
	}
	if o.cqld == "" {
		folder, err := os.MkdirTemp("", "cqld-differ-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(folder)
		binary := filepath.Join(folder, "cqld")
		if err := process.Build(binary); err != nil {
			return 0, err
		}
		server, err := process.Start(binary, serveArguments(o.settings)...)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		o.cqld = server.Addr
	}
	return run(ctx, o)
}
