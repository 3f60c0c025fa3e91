// Command bench measures the server as a process of its own, and prints all numbers of one run:
//
//   - from exec to the first answered query, and memory at rest, in memory and on disk
//   - requests per second and the server's CPU time per request for prepared reads of one row, inserts and overwrites
//     (five columns of 100 bytes) under 64 workers of gocql, beside a null server, which answers canned
//     frames and so shows what client and network leave at best
//   - where the server's CPU time goes, from its own profile
//
// Rounds of the two servers alternate, so that what else the machine does hits both. start.go measures the
// start, load.go the requests, null.go is the null server.
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
	binary := flag.String("binary", "", "measure this binary instead of building one")
	flag.Parse()
	if *null {
		fail(serveNull())
		return
	}
	fail(bench(*binary, time.Duration(*seconds*float64(time.Second)), *rounds))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(binary string, round time.Duration, rounds int) error {
	folder, err := os.MkdirTemp("", "cqld-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if binary == "" {
		binary = filepath.Join(folder, "cqld")
		if err := process.Build(binary); err != nil {
			return err
		}
	}
	if err := measureStart(binary, folder); err != nil {
		return err
	}
	return measureLoad(binary, round, rounds)
}
