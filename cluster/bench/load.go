package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/compat_tests/process"
)

// clients is the number of clients of all nodes.
const clients = 64

// printLoad prints the throughput of several nodes and the CPU time per statement.
func printLoad(folder string, counts []int, span time.Duration) error {
	fmt.Printf("\n%d clients, statements a second and processor time of each in microseconds:\n\n", clients)
	fmt.Print("| statement | nodes | a second | nodes' time | store's time | PD's time |\n|---|---|---|---|---|---|\n")
	lines := make([][]string, len(statements))
	for _, nodes := range counts {
		err := withCluster(folder, local.Options{Nodes: nodes, Direct: true}, func(ctx context.Context, c *local.Cluster) error {
			workers := make([]*worker, clients)
			for i := range workers {
				w, err := connect(ctx, i, c.Nodes[i%nodes].Addr)
				if err != nil {
					return err
				}
				defer w.conn.Close()
				workers[i] = w
			}
			for i := range statements {
				if statements[i].values == nil {
					continue
				}
				line, err := measure(ctx, c, workers, i, span)
				if err != nil {
					return fmt.Errorf("%s: %w", statements[i].text, err)
				}
				lines[i] = append(lines[i], line)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, all := range lines {
		for n, line := range all {
			fmt.Printf("| %s | %d | %s |\n", statements[i].name, counts[n], line)
		}
	}
	return nil
}

// used returns the CPU time of the nodes, the store and PD.
func used(c *local.Cluster) (all [3]time.Duration, err error) {
	for _, p := range c.Nodes {
		t, failed := p.CPU()
		all[0], err = all[0]+t, errors.Join(err, failed)
	}
	for i, d := range []*local.Daemon{c.Store, c.Placement} {
		t, failed := process.CPUOf(d.Pid())
		all[i+1], err = t, errors.Join(err, failed)
	}
	return all, err
}

// measure measures a statement and returns the cells of its line.
func measure(ctx context.Context, c *local.Cluster, workers []*worker, statement int, span time.Duration) (string, error) {
	before, err := used(c)
	if err != nil {
		return "", err
	}
	var sent atomic.Int64
	failed := make([]error, len(workers))
	began := time.Now()
	var sending sync.WaitGroup
	for i, w := range workers {
		sending.Go(func() {
			for time.Since(began) < span && failed[i] == nil {
				failed[i] = w.send(ctx, statement)
				sent.Add(1)
			}
		})
	}
	sending.Wait()
	took := time.Since(began)
	after, err := used(c)
	if err := errors.Join(append(failed, err)...); err != nil {
		return "", err
	}
	line := fmt.Sprintf("%.0f", float64(sent.Load())/took.Seconds())
	for i := range after {
		line += fmt.Sprintf(" | %d", (after[i]-before[i]).Microseconds()/sent.Load())
	}
	return line, nil
}
