// Command crash injects faults into a cluster while clients write to all of its nodes, and checks invariants:
// acknowledged writes exist, logged batches are complete or absent, sums of conditional updates count each update
// once, and all nodes have all tables. Other clients record histories of conditional writes and check that they are
// linearizable (compat_tests/drivers/histories). Meanwhile PD's clock lags, and its leader changes every few seconds.
// For each fault it prints the longest time without a successful write on any node, and how much of that was after the
// fault.
//
//	crash [-only TEXT] [-rounds N] [-load TIME]
//
// Nodes, store and PD are separate processes (package local). faults.go lists the faults.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

const nodes = 3

// transferInterval is how often the leader of PD's clock changes, also during faults.
const transferInterval = "4s"

func main() {
	only := flag.String("only", "", "inject only faults with this `text` in their names")
	rounds := flag.Int("rounds", len(faults), "the number of faults")
	load := flag.Duration("load", 2*time.Second, "how long clients write before each fault; they write half as long after it")
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
	c, err := local.Start(folder, local.Options{
		Nodes: nodes, Node: []string{"--down-after", "3s"},
		PD: []string{"-transfers", transferInterval, "-lag", "130ms"}, // more than PD's default interval
	})
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

// round injects one fault.
func (t *trial) round(f *fault, load time.Duration) error {
	t.startWriters()
	time.Sleep(load)
	began := time.Now()
	if err := f.begin(t.cluster); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	defined := make(chan string, 1)
	go func() { defined <- t.define(f.node) }() // on another node
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
	t.stopWriters()
	if err := t.check(); err != nil {
		return fmt.Errorf("after %s: %w", f.name, err)
	}
	fmt.Printf("%-32s %s, %s: %s\n", f.name+",", paused, table, t.summary())
	return nil
}

// histories is a process with clients that record histories.
type histories struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	output bytes.Buffer
}

// recordHistories starts the clients.
func recordHistories(folder string, addresses []string) (*histories, error) {
	binary := filepath.Join(folder, "histories")
	build := exec.Command("go", "test", "-c", "-o", binary, "./histories")
	build.Dir = "../compat_tests/drivers"
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the histories: %w\n%s", err, out)
	}
	h := &histories{}
	h.cmd = exec.Command(binary, "-test.v", "-test.timeout=0", "-test.run=^TestAt$", "-keys=20", "-seconds=1",
		"-at="+strings.Join(addresses, ","))
	h.cmd.Stdout, h.cmd.Stderr = &h.output, &h.output
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return h, h.cmd.Start()
}

// end waits until the last history is checked and prints the results.
func (h *histories) end() error {
	if err := h.stdin.Close(); err != nil {
		return err
	}
	if err := h.cmd.Wait(); err != nil {
		return fmt.Errorf("histories: %w\n%s", err, &h.output)
	}
	for line := range strings.Lines(h.output.String()) {
		if strings.Contains(line, "requests") {
			fmt.Print("histories: ", line)
		}
	}
	return nil
}

// kill kills the process.
func (h *histories) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}
