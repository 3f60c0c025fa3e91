// Command bench measures a cqld that runs as a separate process, and prints all numbers of one run:
//
//   - the time from exec to the first answered query, and the memory of an idle server, in memory and on disk
//   - throughput and the server's CPU time per request, under 64 workers of gocql: prepared reads of one row, inserts,
//     overwrites, and inserts and updates with conditions that hold (five columns of 100 bytes). A null server, which
//     answers canned frames, shows the upper limit that client and network set
//   - where the server's CPU time goes, from its own profile
//
// With -report it writes BENCHMARKS.md. It measures cqld in memory and on disk, a null server and the Cassandra at
// CASSANDRA_ADDR with a raw client, which leaves the processors to the server. Then it measures cqld with gocql, and
// cqld on folders with ever more rows.
//
// With -cassandra it compares cqld on disk with the Cassandra at CASSANDRA_ADDR, which compat_tests/oracle runs.
//
// Rounds of the servers alternate, so that other load on the machine hits all of them. start.go measures the start,
// load.go the requests of gocql, and compare.go compares with Cassandra; raw.go and raw_works.go are the raw client;
// the files report*.go write one part of the page each; null.go is the null server.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

func main() {
	null := flag.Bool("null", false, "be the null server")
	seconds := flag.Float64("seconds", 2, "how long a round takes")
	rounds := flag.Int("rounds", 3, "how many rounds each server gets")
	cassandra := flag.Bool("cassandra", false, "compare with the Cassandra at CASSANDRA_ADDR")
	warm := flag.Duration("warm", 15*time.Second, "beside Cassandra: how long each kind of request runs before it is measured")
	binary := flag.String("binary", "", "measure this binary instead of building one")
	only := flag.String("only", "", "measure only these kinds of requests, with commas between their names, and not the start")
	report := flag.String("report", "", "measure with a raw client, in memory and on disk, and write a page about it to this file")
	memoryRows := flag.Int("memory-rows", 1_000_000, "of the report: how many rows are inserted to see what they take in memory; 0: none")
	growth := flag.String("growth", "10000,1000000,10000000", "of the report: the numbers of rows of the folders that are compared; empty: none")
	answers := flag.String("answers", "", "of the null server: a folder with answers that were recorded for the report")
	flag.Parse()
	if *null {
		fail(serveNull(*answers))
		return
	}
	m := measurement{binary: *binary, round: time.Duration(*seconds * float64(time.Second)), rounds: *rounds, warm: *warm, only: *only, memoryRows: *memoryRows, growth: *growth}
	fail(m.run(*cassandra, *report))
}

// measurement holds the values of the flags.
type measurement struct {
	binary string // of cqld; empty: it is built
	folder string // for binary and data
	round  time.Duration
	rounds int
	warm   time.Duration
	only   string // kinds of requests; empty: all

	memoryRows int    // of a report
	growth     string // of a report: numbers of rows
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (m *measurement) run(besideCassandra bool, report string) (err error) {
	if m.folder, err = os.MkdirTemp("", "cqld-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(m.folder)
	if m.binary == "" {
		m.binary = filepath.Join(m.folder, "cqld")
		if err := process.Build(m.binary); err != nil {
			return err
		}
	}
	switch {
	case besideCassandra:
		return m.compare()
	case report != "":
		return m.report(report)
	}
	if m.only == "" {
		if err := measureStart(m.binary, m.folder); err != nil {
			return err
		}
	}
	return m.measureLoad()
}
