// Command soak looks for lost acknowledged writes. It starts cqld on a folder, runs a mixed load for minutes, kills or
// stops the server at random moments, restarts it on the same folder, and compares every row with a model in memory.
//
//	soak [-for 10m] [-rate 8] [-workers 16] [-rows 300000] [-dropped 24] [-kill 30s] [-seed N] [-dir folder]
//		[-binary cqld] [-memory-limit 1GiB] [-memtable 32MiB] [-allow-refused] [flags of cqld serve]
//
// The command crash writes little between many kills. Soak writes several times the size of a memtable, so that rows
// are flushed, compacted and read back while others are written.
//
// Beside the load a table is filled, and truncated or dropped, again and again (dropper.go).
//
// The load is in load.go: inserts, updates, deletes of cells, rows, ranges and partitions, counters, conditional
// writes, TTLs, timestamps that come out of order, elements of maps, and at times values of up to 12 MiB. Its tables
// are in tables.go; one has indexes, one a view.
//
// A worker is one connection, which owns the partitions it writes. It models the effect of each acknowledged write (see
// row), so it can check its reads at any time. A write without an answer leaves its partition with two allowed states
// (see partition). The worker reads the partition as soon as the server runs again, and drops the state that the read
// contradicts.
//
// At the end soak reads every row by a scan and by its key, looks up every value of an index, and reads the view. Then
// it restarts the server, runs cqld verify on its folder, and compares all again. A partition that differs is reported
// once, and not used again.
//
// An error answer counts as a failure, as does a server that takes more than 10 s to stop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// options are the options of a run.
type options struct {
	seed         uint64
	duration     time.Duration
	rate         float64 // megabytes a second; 0: any
	workers      int
	rows         int           // of all tables
	dropped      int           // megabytes of the table that is dropped again and again
	kill         time.Duration // the average time between kills; 0: none
	folder       string        // where the data is, in a folder data
	binary       string
	arguments    []string // of cqld serve
	allowRefused bool
}

func main() {
	o := options{}
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "decides the writes and the times of the kills")
	flag.DurationVar(&o.duration, "for", 10*time.Minute, "how long to write")
	flag.Float64Var(&o.rate, "rate", 8, "megabytes to write each second; 0: as many as the server takes")
	flag.IntVar(&o.workers, "workers", 16, "connections that write")
	flag.IntVar(&o.rows, "rows", 300000, "rows of all tables that are written, again and again")
	flag.IntVar(&o.dropped, "dropped", 24, "megabytes of a table that is filled and then truncated or dropped, again and again; 0: none")
	flag.DurationVar(&o.kill, "kill", 30*time.Second, "the average time until the server is killed or stopped; 0: never")
	flag.StringVar(&o.folder, "dir", "", "an empty folder to keep the data in; none: one that is removed")
	flag.StringVar(&o.binary, "binary", "", "a cqld that is built already")
	memoryLimit := flag.String("memory-limit", "", "the server's --memory-limit")
	memtable := flag.String("memtable", "", "the server's --memtable")
	flag.BoolVar(&o.allowRefused, "allow-refused", false, "do not fail when requests are answered with errors")
	flag.Parse()
	if *memoryLimit != "" {
		o.arguments = append(o.arguments, "--memory-limit", *memoryLimit)
	}
	if *memtable != "" {
		o.arguments = append(o.arguments, "--memtable", *memtable)
	}
	o.arguments = append(o.arguments, flag.Args()...)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runIn(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// runIn runs in the given folder or a temporary one, with the given binary or one that it builds.
func runIn(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "cqld-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if o.folder == "" {
		o.folder = scratch
	}
	if o.binary == "" {
		o.binary = filepath.Join(scratch, "cqld")
		if err := process.Build(o.binary); err != nil {
			return err
		}
	}
	fmt.Println("seed", o.seed)
	s := newSoak(o)
	defer s.server.end()
	err = s.run(ctx)
	fmt.Println(s.report.summary(o))
	if ctx.Err() != nil {
		err = errors.New("interrupted") // other failures follow from it
	}
	return errors.Join(err, s.report.verdict(o.allowRefused))
}
