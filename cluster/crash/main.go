// Command crash kills nodes and their store in turn while clients write to all of them, starts them again, and looks
// whether everything is as it must be: what was acknowledged is there, a logged batch is there as a whole or not at
// all, sums of conditional updates have each update once, and all nodes have all tables.
//
//	crash [-rounds N] [-load TIME]
//
// Nodes and store are processes of their own, which kill -9 ends. The store is unistore, in a module of its own: it
// speaks TiKV's protocol and keeps its data on disk, but it is one store without Raft. A stand-in for the placement
// driver is in this process (placement.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// nodes is how many nodes there are.
const nodes = 3

func main() {
	rounds := flag.Int("rounds", 8, "how often something is killed: each node in turn, and then the store")
	load := flag.Duration("load", 2*time.Second, "how long clients write before each kill")
	flag.Parse()
	if err := run(*rounds, *load); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// cluster is what runs.
type cluster struct {
	folder    string
	placement *placement
	store     *store
	nodes     [nodes]*process.Process
}

func run(rounds int, load time.Duration) (err error) {
	folder, err := os.MkdirTemp("", "cqld-cluster-crash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c := &cluster{folder: folder}
	if err := c.build(); err != nil {
		return err
	}
	defer c.end()
	if err := c.start(); err != nil {
		return err
	}
	t, err := newTrial(c)
	if err != nil {
		return err
	}
	for round := range rounds {
		t.begin()
		time.Sleep(load)
		victim := round % (nodes + 1)
		name, err := c.kill(victim)
		if err != nil {
			return err
		}
		table := t.define(victim) // on a node that lives
		time.Sleep(load / 2)
		if err := c.restart(victim); err != nil {
			return fmt.Errorf("start %s again: %w", name, err)
		}
		t.halt()
		if err := t.check(); err != nil {
			return fmt.Errorf("after the kill of %s: %w", name, err)
		}
		fmt.Printf("%-12s killed, %s: %s\n", name, table, t.summary())
	}
	return nil
}

// build makes the programs.
func (c *cluster) build() error {
	for _, b := range []struct {
		module, name string
		args         []string
	}{
		{".", "cqld-cluster", []string{"./cmd/cqld-cluster"}},
		{"unistore", "unistore", []string{"-ldflags=-checklinkname=0", "."}}, // it uses a variable of the runtime
	} {
		cmd := exec.Command("go", append([]string{"build", "-o", filepath.Join(c.folder, b.name)}, b.args...)...)
		cmd.Dir = b.module
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", b.name, err, out)
		}
	}
	return nil
}

// start starts everything.
func (c *cluster) start() (err error) {
	if c.placement, err = servePlacement(); err != nil {
		return err
	}
	if c.store, err = startStore(c.folder, c.placement.address()); err != nil {
		return err
	}
	for i := range c.nodes {
		if err := c.startNode(i, "127.0.0.1:0"); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) startNode(i int, listen string) (err error) {
	c.nodes[i], err = process.Start(filepath.Join(c.folder, "cqld-cluster"), "serve", "--pd", c.placement.address(),
		"--prefix", "crash", "--listen", listen, "--log-format", "json", "--rack", fmt.Sprint("rack", i+1), "--down-after", "3s")
	return err
}

// kill ends a node, or the store, which has the number behind those of nodes.
func (c *cluster) kill(victim int) (name string, err error) {
	if victim == nodes {
		return "the store", c.store.kill()
	}
	return fmt.Sprint("node ", victim+1), c.nodes[victim].Kill()
}

// restart starts what was killed where it was, and returns when it serves.
func (c *cluster) restart(victim int) error {
	if victim == nodes {
		return c.store.start()
	}
	return c.startNode(victim, c.nodes[victim].Addr)
}

// end ends everything.
func (c *cluster) end() {
	for _, p := range c.nodes {
		if p != nil {
			_ = p.Kill()
		}
	}
	if c.store != nil {
		_ = c.store.kill()
	}
	if c.placement != nil {
		c.placement.close()
	}
}

// errNever says that something did not come about in its time.
var errNever = errors.New("it takes too long")

// eventually waits until something is done without an error.
func eventually(limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errNever, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
