// Command suites runs the clients' own test suites against cqld and against Cassandra, and writes which
// tests differ and why into compat_tests/SUITES.md:
//
//	go run ./compat_tests/suites [-cassandra HOST:PORT] [-w FOLDER] [-here [-addr HOST:PORT]] [SUITE ...]
//
// suite.go has the contract and the table of suites. A suite fetches and runs its tests, and returns an outcome for
// each. go_suites.go defines the suites of Go modules, which gotest.go runs and gorun.go reads; python.go defines the
// suites that pytest.go runs, and rust.go the suites that cargo.go runs. forward.go makes a server reachable on port
// 9042. compare.go compares the outcomes on the two servers, causes.go finds the cause of each difference in the files
// of the folder causes, and page.go writes the page. A difference without a cause makes the run fail.
//
// Suites of logins need a Cassandra that asks for passwords, at CASSANDRA_LOGIN_ADDR.
//
// Each suite gets a fresh cqld. Use a Cassandra without other clients: keyspaces that appear while a suite runs are
// dropped after it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	cassandra := flag.String("cassandra", os.Getenv("CASSANDRA_ADDR"), "the address of a Cassandra 5.0, default $CASSANDRA_ADDR")
	work := flag.String("w", filepath.Join(os.TempDir(), "cqld-suites"), "the folder for what suites install and log, kept between runs")
	here := flag.Bool("here", false, "run against cqld only, print what fails, and write nothing")
	addr := flag.String("addr", "", "with -here: the address of a cqld that runs; empty: one is started for each suite")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, &runner{work: *work, cassandra: *cassandra, addr: *addr}, *here, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

// run runs the suites of these names, or all.
func run(ctx context.Context, r *runner, here bool, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	if r.work, err = filepath.Abs(r.work); err != nil {
		return err
	}
	if err := os.MkdirAll(r.work, 0o755); err != nil {
		return err
	}
	r.cqld, r.login = filepath.Join(r.work, "cqld"), os.Getenv("CASSANDRA_LOGIN_ADDR")
	if !here && r.addr != "" {
		return errors.New("-addr wants -here")
	}
	if err := process.Build(r.cqld); err != nil {
		return err
	}
	if here {
		return r.printHere(ctx, chosen)
	}
	return r.compareAll(ctx, chosen)
}

// choose finds suites by name; without names it takes all.
func choose(names []string) ([]suite, error) {
	if len(names) == 0 {
		return suites, nil
	}
	var chosen []suite
	var err error
	for _, name := range names {
		s, ok := suiteNamed(name)
		if !ok {
			err = errors.Join(err, fmt.Errorf("no suite is named %s", name))
		}
		chosen = append(chosen, s)
	}
	return chosen, err
}

func suiteNamed(name string) (suite, bool) {
	for _, s := range suites {
		if s.name == name {
			return s, true
		}
	}
	return suite{}, false
}
