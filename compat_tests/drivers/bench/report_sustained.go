package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/gocql/gocql"

	"github.com/cqld/cqld/compat_tests/process"
)

// afterMix is how long CPU time and written bytes are counted after the last request.
const afterMix = 10 * time.Second

// reportSustained writes what a mixed load through gocql costs: of ten requests five are reads, four are updates and
// one is an insert.
func (m *measurement) reportSustained(ctx context.Context, page io.Writer, rows []int64) error {
	fmt.Fprintf(page, "## Sustained load\n\nA table of %d rows, and %d goroutines of gocql for %s: 50 %% reads, 40 %% updates of five columns, "+
		"10 %% inserts. CPU, in µs per request, and bytes count\nuntil %s after the last request. Bytes sent are those of the keys and "+
		"values that are written; bytes written to the disk are from /proc/PID/io.\n\n"+
		"| | requests/s | p99, ms | longest, ms | CPU | MB sent | MB written | written per byte sent | memory without mapped files, MiB |\n"+
		"|---|---|---|---|---|---|---|---|---|\n", rows[0], workers, m.mixFor, afterMix)
	tableRows = rows[0]
	folder := filepath.Join(m.folder, "sustained")
	defer os.RemoveAll(folder)
	p, c, err := m.serveRaw(ctx, "cqld, on disk", folder)
	if err != nil {
		return err
	}
	watched, err := m.sustain(ctx, page, c, p.Addr, folder)
	c.close()
	if err := errors.Join(err, p.Stop()); err != nil {
		return err
	}
	cassandra, err := m.dialCassandra(ctx)
	if err != nil {
		return err
	}
	if cassandra != nil {
		defer cassandra.close()
		if _, err := cassandra.connections[0].Query(ctx, "DROP KEYSPACE IF EXISTS bench", nil, nil); err != nil {
			return err
		}
		if _, err := m.sustain(ctx, page, cassandra, os.Getenv("CASSANDRA_ADDR"), ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(page, "\nWhere cqld writes them: files of the folder that appeared meanwhile, looked at %d times a second, and the rest, "+
		"which is mostly\nBadger's log of its memtables.\n\n| | MB |\n|---|---|\n%s\n", time.Second/watchEvery, watched)
	return nil
}

// sustain fills the table of a server, sends the load, and writes a line about it. It returns the lines of a table of
// where the bytes in a folder went.
func (m *measurement) sustain(ctx context.Context, page io.Writer, c *rawClient, addr, folder string) (watched string, err error) {
	if err := c.fillRows(ctx); err != nil {
		return "", err
	}
	session, err := open(addr)
	if err != nil {
		return "", err
	}
	defer session.Close()
	var writes atomic.Int64
	mix := func(s *gocql.Session, n int64) error {
		kind, row := n%10, rand.Int64N(tableRows)
		if kind%2 == 0 {
			return readRow(s, row)
		}
		writes.Add(1)
		if kind == 5 {
			return insertFresh(s, row)
		}
		return updateRow(s, row)
	}
	if _, err := hammer(session, workers, c.warm, m.rate, mix); err != nil {
		return "", err
	}
	if _, err := settle(c.pid); err != nil {
		return "", err
	}
	writes.Store(0)
	cpu, err := process.CPUOf(c.pid)
	if err != nil {
		return "", err
	}
	written, err := writtenBy(c.pid)
	if err != nil {
		return "", err
	}
	watch := watchFolder(folder)
	took, err := hammer(session, workers, m.mixFor, m.rate, mix)
	if err != nil {
		return "", err
	}
	time.Sleep(afterMix)
	files := watch()
	cpuAfter, err := process.CPUOf(c.pid)
	if err != nil {
		return "", err
	}
	writtenAfter, err := writtenBy(c.pid)
	if err != nil {
		return "", err
	}
	memory, err := process.MemoryOf(c.pid)
	if err != nil {
		return "", err
	}
	sent, written := writes.Load()*(4+columns*cellBytes), writtenAfter-written
	fmt.Fprintf(page, "| %s | %.0f | %.1f | %.0f | %.1f | %d | %d | %.1f | %d |\n", c.name, float64(len(took))/m.mixFor.Seconds(),
		took[len(took)*99/100], took[len(took)-1], ms(cpuAfter-cpu)*1000/float64(len(took)), sent/1e6, written/1e6,
		float64(written)/float64(sent), memory.Anon>>20)
	return files.lines(written), nil
}

// writtenBy counts the bytes that a process has written to disks, also through mapped files.
func writtenBy(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		}
	}
	return 0, fmt.Errorf("no write_bytes of process %d", pid)
}

// watchEvery is how often a folder is looked at, so that a table is seen before a compaction deletes it.
const watchEvery = 50 * time.Millisecond

// folderWatch counts the bytes of new files in a folder of cqld.
type folderWatch struct {
	dir              string
	seen             map[string]bool
	commitLog, value int64
	levels           [8]int64
}

// watchFolder counts until the returned function is called.
func watchFolder(dir string) (stop func() *folderWatch) {
	w := &folderWatch{dir: dir, seen: map[string]bool{}}
	if dir == "" {
		return func() *folderWatch { return w }
	}
	w.look()
	w.commitLog, w.value, w.levels = 0, 0, [8]int64{}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ended:
				w.look()
				return
			case <-time.After(watchEvery):
				w.look()
			}
		}
	}()
	return func() *folderWatch {
		close(ended)
		<-stopped
		return w
	}
}

// look adds the files that are new. A table counts when Badger's manifest has its level.
func (w *folderWatch) look() {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return
	}
	var tables map[uint64]badger.TableManifest
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || w.seen[e.Name()] {
			continue
		}
		number, suffix, _ := strings.Cut(e.Name(), ".")
		switch suffix {
		case "log":
			w.commitLog += info.Size()
		case "vlog":
			w.value += info.Size()
		case "sst":
			if tables == nil {
				tables = tablesOf(w.dir)
			}
			id, err := strconv.ParseUint(number, 10, 64)
			table, ok := tables[id]
			if err != nil || !ok {
				continue
			}
			w.levels[table.Level] += info.Size()
		}
		w.seen[e.Name()] = true
	}
}

// tablesOf reads the levels of tables.
func tablesOf(dir string) map[uint64]badger.TableManifest {
	file, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return nil
	}
	defer file.Close()
	manifest, _, err := badger.ReplayManifestFile(file, 0, badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil
	}
	return manifest.Tables
}

// lines are the lines of a table of all bytes written.
func (w *folderWatch) lines(written int64) string {
	var b strings.Builder
	line := func(name string, bytes int64) {
		fmt.Fprintf(&b, "| %s | %d |\n", name, bytes/1e6)
		written -= bytes
	}
	line("commit log", w.commitLog)
	line("flushed memtables: tables of level 0", w.levels[0])
	for level, bytes := range w.levels {
		if level > 0 && bytes > 0 {
			line(fmt.Sprintf("compactions into level %d", level), bytes)
		}
	}
	line("value log", w.value)
	line("the rest", written)
	return b.String()
}
