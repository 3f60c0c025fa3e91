package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

// delays are the times that a request to the store or to PD and its answer are on their way, beside what they take on
// one machine.
var delays = []time.Duration{0, 500 * time.Microsecond, 2 * time.Millisecond, 10 * time.Millisecond}

// The samples of each statement behind each delay, and those before, which do not count.
const (
	samples = 60
	warming = 8
)

// printLatency prints how long a statement takes that one client sends to one of some nodes.
func printLatency(folder string, nodes int) error {
	return on(folder, local.Options{Nodes: nodes}, func(ctx context.Context, c *local.Cluster) error {
		w, err := connect(ctx, 0, c.Nodes[0].Addr)
		if err != nil {
			return err
		}
		defer w.conn.Close()
		fmt.Printf("\nMedian time of a statement in milliseconds, %d node(s), by delay:\n\n| statement |", nodes)
		for _, d := range delays {
			fmt.Printf(" %v |", d)
		}
		fmt.Printf(" round trips |\n|---%s|---|\n", "|---|---|---|---")
		for i, s := range statements { // definitions last: for some seconds after one, nodes look whether there are more
			fmt.Printf("| %s |", s.name)
			var first, last time.Duration
			for n, d := range delays {
				c.SetDelay(d)
				if last, err = w.median(ctx, i); err != nil {
					return fmt.Errorf("%s: %w", s.text, err)
				}
				if n == 0 {
					first = last
				}
				fmt.Printf(" %.1f |", last.Seconds()*1000)
			}
			fmt.Printf(" %.1f |\n", float64(last-first)/float64(delays[len(delays)-1]))
		}
		return nil
	})
}

// median sends a statement some times and returns how long it takes.
func (w *worker) median(ctx context.Context, statement int) (time.Duration, error) {
	var all []time.Duration
	for n := range warming + samples {
		began := time.Now()
		if err := w.send(ctx, statement); err != nil {
			return 0, err
		}
		if n >= warming {
			all = append(all, time.Since(began))
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
