// Command bench measures a cluster of this machine (package local), whose store is unistore, and prints tables in
// Markdown: how long statements take while requests to the store and to PD are delayed, and how many statements several
// nodes answer, with the processor time that node, store and PD use for each.
//
//	bench [-latency] [-load] [-contended] [-import] [-time TIME]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cqld/cqld/cluster/local"
)

func main() {
	latency := flag.Bool("latency", true, "measure how long statements take behind delays")
	load := flag.Bool("load", true, "measure how many statements several nodes answer")
	contended := flag.Bool("contended", true, "measure how often several nodes change one row")
	imports := flag.Bool("import", true, "measure imports behind delays")
	span := flag.Duration("time", 3*time.Second, "how long each statement is sent to several nodes")
	flag.Parse()
	if err := run(*latency, *load, *contended, *imports, *span); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// processors is how many goroutines may run at the same time: gates that delay sleep in the system, and would keep
// others from running.
const processors = 64

func run(latency, load, contended, imports bool, span time.Duration) error {
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

// on runs a function with an empty cluster.
func on(folder string, o local.Options, do func(context.Context, *local.Cluster) error) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), clusterLimit)
	defer cancel()
	if err := define(ctx, c); err != nil {
		return err
	}
	return do(ctx, c)
}

// clusterLimit bounds what is measured on one cluster.
const clusterLimit = 5 * time.Minute
