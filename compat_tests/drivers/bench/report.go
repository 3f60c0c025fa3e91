package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// report measures cqld in memory and on disk, a null server that gives the same answers, and a Cassandra if there is
// one. It writes a page with all parts that could be measured.
func (m *measurement) report(path string) error {
	ctx := context.Background()
	var page strings.Builder
	m.writeHead(&page)
	var failed error
	for _, part := range []func(context.Context, *strings.Builder) error{
		m.reportRequests, m.reportDriver, m.reportGrowth, m.reportMemory,
	} {
		failed = errors.Join(failed, part(ctx, &page))
	}
	fmt.Print(page.String())
	return errors.Join(failed, os.WriteFile(path, []byte(page.String()), 0o644))
}

func (m *measurement) writeHead(page *strings.Builder) {
	command := fmt.Sprintf("go run -C compat_tests/drivers ./bench -report ../../BENCHMARKS.md -seconds %g -rounds %d -warm %s -memory-rows %d -growth %s",
		m.round.Seconds(), m.rounds, m.warm, m.memoryRows, m.growth)
	fmt.Fprintf(page, `# Benchmarks

    %s

A raw client with %d connections, each with %d requests under way (pages, counts and nearest vectors: one), asks three servers in turn,
%d rounds of %g s each: cqld in memory, cqld on disk as it is by default, and a null server, which reads each request and
writes the answer that cqld gave to the first one of its kind. So the null server shows what sockets and the client leave at best.
A row has five columns of %d bytes.

The machine: %s, %d cores, %s/%s, %s. Client and servers share it.

`, command, rawConnections, rawInFlight, m.rounds, m.round.Seconds(), cellBytes, processorName(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processorName is the system's name for the processors.
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

// reportRequests writes the tables of requests.
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
	servers := []*rawClient{inMemory, onDisk}
	cassandra, err := m.dialCassandra(ctx)
	if err != nil {
		return err
	}
	if cassandra != nil {
		defer cassandra.close()
		servers = append(servers, cassandra)
	}
	for _, c := range servers {
		if err := c.prepareTables(ctx); err != nil {
			return err
		}
	}
	if m.wants(nearestWork) {
		if err := inMemory.fillVectors(ctx); err != nil { // the null server gets its answer from them
			return err
		}
	}
	null, canned, err := m.startRawNull(ctx, inMemory)
	if err != nil {
		return err
	}
	defer null.Stop()
	defer canned.close()
	page.WriteString("CPU is the server's, with what it does in the background until it rests, in µs for a request. A ratio is to the null " +
		"server's requests per second in the\nsame round: the median, and the least and the most of the rounds. " +
		"Each kind of request begins when the servers have nothing left to do.\n" +
		"p99 is in how many ms 99 of 100 requests were answered.\n\n" +
		"| | null server/s | p99 | in memory/s | ratio | CPU | p99 | on disk/s | ratio | CPU | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	var beside strings.Builder
	for _, w := range rawWorks {
		if !m.wants(w.name) {
			continue
		}
		if w.name == nearestWork {
			for _, c := range servers[1:] {
				if err := c.fillVectors(ctx); err != nil {
					return err
				}
			}
		}
		all, err := m.reportWork(ctx, w, append([]*rawClient{canned}, servers...))
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		line := fmt.Sprintf("| %s | %.0f | %.2f | %s %s\n", w.name, median(all[0].rates), median(all[0].slow),
			all[1].besideNull(all[0]), all[2].besideNull(all[0]))
		page.WriteString(line)
		fmt.Print(line)
		if cassandra != nil {
			line := fmt.Sprintf("| %s | %s %s %s |\n", w.name, all[3].alone(), all[2].alone(), ratios(all[2].rates, all[3].rates))
			beside.WriteString(line)
			fmt.Print(line)
		}
	}
	page.WriteString("\n")
	if cassandra == nil {
		page.WriteString("No Cassandra was named by CASSANDRA_ADDR and CASSANDRA_PID, so none was measured.\n\n")
		return nil
	}
	fmt.Fprintf(page, "The same rounds beside a real Cassandra, which got each kind of request for %s before. In each %d "+
		"requests are under way (pages, counts and nearest vectors: %d).\n\n"+
		"| | Cassandra/s | CPU | p99 | on disk/s | CPU | p99 | on disk, times Cassandra |\n|---|---|---|---|---|---|---|---|\n%s\n",
		m.warm, rawConnections*rawInFlight, rawConnections, beside.String())
	return m.reportCount(ctx, page, cassandra, onDisk)
}

// dialCassandra connects to the Cassandra at CASSANDRA_ADDR; nil if that is not set.
func (m *measurement) dialCassandra(ctx context.Context) (*rawClient, error) {
	addr, process := os.Getenv("CASSANDRA_ADDR"), os.Getenv("CASSANDRA_PID")
	if addr == "" || process == "" {
		return nil, nil
	}
	pid, err := strconv.Atoi(process)
	if err != nil {
		return nil, fmt.Errorf("CASSANDRA_PID: %w", err)
	}
	c, err := dialRaw(ctx, "Cassandra", addr, pid)
	if err == nil {
		c.warm = m.warm
	}
	return c, err
}

// reportCount writes how long servers take to count many rows.
func (m *measurement) reportCount(ctx context.Context, page *strings.Builder, servers ...*rawClient) error {
	if m.memoryRows == 0 {
		return nil
	}
	fmt.Fprintf(page, "`SELECT count(*)` of %d rows of %d bytes, the median of %d, in ms:", m.memoryRows, memoryRowBytes, m.rounds)
	for _, c := range servers {
		if err := errors.Join(c.fillMemoryTable(ctx, m.memoryRows), settle(c.pid)); err != nil {
			return err
		}
		var times []float64
		for range m.rounds {
			began := time.Now()
			if _, err := c.connections[0].Query(ctx, "SELECT count(*) FROM bench.m", nil, nil); err != nil {
				return fmt.Errorf("%s: count: %w", c.name, err)
			}
			times = append(times, ms(time.Since(began)))
		}
		fmt.Fprintf(page, " %s %.0f", c.name, median(times))
	}
	page.WriteString("\n\n")
	return nil
}

// startRawNull starts a null server that answers as cqld did to the first request of each kind.
func (m *measurement) startRawNull(ctx context.Context, like *rawClient) (*process.Process, *rawClient, error) {
	folder := filepath.Join(m.folder, "answers")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, nil, err
	}
	ids := map[string][]byte{}
	for _, w := range rawWorks {
		if !m.wants(w.name) {
			continue
		}
		n := len(ids)
		body, err := like.requests(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		answer, err := like.once(w.opcode, body)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", w.name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(n)), answer, 0o600); err != nil {
			return nil, nil, err
		}
		ids[w.name] = append([]byte{rawID + byte(n)}, make([]byte, 15)...)
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

// measured collects the rounds of one kind of request on one server.
type measured struct {
	result
	rates, slow []float64 // of the rounds
}

// reportWork measures one kind of request on servers in turn.
func (m *measurement) reportWork(ctx context.Context, w rawWork, servers []*rawClient) ([]measured, error) {
	depth := w.depth
	if depth == 0 {
		depth = rawInFlight
	}
	all := make([]measured, len(servers))
	numbers := make([]atomic.Int64, len(servers))
	for i, c := range servers {
		if err := settle(c.pid); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if c.warm == 0 {
			continue
		}
		body, err := c.requests(ctx, w)
		if err != nil {
			return nil, err
		}
		if _, err := c.run(w.opcode, depth, body, &numbers[i], until(c.warm)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for range m.rounds {
		for i, c := range servers {
			body, err := c.requests(ctx, w)
			if err != nil {
				return nil, err
			}
			r, err := c.measure(w.opcode, depth, body, &numbers[i], m.round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all[i].add(r)
		}
	}
	for i, c := range servers {
		if c.warm > 0 {
			continue
		}
		behind, err := settled(c.pid)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all[i].cpu += behind
	}
	return all, nil
}

func (a *measured) add(r result) {
	a.requests, a.elapsed, a.cpu = a.requests+r.requests, a.elapsed+r.elapsed, a.cpu+r.cpu
	a.rates, a.slow = append(a.rates, r.perSecond()), append(a.slow, r.slow)
}

// besideNull are the cells of a server in a table that begins with a null server.
func (a *measured) besideNull(null measured) string {
	return fmt.Sprintf("%.0f | %s | %.1f | %.2f |", median(a.rates), ratios(a.rates, null.rates), a.cpuMicros(), median(a.slow))
}

// alone are the cells of a server by itself.
func (a *measured) alone() string {
	return fmt.Sprintf("%.0f | %.1f | %.2f |", median(a.rates), a.cpuMicros(), median(a.slow))
}

// ratios formats the median, minimum and maximum of the ratios of rounds.
func ratios(of, to []float64) string {
	var all []float64
	for round := range of {
		all = append(all, of[round]/to[round])
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", median(all), slices.Min(all), slices.Max(all))
}

// measure sends requests for d, and measures throughput, p99 latency and the server's CPU time.
func (c *rawClient) measure(opcode byte, depth int, body bodyOf, numbers *atomic.Int64, d time.Duration) (r result, err error) {
	before, err := process.CPUOf(c.pid)
	if err != nil {
		return r, err
	}
	began := time.Now()
	took, err := c.run(opcode, depth, body, numbers, until(d))
	if err != nil {
		return r, err
	}
	r.elapsed, r.requests = time.Since(began), int64(len(took))
	slices.Sort(took)
	r.slow = float64(took[len(took)*99/100])
	after, err := process.CPUOf(c.pid)
	r.cpu = after - before
	return r, err
}

// median is the number in the middle, or the mean of the two in the middle.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
