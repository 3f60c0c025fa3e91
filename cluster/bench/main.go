// Command bench measures a cluster on this machine (package local), whose store is unistore, and prints Markdown
// tables: the latency of statements with delays between nodes and store, and the throughput of several nodes with the
// CPU time of nodes, store and PD per statement.
//
//	bench [-latency] [-load] [-contended] [-import] [-time TIME]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

func main() {
	latency := flag.Bool("latency", true, "measure the latency of statements with delays")
	load := flag.Bool("load", true, "measure the throughput of several nodes")
	contended := flag.Bool("contended", true, "measure conditional updates of one row by several nodes")
	imports := flag.Bool("import", true, "measure imports with delays")
	span := flag.Duration("time", 3*time.Second, "how long to measure each statement on several nodes")
	flag.Parse()
	if err := measureAll(*latency, *load, *contended, *imports, *span); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// processors is GOMAXPROCS: gates that delay traffic sleep in the system and would block other goroutines.
const processors = 64

func measureAll(latency, load, contended, imports bool, span time.Duration) error {
	runtime.GOMAXPROCS(processors)
	folder, err := os.MkdirTemp("", "cqld-cluster-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := local.Build(folder); err != nil {
		return err
	}
	if latency {
		for _, nodes := range []int{1, 2} {
			if err := printLatency(folder, nodes); err != nil {
				return err
			}
		}
	}
	if load {
		if err := printLoad(folder, []int{1, 2, 4}, span); err != nil {
			return err
		}
	}
	if contended {
		if err := printContended(folder, span); err != nil {
			return err
		}
	}
	if imports {
		for _, nodes := range []int{1, 3} {
			if err := printImports(folder, nodes); err != nil {
				return err
			}
		}
	}
	return nil
}

// withCluster calls do with a new cluster.
func withCluster(folder string, o local.Options, do func(context.Context, *local.Cluster) error) error {
	data, err := os.MkdirTemp(folder, "cluster")
	if err != nil {
		return err
	}
	o.Programs = folder
	c, err := local.Start(data, o)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	if err := define(ctx, c); err != nil {
		return err
	}
	return do(ctx, c)
}

// clusterTimeout limits the measurements on one cluster.
const clusterTimeout = 5 * time.Minute

// delays are the round-trip times between nodes and store or PD, in addition to those of one machine.
var delays = []time.Duration{0, 500 * time.Microsecond, 2 * time.Millisecond, 10 * time.Millisecond}

// The samples of each statement and delay, after some that do not count.
const (
	samples = 60
	warming = 8
)

// printLatency prints the latency of statements that one client sends to one of several nodes.
func printLatency(folder string, nodes int) error {
	return withCluster(folder, local.Options{Nodes: nodes}, func(ctx context.Context, c *local.Cluster) error {
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
		for i, s := range statements { // schema changes last: for some seconds after one, nodes check for more
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

// median returns the median latency of a statement.
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
