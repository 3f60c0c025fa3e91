// Command bench measures the server as a process of its own, and prints all numbers of one run:
//
//   - from exec to the first answered query, and memory at rest, in memory and on disk
//   - requests per second and the server's CPU time per request for prepared reads of one row, inserts, overwrites,
//     and inserts and updates with conditions that hold (five columns of 100 bytes), under 64 workers of gocql, beside
//     a null server, which answers canned frames and so shows what client and network leave at best
//   - where the server's CPU time goes, from its own profile
//
// With -report it measures with a raw client, which leaves the processors to the server, in memory and on disk beside
// a null server and the Cassandra at CASSANDRA_ADDR, with gocql, and in folders with ever more rows, and writes
// BENCHMARKS.md.
//
// With -cassandra it measures cqld on disk beside the Cassandra at CASSANDRA_ADDR instead, which compat_tests/oracle
// runs.
//
// Rounds of the servers alternate, so that what else the machine does hits all. start.go measures the start, load.go
// the requests of gocql; raw.go and raw_works.go are the raw client, and the files report*.go write the page, each a
// part; null.go is the null server; compare.go has the comparison with Cassandra.
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

// measurement is what the flags ask for.
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
