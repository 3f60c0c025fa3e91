package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/protocol/client"
)

// The workers that update one row, and their nodes.
const (
	contendingWorkers = 16
	contendingNodes   = 3
)

// printContended prints the throughput of conditional updates of one row by several nodes, by delay.
func printContended(folder string, span time.Duration) error {
	fmt.Printf("\n%d workers on %d nodes add to one row with a condition:\n\n", contendingWorkers, contendingNodes)
	fmt.Print("| delay | answers a second | of which applied | median, ms | p99, ms |\n|---|---|---|---|---|\n")
	return withCluster(folder, local.Options{Nodes: contendingNodes}, func(ctx context.Context, c *local.Cluster) error {
		for i, d := range []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond} {
			c.SetDelay(0)
			line, err := contend(ctx, c, i, d, span)
			if err != nil {
				return err
			}
			fmt.Printf("| %v | %s |\n", d, line)
		}
		return nil
	})
}

// contend measures the workers with one delay and returns the cells of the line.
func contend(ctx context.Context, c *local.Cluster, row int, delay, span time.Duration) (string, error) {
	all := make([]*contender, contendingWorkers)
	for i := range all {
		conn, err := client.Dial(ctx, c.Nodes[i%contendingNodes].Addr, client.Options{})
		if err != nil {
			return "", err
		}
		defer conn.Close()
		all[i] = &contender{conn: conn, row: row}
	}
	first := all[0].conn
	if _, err := first.Query(ctx, fmt.Sprintf("INSERT INTO bench.one (a, b) VALUES (%d, 0)", -1-row), nil, nil); err != nil {
		return "", err
	}
	c.SetDelay(delay)
	failed := make([]error, len(all))
	began := time.Now()
	var adding sync.WaitGroup
	for i, w := range all {
		adding.Go(func() {
			for time.Since(began) < span && failed[i] == nil {
				failed[i] = w.add(ctx)
			}
		})
	}
	adding.Wait()
	took := time.Since(began).Seconds()
	var times []time.Duration
	applied := 0
	for i, w := range all {
		if failed[i] != nil {
			return "", failed[i]
		}
		times, applied = append(times, w.times...), applied+w.applied
	}
	r, err := first.Query(ctx, fmt.Sprintf("SELECT b FROM bench.one WHERE a = %d", -1-row), nil, nil)
	if err != nil {
		return "", err
	}
	if sum := number(r.Rows[0][0]); sum != applied {
		return "", fmt.Errorf("%d additions were applied and the sum is %d", applied, sum)
	}
	slices.Sort(times)
	return fmt.Sprintf("%.0f | %.0f | %d | %d", float64(len(times))/took, float64(applied)/took,
		times[len(times)/2].Milliseconds(), times[len(times)*99/100].Milliseconds()), nil
}

// contender is a worker that adds to the row if it knows the current sum.
type contender struct {
	conn    *client.Conn
	row     int
	sum     int // last known
	applied int
	times   []time.Duration
}

// add tries once to add.
func (w *contender) add(ctx context.Context) error {
	began := time.Now()
	r, err := w.conn.Query(ctx, fmt.Sprintf("UPDATE bench.one SET b = %d WHERE a = %d IF b = %d", w.sum+1, -1-w.row, w.sum), nil, nil)
	if err != nil {
		return err
	}
	w.times = append(w.times, time.Since(began))
	if r.Rows[0][0][0] == 1 {
		w.sum++
		w.applied++
		return nil
	}
	w.sum = number(r.Rows[0][1])
	return nil
}

// number decodes an int.
func number(b []byte) int {
	return int(int32(b[0])<<24 | int32(b[1])<<16 | int32(b[2])<<8 | int32(b[3]))
}
