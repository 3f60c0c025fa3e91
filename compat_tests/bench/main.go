// Command bench measures the server as a process of its own, and prints all numbers of one run:
//
//   - from exec to the first answered query, and memory at rest, in memory and on disk
//   - requests per second and the server's CPU time per request for prepared reads of one row, inserts, overwrites,
//     and inserts and updates with conditions that hold (five columns of 100 bytes), under 64 workers of gocql, beside
//     a null server, which answers canned frames and so shows what client and network leave at best
//   - where the server's CPU time goes, from its own profile
//
// With -cassandra it measures cqld on disk beside the Cassandra at CASSANDRA_ADDR instead, which compat_tests/oracle
// runs.
//
// Rounds of the two servers alternate, so that what else the machine does hits both. start.go measures the
// start, load.go the requests, null.go is the null server; compare.go has the comparison with Cassandra.
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
	flag.Parse()
	if *null {
		fail(serveNull())
		return
	}
	m := measurement{binary: *binary, round: time.Duration(*seconds * float64(time.Second)), rounds: *rounds, warm: *warm, only: *only}
	fail(m.run(*cassandra))
}

// measurement is what the flags ask for.
type measurement struct {
	binary string // of cqld; empty: it is built
	folder string // for binary and data
	round  time.Duration
	rounds int
	warm   time.Duration
	only   string // kinds of requests; empty: all
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (m *measurement) run(besideCassandra bool) (err error) {
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
	if besideCassandra {
		return m.compare()
	}
	if m.only == "" {
		if err := measureStart(m.binary, m.folder); err != nil {
			return err
		}
	}
	return m.measureLoad()
}
