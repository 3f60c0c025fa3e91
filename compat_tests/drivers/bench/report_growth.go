package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cqld/cqld/compat_tests/process"
)

// growthTables are the tables of which the growth part measures requests, each on servers that have no other table.
var growthTables = []struct {
	fill  func(*rawClient, context.Context) error
	works []rawWork
}{
	{(*rawClient).fillPartitions, []rawWork{sliceWork}},
	{(*rawClient).fillRows, []rawWork{readWork, updateWork, insertWork}},
}

// reportGrowth writes the CPU time and throughput of requests with ever more rows.
func (m *measurement) reportGrowth(ctx context.Context, page io.Writer, rows []int64) error {
	const head = "| rows | | slice of 100 | read | update | insert |"
	fmt.Fprintf(page, "## Growth\n\nTables with ever more rows: CPU time of a request, and the memory of the server without mapped files "+
		"in MiB, at the end.\n\n%s memory |\n|---|---|---|---|---|---|---|\n", head)
	var rates strings.Builder
	for _, n := range rows {
		tableRows = n
		var names []string
		var memory []int64
		var all [][]measured // of each server, each kind of request
		for _, t := range growthTables {
			var err error
			if names, memory, err = m.growTable(ctx, t.fill, t.works, &all); err != nil {
				return fmt.Errorf("%d rows: %w", n, err)
			}
		}
		for i, name := range names {
			fmt.Fprintf(page, "| %d | %s |", n, name)
			fmt.Fprintf(&rates, "| %d | %s |", n, name)
			for _, w := range all[i] {
				fmt.Fprintf(page, " %.1f |", w.cpuMicros())
				fmt.Fprintf(&rates, " %.0f (%.1f) |", median(w.rates), median(w.slow))
			}
			fmt.Fprintf(page, " %d |\n", memory[i]>>20)
			fmt.Fprintln(&rates)
		}
	}
	fmt.Fprintf(page, "\nRequests per second in the same rounds, and p99:\n\n%s\n|---|---|---|---|---|---|\n%s\n", head, rates.String())
	return nil
}

// growTable measures requests of a table, and appends the results of each server to all. It returns the names of the
// servers, and the memory that they have at the end.
func (m *measurement) growTable(
	ctx context.Context, fill func(*rawClient, context.Context) error, works []rawWork, all *[][]measured,
) (names []string, memory []int64, err error) {
	servers, stop, err := m.startServers(ctx, "growth", fill)
	defer stop()
	if err != nil {
		return nil, nil, err
	}
	null, canned, err := m.startRawNull(ctx, servers[0], works)
	if err != nil {
		return nil, nil, err
	}
	defer null.Stop()
	defer canned.close()
	servers = append([]*rawClient{canned}, servers...)
	if *all == nil {
		*all = make([][]measured, len(servers))
	}
	for _, w := range works {
		of, err := m.measureWork(ctx, w, servers)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", w.name, err)
		}
		for i := range servers {
			(*all)[i] = append((*all)[i], of[i])
		}
	}
	for _, c := range servers {
		now, err := process.MemoryOf(c.pid)
		if err != nil {
			return nil, nil, err
		}
		names, memory = append(names, c.name), append(memory, now.Anon)
	}
	return names, memory, nil
}
