package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// startRuns is how often a server is started; the median counts.
const startRuns = 7

// restTime is how long a server is idle before its memory is measured.
const restTime = time.Second

// reportStart writes sizes, how long a server on an empty store takes to start, and the memory of idle servers. It has
// to be the first part, since Cassandra is idle only then.
func (m *measurement) reportStart(ctx context.Context, page io.Writer, _ []int64) error {
	binary, err := os.Stat(m.binary)
	if err != nil {
		return err
	}
	fmt.Fprintf(page, "## Start\n\nFrom exec to the first answered query: the median of %d starts in ms. Memory is that of an idle "+
		"server.\n\n| | size, MB | start | slowest | resident, MiB | without mapped files |\n|---|---|---|---|---|---|\n", startRuns)
	for _, name := range []string{inMemory, onDisk} {
		var times []float64
		var rest process.Memory
		for i := range startRuns {
			took, p, err := startToAnswer(m.binary, storeFlags(name, filepath.Join(m.folder, fmt.Sprint("start", i))))
			if err != nil {
				return err
			}
			times = append(times, took)
			if i == startRuns-1 {
				time.Sleep(restTime)
				if rest, err = p.Memory(); err != nil {
					return err
				}
			}
			if err := p.Stop(); err != nil {
				return err
			}
		}
		fmt.Fprintf(page, "| cqld, %s | %.1f | %.0f | %.0f | %d | %d |\n", name, float64(binary.Size())/1e6, median(times), slices.Max(times),
			rest.RSS>>20, rest.Anon>>20)
	}
	cassandra, err := m.dialCassandra(ctx)
	if err != nil || cassandra == nil {
		fmt.Fprintln(page)
		return err
	}
	defer cassandra.close()
	rest, err := process.MemoryOf(cassandra.pid)
	if err != nil {
		return err
	}
	jars, err := folderBytes(os.Getenv("CASSANDRA_LIB"))
	fmt.Fprintf(page, "| Cassandra | %.1f, and Java | - | - | %d | %d |\n\n", float64(jars)/1e6, rest.RSS>>20, rest.Anon>>20)
	return err
}

// The two stores of cqld, and the names that tables have for them.
const (
	inMemory = "in memory"
	onDisk   = "on disk"
)

// storeFlags are the flags of cqld serve for a store.
func storeFlags(name, folder string) []string {
	if name == inMemory {
		return []string{"--memory"}
	}
	return []string{"--data", folder}
}

// startToAnswer starts the server on a free port, sends it a query as soon as it listens, and returns how many ms it
// took.
func startToAnswer(binary string, args []string) (float64, *process.Process, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return 0, nil, err
	}
	began := time.Now()
	p, err := process.Start(binary, append([]string{"serve", "--listen", addr}, args...)...)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := client.Dial(ctx, p.Addr, client.Options{})
	if err != nil {
		return 0, p, err
	}
	defer conn.Close()
	if _, err := conn.Query(ctx, "SELECT key FROM system.local", nil, nil); err != nil {
		return 0, p, err
	}
	return ms(time.Since(began)), p, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// folderBytes is the total length of the files of a folder.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil { // a compaction may have removed it meanwhile
			n += info.Size()
		}
		return nil
	})
	return n, err
}

// A server has settled when it has used at most quietTime of CPU within quietWindow: cqld begins to compact tables a
// second or two after the last write. The wait ends after maxSettling.
const (
	quietWindow = 2500 * time.Millisecond
	quietTime   = 50 * time.Millisecond
	maxSettling = 30 * time.Second
)

// settle waits until a server has settled, and returns the CPU time that it used meanwhile.
func settle(pid int) (used time.Duration, err error) {
	first, err := process.CPUOf(pid)
	if err != nil {
		return 0, err
	}
	end := time.Now().Add(maxSettling)
	for last := first; time.Now().Before(end); {
		time.Sleep(quietWindow)
		now, err := process.CPUOf(pid)
		used = now - first
		if err != nil || now-last <= quietTime {
			return used, err
		}
		last = now
	}
	return used, nil
}
