package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// compare measures cqld on disk and a running Cassandra: sizes, start, memory, and throughput in turn. Both acknowledge
// writes before they are synced, which is the default of both.
func (m *measurement) compare() error {
	addr, lib := os.Getenv("CASSANDRA_ADDR"), os.Getenv("CASSANDRA_LIB")
	pid, err := strconv.Atoi(os.Getenv("CASSANDRA_PID"))
	if addr == "" || lib == "" || err != nil {
		return errors.New("run make compare: a Cassandra is needed that compat_tests/oracle started")
	}
	fmt.Printf("machine: %d cores\n", runtime.NumCPU())
	if err := m.compareSizes(lib); err != nil {
		return err
	}
	if err := measureStart(m.binary, m.folder); err != nil {
		return err
	}
	cqld, err := process.Start(m.binary, "serve", "--data", filepath.Join(m.folder, "compared"), "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer cqld.Stop()
	a, b := target{name: "cqld", pid: cqld.Pid()}, target{name: "Cassandra", pid: pid}
	if err := printMemory("at rest", a, b); err != nil {
		return err
	}
	for _, t := range []struct {
		*target
		addr string
	}{{&a, cqld.Addr}, {&b, addr}} {
		if t.session, err = open(t.addr); err != nil {
			return err
		}
		defer t.session.Close()
		if err := prepareTable(t.session); err != nil {
			return err
		}
	}
	for _, w := range m.works() {
		for _, t := range []target{a, b} {
			if _, err := hammer(t.session, w, workers, m.warm); err != nil {
				return fmt.Errorf("%s of %s: %w", w.name, t.name, err)
			}
		}
		if err := alternate(a, b, w, m.round, m.rounds); err != nil {
			return err
		}
	}
	return printMemory("after the load", a, b)
}

// compareSizes prints the sizes of both programs with everything they need to run.
func (m *measurement) compareSizes(lib string) error {
	binary, err := os.Stat(m.binary)
	if err != nil {
		return err
	}
	var jars int64
	err = filepath.WalkDir(lib, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			jars += info.Size()
		}
		return err
	})
	fmt.Printf("size: cqld %.1f MB, all of it; Cassandra %.1f MB of jars, and Java\n", mb(binary.Size()), mb(jars))
	return err
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// printMemory prints the resident memory of servers that were idle for a moment.
func printMemory(when string, targets ...target) error {
	time.Sleep(restTime)
	fmt.Printf("memory %s:", when)
	for _, t := range targets {
		m, err := process.MemoryOf(t.pid)
		if err != nil {
			return err
		}
		fmt.Printf(" %s %.0f MiB (%.0f MiB without mapped files)", t.name, float64(m.RSS)/(1<<20), float64(m.Anon)/(1<<20))
	}
	fmt.Println()
	return nil
}
