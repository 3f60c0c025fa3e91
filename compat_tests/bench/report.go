package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// report measures cqld in memory and on disk with the raw client, beside a null server that gives the same answers, and
// writes a page about it.
func (m *measurement) report(path string) error {
	ctx := context.Background()
	var page strings.Builder
	m.writeHead(&page)
	if err := m.reportRequests(ctx, &page); err != nil {
		return err
	}
	if err := m.reportMemory(ctx, &page); err != nil {
		return err
	}
	fmt.Print(page.String())
	return os.WriteFile(path, []byte(page.String()), 0o644)
}

func (m *measurement) writeHead(page *strings.Builder) {
	command := fmt.Sprintf("go run ./compat_tests/bench -report BENCHMARKS.md -seconds %g -rounds %d -memory-rows %d",
		m.round.Seconds(), m.rounds, m.memoryRows)
	fmt.Fprintf(page, `# Benchmarks

    %s

A raw client with %d connections, each with %d requests under way (pages and counts: one), asks three servers in turn,
%d rounds of %g s each: cqld in memory, cqld on disk as it is by default, and a null server, which reads each request and
writes the answer that cqld gave to the first one of its kind. So the null server shows what sockets and the client leave at best.
A row has five columns of %d bytes.

The machine: %s, %d cores, %s/%s, %s. Client and servers share it.

`, command, rawConnections, rawInFlight, m.rounds, m.round.Seconds(), cellBytes, processorName(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processorName is what the system calls the processors.
func processorName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processors"
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processors"
}

// serveRaw starts cqld and makes the tables.
func (m *measurement) serveRaw(ctx context.Context, name string, args ...string) (*process.Process, *rawClient, error) {
	p, err := process.Start(m.binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return nil, nil, err
	}
	c, err := dialRaw(ctx, name, p.Addr, p.Pid())
	if err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	return p, c, nil
}

// reportRequests writes the table of requests.
func (m *measurement) reportRequests(ctx context.Context, page *strings.Builder) error {
	memory, inMemory, err := m.serveRaw(ctx, "in memory", "--memory")
	if err != nil {
		return err
	}
	defer memory.Stop()
	defer inMemory.close()
	disk, onDisk, err := m.serveRaw(ctx, "on disk", "--data", filepath.Join(m.folder, "report"))
	if err != nil {
		return err
	}
	defer disk.Stop()
	defer onDisk.close()
	for _, c := range []*rawClient{inMemory, onDisk} {
		if err := c.prepareTables(ctx); err != nil {
			return err
		}
	}
	null, canned, err := m.startRawNull(ctx, inMemory)
	if err != nil {
		return err
	}
	defer null.Stop()
	defer canned.close()
	page.WriteString("CPU is the server's, with what it does in the background, in µs for a request. A ratio is to the null " +
		"server's requests per second in the\nsame round: the median, and the least and the most of the rounds.\n\n" +
		"| | null server/s | in memory/s | ratio | CPU | on disk/s | ratio | CPU |\n|---|---|---|---|---|---|---|---|\n")
	for _, w := range rawWorks {
		if m.only != "" && !slices.Contains(strings.Split(m.only, ","), w.name) {
			continue
		}
		line, err := m.reportWork(ctx, w, canned, inMemory, onDisk)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		page.WriteString(line)
		fmt.Print(line)
	}
	page.WriteString("\n")
	return nil
}

// startRawNull starts a null server that answers as cqld did to the first request of each kind.
func (m *measurement) startRawNull(ctx context.Context, like *rawClient) (*process.Process, *rawClient, error) {
	folder := filepath.Join(m.folder, "answers")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, nil, err
	}
	ids := map[string][]byte{}
	for i, w := range rawWorks {
		body, err := like.requests(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		answer, err := like.once(w.opcode, body)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), answer, 0o600); err != nil {
			return nil, nil, err
		}
		ids[w.name] = append([]byte{rawID + byte(i)}, make([]byte, 15)...)
	}
	me, err := self()
	if err != nil {
		return nil, nil, err
	}
	p, err := process.Start(me, "-null", "-answers", folder)
	if err != nil {
		return nil, nil, err
	}
	c, err := dialRaw(ctx, "null server", p.Addr, p.Pid())
	if err != nil {
		return nil, nil, errors.Join(err, p.Stop())
	}
	c.answers = ids
	return p, c, nil
}

// reportWork measures one kind of request and returns its line.
func (m *measurement) reportWork(ctx context.Context, w rawWork, null *rawClient, ours ...*rawClient) (string, error) {
	depth := w.depth
	if depth == 0 {
		depth = rawInFlight
	}
	all := append([]*rawClient{null}, ours...)
	rates := make([][]float64, len(all))
	sums := make([]result, len(all))
	numbers := make([]atomic.Int64, len(all))
	for range m.rounds {
		for i, c := range all {
			body, err := c.requests(ctx, w)
			if err != nil {
				return "", err
			}
			r, err := c.measure(w.opcode, depth, body, &numbers[i], m.round)
			if err != nil {
				return "", fmt.Errorf("%s: %w", c.name, err)
			}
			rates[i] = append(rates[i], r.perSecond())
			sums[i].requests, sums[i].elapsed, sums[i].cpu = sums[i].requests+r.requests, sums[i].elapsed+r.elapsed, sums[i].cpu+r.cpu
		}
	}
	line := fmt.Sprintf("| %s | %.0f |", w.name, median(rates[0]))
	for i := 1; i < len(all); i++ {
		var ratios []float64
		for round, rate := range rates[i] {
			ratios = append(ratios, rate/rates[0][round])
		}
		line += fmt.Sprintf(" %.0f | %.2f (%.2f-%.2f) | %.1f |", median(rates[i]), median(ratios), slices.Min(ratios),
			slices.Max(ratios), sums[i].cpuMicros())
	}
	return line + "\n", nil
}

// measure sends requests for a while.
func (c *rawClient) measure(opcode byte, depth int, body bodyOf, numbers *atomic.Int64, d time.Duration) (r result, err error) {
	before, err := process.CPUOf(c.pid)
	if err != nil {
		return r, err
	}
	began := time.Now()
	if r.requests, err = c.run(opcode, depth, body, numbers, until(d)); err != nil {
		return r, err
	}
	r.elapsed = time.Since(began)
	after, err := process.CPUOf(c.pid)
	r.cpu = after - before
	return r, err
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

const (
	memoryTableCQL  = "CREATE TABLE IF NOT EXISTS bench.m (k bigint PRIMARY KEY, v blob)"
	memoryInsertCQL = "INSERT INTO bench.m (k, v) VALUES (?, ?)"
	memoryRowBytes  = 8 + cellBytes
)

// reportMemory writes what many small rows take, in memory and on disk.
func (m *measurement) reportMemory(ctx context.Context, page *strings.Builder) error {
	if m.memoryRows == 0 {
		return nil
	}
	fmt.Fprintf(page, "%d rows of %d bytes, key and value, while they are inserted at full speed and %s afterwards, in MiB. Mapped "+
		"files are pages\nof tables, which the system takes back when it needs them.\n\n"+
		"| | most without mapped files | afterwards | bytes per row | most with mapped files | folder |\n|---|---|---|---|---|---|\n",
		m.memoryRows, memoryRowBytes, 5*restTime)
	for _, args := range [][]string{{"--memory"}, {"--data", filepath.Join(m.folder, "memory")}} {
		line, err := m.memoryOf(ctx, map[string]string{"--memory": "in memory", "--data": "on disk"}[args[0]], args)
		if err != nil {
			return err
		}
		page.WriteString(line)
	}
	return nil
}

// memoryOf fills a server and returns a line about its memory.
func (m *measurement) memoryOf(ctx context.Context, name string, args []string) (string, error) {
	p, c, err := m.serveRaw(ctx, name, args...)
	if err != nil {
		return "", err
	}
	defer p.Stop()
	defer c.close()
	for _, cql := range []string{
		"CREATE KEYSPACE bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", memoryTableCQL,
	} {
		if _, err := c.connections[0].Query(ctx, cql, nil, nil); err != nil {
			return "", err
		}
	}
	var most process.Memory
	watching, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			if now, err := p.Memory(); err == nil {
				most.Anon, most.RSS = max(most.Anon, now.Anon), max(most.RSS, now.RSS)
			}
			select {
			case <-watching:
				return
			case <-time.After(restTime / 20):
			}
		}
	}()
	err = c.fill(ctx, memoryInsertCQL, int64(m.memoryRows), one(2, func(b []byte, n int64) []byte {
		b = append(b, 0, 0, 0, 8, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		return value(b, cell)
	}))
	close(watching)
	<-watched
	if err != nil {
		return "", err
	}
	time.Sleep(5 * restTime)
	after, err := p.Memory()
	if err != nil {
		return "", err
	}
	folder := "-"
	if len(args) > 1 {
		bytes, err := folderBytes(args[1])
		if err != nil {
			return "", err
		}
		folder = fmt.Sprint(bytes >> 20)
	}
	return fmt.Sprintf("| %s | %d | %d | %.0f | %d | %s |\n", name, most.Anon>>20, after.Anon>>20,
		float64(after.Anon)/float64(m.memoryRows), most.RSS>>20, folder), nil
}

// folderBytes is how long the files of a folder are.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was merged into another meanwhile
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
