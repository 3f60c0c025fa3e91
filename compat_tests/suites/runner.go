package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/protocol/client"
)

// runner runs suites against the two servers.
type runner struct {
	work      string // has a subfolder for each suite
	cqld      string // the binary
	cassandra string // the address
	login     string // the address of a Cassandra that asks for passwords, if there is one
	addr      string // the address of a running cqld; empty: each suite gets a fresh one
}

// errLeftOut says that a suite has no checkout, or no Cassandra.
var errLeftOut = errors.New("left out")

// on runs a suite against the server at an address; where is its name.
func (r *runner) on(ctx context.Context, s suite, where, addr string) ([]outcome, error) {
	e := &environment{addr: addr, work: filepath.Join(r.work, s.name), cqld: r.cqld}
	e.log = filepath.Join(e.work, where+".log")
	if s.folder != "" {
		if e.folder = os.Getenv(s.folder); e.folder == "" {
			return nil, fmt.Errorf("%w: %s is not set", errLeftOut, s.folder)
		}
	}
	if err := os.MkdirAll(e.work, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(e.log, nil, 0o644); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, suiteLimit)
	defer cancel()
	if s.keyspace != "" {
		if err := dropKeyspace(ctx, addr, s.keyspace); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", s.name, where, err)
		}
	}
	began := time.Now()
	outcomes, err := s.run(ctx, e)
	if err == nil && errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err() // an interrupted run has no result; a suite that took too long has one
	}
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", s.name, where, err)
	}
	fmt.Printf("%s on %s: %d tests in %.0f s, %s\n", s.name, where, len(outcomes), time.Since(began).Seconds(), e.log)
	return outcomes, nil
}

// onCqld runs a suite against a cqld started for it, or against the one at addr.
func (r *runner) onCqld(ctx context.Context, s suite) ([]outcome, error) {
	if r.addr != "" {
		return r.on(ctx, s, "cqld", r.addr)
	}
	args := []string{"serve", "--memory", "--listen", "127.0.0.1:0", "--set", "user_defined_functions_enabled=true"}
	if s.logins {
		args = append(args, "--auth", "password")
	}
	if s.strict {
		args = append(args, "--strict-replicas")
	}
	p, err := process.Start(r.cqld, args...)
	if err != nil {
		return nil, err
	}
	outcomes, err := r.on(ctx, s, "cqld", p.Addr)
	if stopped := p.Stop(); stopped != nil {
		err = errors.Join(err, fmt.Errorf("cqld ended badly: %w\n%s", stopped, p.Log()))
	}
	return outcomes, err
}

// printHere shows what fails on cqld.
func (r *runner) printHere(ctx context.Context, chosen []suite) error {
	var all error
	for _, s := range chosen {
		outcomes, err := r.onCqld(ctx, s)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		for _, o := range outcomes {
			if o.result == failed {
				fmt.Printf("%s\t%s\t%s\n", s.name, o.test, o.message)
			}
		}
	}
	return all
}

// compareAll runs suites on both servers and writes the differences into the page.
func (r *runner) compareAll(ctx context.Context, chosen []suite) error {
	release, err := script.CassandraRelease(ctx, r.cassandra)
	if err != nil {
		return fmt.Errorf("-cassandra %q: %w", r.cassandra, err)
	}
	why, err := readCauses(causesFolder)
	if err != nil {
		return err
	}
	var done []comparison
	var all error
	for _, s := range chosen {
		if ctx.Err() != nil {
			break
		}
		c, err := r.compare(ctx, s)
		switch {
		case errors.Is(err, errLeftOut):
			fmt.Printf("%s: %v; its lines stay as they are\n", s.name, err)
		case err != nil:
			all = errors.Join(all, err)
		default:
			all = errors.Join(all, why.explain(&c))
			done = append(done, c)
		}
	}
	for _, line := range why.stale(done) {
		fmt.Println("stale:", line)
	}
	return errors.Join(all, ctx.Err(), writePage(pagePath, release, done))
}

// compare runs a suite on both servers. It drops the keyspaces that the suite leaves in Cassandra.
func (r *runner) compare(ctx context.Context, s suite) (comparison, error) {
	addr := r.cassandra
	if s.logins {
		if addr = r.login; addr == "" {
			return comparison{}, fmt.Errorf("%w: CASSANDRA_LOGIN_ADDR is not set", errLeftOut)
		}
	}
	known, err := keyspaces(ctx, addr)
	if err != nil {
		return comparison{}, err
	}
	there, err := r.on(ctx, s, "cassandra", addr)
	if err = errors.Join(err, dropOthers(ctx, addr, known)); err != nil {
		return comparison{}, err
	}
	here, err := r.onCqld(ctx, s)
	if err != nil {
		return comparison{}, err
	}
	return compare(s, here, there), nil
}

// command is a program with its arguments, to run in a folder with env beyond our own environment. When the context
// ends it dies with all it has started.
func command(ctx context.Context, folder string, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	killWithChildren(cmd)
	cmd.WaitDelay = 10 * time.Second // for processes that left the group and hold the output
	return cmd
}

// superuser logs in where a server asks for it.
var superuser = client.Options{Username: "cassandra", Password: "cassandra"}

// keyspaces lists the keyspaces of a server.
func keyspaces(ctx context.Context, addr string) ([]string, error) {
	conn, err := client.Dial(ctx, addr, superuser)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, err := conn.Query(ctx, "SELECT keyspace_name FROM system_schema.keyspaces", nil, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, row := range answer.Rows {
		names = append(names, string(row[0]))
	}
	return names, nil
}

// dropOthers drops all keyspaces but the given ones: those that a suite leaves would appear in the next, where cqlsh
// completes names.
func dropOthers(ctx context.Context, addr string, known []string) error {
	names, err := keyspaces(ctx, addr)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			err = errors.Join(err, dropKeyspace(ctx, addr, `"`+strings.ReplaceAll(name, `"`, `""`)+`"`))
		}
	}
	return err
}

// dropKeyspace drops a keyspace, named as in CQL, if it is there.
func dropKeyspace(ctx context.Context, addr, keyspace string) error {
	conn, err := client.Dial(ctx, addr, superuser)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Query(ctx, "DROP KEYSPACE IF EXISTS "+keyspace, nil, nil); err != nil {
		return fmt.Errorf("drop keyspace %s: %w", keyspace, err)
	}
	return nil
}
