package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

// serveRaw starts cqld, with its data in memory or in a folder, and connects to it.
func (m *measurement) serveRaw(ctx context.Context, name, folder string) (*process.Process, *rawClient, error) {
	args := slices.Concat([]string{"serve", "--listen", "127.0.0.1:0"}, storeFlags(name, folder), strings.Fields(m.serve))
	p, err := process.Start(m.binary, args...)
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
func (m *measurement) reportRequests(ctx context.Context, page io.Writer, rows []int64) error {
	tableRows = rows[0]
	servers, stop, err := m.startServers(ctx, "requests", (*rawClient).prepareTables)
	defer stop()
	if err != nil {
		return err
	}
	if m.wants(nearestWork) {
		if err := servers[0].fillVectors(ctx); err != nil { // the null server gets its answer from them
			return err
		}
	}
	works := slices.DeleteFunc(slices.Clone(rawWorks), func(w rawWork) bool { return !m.wants(w.name) })
	null, canned, err := m.startRawNull(ctx, servers[0], works)
	if err != nil {
		return err
	}
	defer null.Stop()
	defer canned.close()
	fmt.Fprintf(page, "## Requests\n\nTables of %d rows. A ratio is to the null server's rate in the same round: median, minimum and maximum.\n\n"+
		"| | null server/s | p99 | in memory/s | ratio | CPU | p99 | on disk/s | ratio | CPU | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
		tableRows)
	var beside strings.Builder
	for _, w := range works {
		if w.name == nearestWork {
			for _, c := range servers[1:] {
				if err := c.fillVectors(ctx); err != nil {
					return err
				}
			}
			if _, err := settleAll(servers); err != nil {
				return err
			}
		}
		all, err := m.measureWork(ctx, w, append([]*rawClient{canned}, servers...))
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Fprintf(page, "| %s | %.0f | %.2f | %s %s\n", w.name, median(all[0].rates), median(all[0].slow),
			all[1].besideNull(all[0]), all[2].besideNull(all[0]))
		if len(all) > 3 {
			fmt.Fprintf(&beside, "| %s | %s %s %s |\n", w.name, all[3].alone(), all[2].alone(), ratios(all[2].rates, all[3].rates))
		}
	}
	if beside.Len() == 0 {
		fmt.Fprintln(page)
		return nil
	}
	fmt.Fprintf(page, "\nThe same rounds beside Cassandra:\n\n"+
		"| | Cassandra/s | CPU | p99 | on disk/s | CPU | p99 | on disk, times Cassandra |\n|---|---|---|---|---|---|---|---|\n%s\n", beside.String())
	return m.reportCount(ctx, page, servers[1:])
}

// startServers starts cqld in memory and on disk, fills both and the Cassandra that runs, if there is one, and waits
// until they rest. stop ends all and deletes their data.
func (m *measurement) startServers(
	ctx context.Context, folder string, fill func(*rawClient, context.Context) error,
) (servers []*rawClient, stop func(), err error) {
	folder = filepath.Join(m.folder, folder)
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
		os.RemoveAll(folder)
	}
	for _, name := range []string{inMemory, onDisk} {
		p, c, err := m.serveRaw(ctx, name, folder)
		if err != nil {
			return nil, stop, err
		}
		servers = append(servers, c)
		stops = append(stops, c.close, func() { p.Stop() })
	}
	cassandra, err := m.dialCassandra(ctx)
	if err != nil {
		return nil, stop, err
	}
	if cassandra != nil {
		servers = append(servers, cassandra)
		stops = append(stops, cassandra.close)
		if _, err := cassandra.connections[0].Query(ctx, "DROP KEYSPACE IF EXISTS bench", nil, nil); err != nil {
			return nil, stop, err
		}
	}
	for _, c := range servers {
		if err := fill(c, ctx); err != nil {
			return nil, stop, fmt.Errorf("fill %s: %w", c.name, err)
		}
	}
	_, err = settleAll(servers)
	return servers, stop, err
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

// countedRows is how many rows servers count.
const countedRows = 1_000_000

// reportCount writes how long servers take to count many rows.
func (m *measurement) reportCount(ctx context.Context, page io.Writer, servers []*rawClient) error {
	fmt.Fprintf(page, "`SELECT count(*)` of %d rows of %d bytes, the median of %d, in ms:", countedRows, memoryRowBytes, m.rounds)
	for _, c := range servers {
		if err := c.fillMemoryTable(ctx, countedRows); err != nil {
			return err
		}
		if _, err := settle(c.pid); err != nil {
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
	fmt.Fprint(page, "\n\n")
	return nil
}

// startRawNull starts a null server that answers as cqld did to the first request of each kind.
func (m *measurement) startRawNull(ctx context.Context, like *rawClient, works []rawWork) (*process.Process, *rawClient, error) {
	folder, err := os.MkdirTemp(m.folder, "answers")
	if err != nil {
		return nil, nil, err
	}
	ids := map[string][]byte{}
	for _, w := range works {
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
	p, err := startNull(folder)
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

// settleAll waits until servers have settled, and returns the CPU time that each used meanwhile.
func settleAll(servers []*rawClient) ([]time.Duration, error) {
	used, failed := make([]time.Duration, len(servers)), make([]error, len(servers))
	var waiting sync.WaitGroup
	for i, c := range servers {
		waiting.Go(func() { used[i], failed[i] = settle(c.pid) })
	}
	waiting.Wait()
	return used, errors.Join(failed...)
}

// measured collects the rounds of one kind of request on one server.
type measured struct {
	requests    int64
	cpu         time.Duration
	rates, slow []float64 // of the rounds: requests per second, and p99 in ms
}

func (a *measured) cpuMicros() float64 {
	return float64(a.cpu) / float64(time.Microsecond) / float64(a.requests)
}

// measureWork measures one kind of request on servers in turn.
func (m *measurement) measureWork(ctx context.Context, w rawWork, servers []*rawClient) ([]measured, error) {
	depth := w.depth
	if depth == 0 {
		depth = rawInFlight
	}
	all := make([]measured, len(servers))
	numbers := make([]atomic.Int64, len(servers))
	for i, c := range servers {
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
			if err := c.measure(&all[i], w.opcode, depth, body, &numbers[i], m.round); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	used, err := settleAll(servers)
	for i, c := range servers {
		if c.warm == 0 { // Cassandra is never quiet
			all[i].cpu += used[i]
		}
	}
	return all, err
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

// measure sends requests for d, and adds throughput, p99 latency and the server's CPU time to a.
func (c *rawClient) measure(a *measured, opcode byte, depth int, body bodyOf, numbers *atomic.Int64, d time.Duration) error {
	before, err := process.CPUOf(c.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	took, err := c.run(opcode, depth, body, numbers, until(d))
	if err != nil {
		return err
	}
	slices.Sort(took)
	a.requests += int64(len(took))
	a.rates = append(a.rates, float64(len(took))/time.Since(began).Seconds())
	a.slow = append(a.slow, float64(took[len(took)*99/100]))
	after, err := process.CPUOf(c.pid)
	a.cpu += after - before
	return err
}

// median is the number in the middle, or the mean of the two in the middle.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
