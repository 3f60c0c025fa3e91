// Command crash disturbs a cluster while clients write to all of its nodes, and looks whether everything is as it has
// to be: what was acknowledged is there, a logged batch is there as a whole or not at all, sums of conditional updates
// have each update once, and all nodes have all tables. Beside these clients, others record histories of conditional
// writes, for which there has to be an order (compat_tests/drivers/histories). It prints for how long no write
// succeeded on the node where that was longest, and which part of that was after the fault.
//
//	crash [-only TEXT] [-rounds N] [-load TIME]
//
// Everything is a process of its own: the nodes, their store and what stands in for PD (package local). faults.go lists
// what is done to them.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

// nodes is how many nodes there are.
const nodes = 3

func main() {
	only := flag.String("only", "", "a `text`: leave out the faults without it in their names")
	rounds := flag.Int("rounds", len(faults), "how many faults there are, one after the other")
	load := flag.Duration("load", 2*time.Second, "how long clients write before each fault, and half as long after it")
	flag.Parse()
	if err := run(*only, *rounds, *load); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func run(only string, rounds int, load time.Duration) error {
	var chosen []fault
	for _, f := range faults {
		if strings.Contains(f.name, only) {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no fault has %q in its name", only)
	}
	folder, err := os.MkdirTemp("", "cqld-cluster-crash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := local.Build(folder); err != nil {
		return err
	}
	c, err := local.Start(folder, local.Options{Nodes: nodes, Node: []string{"--down-after", "3s"}})
	if err != nil {
		return err
	}
	defer c.Close()
	h, err := recordHistories(folder, c.Addresses())
	if err != nil {
		return err
	}
	defer h.kill()
	t, err := newTrial(c)
	if err != nil {
		return err
	}
	defer t.stopMeters()
	for round := range rounds {
		if err := t.round(&chosen[round%len(chosen)], load); err != nil {
			return fmt.Errorf("%w\n%s", err, c.Log())
		}
	}
	return h.end()
}

// round disturbs the cluster once.
func (t *trial) round(f *fault, load time.Duration) error {
	t.begin()
	time.Sleep(load)
	began := time.Now()
	if err := f.begin(t.cluster); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	defined := make(chan string, 1)
	go func() { defined <- t.define(f.node) }() // on a node that lives
	time.Sleep(f.lasts - time.Since(began))
	if err := f.end(t.cluster); err != nil {
		return fmt.Errorf("%s, and then: %w", f.name, err)
	}
	paused, err := t.pause(began, time.Now())
	if err != nil {
		return fmt.Errorf("after %s: %w", f.name, err)
	}
	table := <-defined
	time.Sleep(load / 2)
	t.halt()
	if err := t.check(); err != nil {
		return fmt.Errorf("after %s: %w", f.name, err)
	}
	fmt.Printf("%-32s %s, %s: %s\n", f.name+",", paused, table, t.summary())
	return nil
}
