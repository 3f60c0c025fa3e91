package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

const (
	growthTableCQL  = "CREATE TABLE IF NOT EXISTS bench.g (p int, c int, v blob, PRIMARY KEY (p, c))"
	growthInsertCQL = "INSERT INTO bench.g (p, c, v) VALUES (?, ?, ?)"
	growthGetCQL    = "SELECT v FROM bench.g WHERE p = ? AND c = ?"
	growthSliceCQL  = "SELECT c, v FROM bench.g WHERE p = ?"

	growthGets    = 300_000
	growthSlices  = 10_000
	growthIndexed = 50_000
)

// reportGrowth writes the CPU time of requests in folders with ever more rows.
func (m *measurement) reportGrowth(ctx context.Context, page *strings.Builder) error {
	if m.growth == "" {
		return nil
	}
	fmt.Fprintf(page, "Folders with ever more rows of %d bytes, %d to a partition. Each is filled and opened again; then %d rows and %d "+
		"partitions are read in a random\norder (none twice, if there are as many), and new rows are written for %s, and at last the server "+
		"is killed and the folder opened once more.\nOpening is from the start of the process to the first answer, the best of %d after "+
		"the orderly end. CPU in µs, of inserts with what the server does until it rests. Of another folder, with as many rows of\nfour numbers and an index that has ten rows for each value, "+
		"those of %d values are read, and the same in memory.\n\n"+
		"| rows | length of the files, MiB | opened in ms | row | partition | insert | opened after kill -9 in ms | memory without mapped files, MiB | "+
		"ten rows by an index | in memory |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n",
		8+cellBytes, rawSlice, growthGets, growthSlices, time.Duration(m.rounds)*m.round, m.rounds, growthIndexed)
	for size := range strings.SplitSeq(m.growth, ",") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return fmt.Errorf("-growth: %w", err)
		}
		line, err := m.grow(ctx, n)
		if err != nil {
			return fmt.Errorf("%d rows: %w", n, err)
		}
		indexed, err := m.growIndexed(ctx, n)
		if err != nil {
			return fmt.Errorf("%d rows with an index: %w", n, err)
		}
		inMemory, err := m.growIndexedInMemory(ctx, n)
		if err != nil {
			return fmt.Errorf("%d rows with an index in memory: %w", n, err)
		}
		line += fmt.Sprintf(" %.1f | %.1f |\n", indexed.cpuMicros(), inMemory.cpuMicros())
		page.WriteString(line)
		fmt.Print(line)
	}
	page.WriteString("\n")
	return nil
}

// grow measures a folder with n rows.
func (m *measurement) grow(ctx context.Context, n int64) (line string, err error) {
	folder := filepath.Join(m.folder, fmt.Sprint("growth", n))
	p, c, err := m.serveFilled(ctx, "on disk", []string{"--data", folder}, []string{growthTableCQL}, growthInsertCQL, n, growthInsert(0))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	defer func() { c.close() }()
	var openings []float64
	for range m.rounds {
		if err := p.Stop(); err != nil {
			return "", err
		}
		var took time.Duration
		if took, p, c, err = m.reopen(ctx, c, folder); err != nil {
			return "", err
		}
		openings = append(openings, ms(took))
	}
	bytes, err := folderBytes(folder)
	if err != nil {
		return "", err
	}
	partitions := max(1, n/rawSlice)
	get, err := c.requestsCPU(ctx, growthGetCQL, growthGets, one(2, func(b []byte, i int64) []byte {
		row := scattered(i, n)
		return intValue(intValue(b, int32(row/rawSlice)), int32(row%rawSlice))
	}))
	if err != nil {
		return "", err
	}
	slice, err := c.requestsCPU(ctx, growthSliceCQL, growthSlices, one(1, func(b []byte, i int64) []byte {
		return intValue(b, int32(scattered(i, partitions)))
	}))
	if err != nil {
		return "", err
	}
	body, err := c.requests(ctx, rawWork{cql: []string{growthInsertCQL}, body: growthInsert(n)})
	if err != nil {
		return "", err
	}
	var numbers atomic.Int64
	insert, err := c.measure(opExecute, rawInFlight, body, &numbers, time.Duration(m.rounds)*m.round)
	if err != nil {
		return "", err
	}
	memory, err := p.Memory()
	if err != nil {
		return "", err
	}
	background, err := settled(c.pid)
	if err != nil {
		return "", err
	}
	insert.cpu += background
	if _, err := c.run(opExecute, rawInFlight, body, &numbers, until(m.round)); err != nil { // fills the commit log again
		return "", err
	}
	if err := p.Kill(); err != nil {
		return "", err
	}
	var killed time.Duration
	if killed, p, c, err = m.reopen(ctx, c, folder); err != nil {
		return "", err
	}
	return fmt.Sprintf("| %d | %d | %.0f | %.1f | %.1f | %.1f | %.0f | %d |", n, bytes>>20, slices.Min(openings), get.cpuMicros(),
		slice.cpuMicros(), insert.cpuMicros(), ms(killed), memory.Anon>>20), nil
}

// growIndexed measures reads by an index in a folder with n rows.
func (m *measurement) growIndexed(ctx context.Context, n int64) (r result, err error) {
	folder := filepath.Join(m.folder, fmt.Sprint("indexed", n))
	p, c, err := m.serveFilled(ctx, "on disk", []string{"--data", folder}, indexedTable, indexedInsertCQL, n, growthIndexedRow())
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	defer func() { c.close() }()
	if err := p.Stop(); err != nil {
		return r, err
	}
	if _, p, c, err = m.reopen(ctx, c, folder); err != nil {
		return r, err
	}
	return c.readIndexed(ctx, n)
}

// growIndexedInMemory measures the same reads with n rows in memory.
func (m *measurement) growIndexedInMemory(ctx context.Context, n int64) (r result, err error) {
	p, c, err := m.serveFilled(ctx, "in memory", []string{"--memory"}, indexedTable, indexedInsertCQL, n, growthIndexedRow())
	if err != nil {
		return r, err
	}
	defer func() { c.close(); err = errors.Join(err, p.Stop()) }()
	return c.readIndexed(ctx, n)
}

// readIndexed reads by the index of n rows.
func (c *rawClient) readIndexed(ctx context.Context, n int64) (result, error) {
	return c.requestsCPU(ctx, indexedCQL, growthIndexed, one(1, func(b []byte, i int64) []byte {
		return intValue(b, int32(scattered(i, max(1, n/indexedGroup))))
	}))
}

// growthIndexedRow makes requests that write rows of the table with an index.
func growthIndexedRow() func(ids [][]byte) bodyOf {
	return one(4, func(b []byte, i int64) []byte { return derivedRow(b, int32(growthRow(i))) })
}

// serveFilled starts a server and writes n rows to a table there.
func (m *measurement) serveFilled(
	ctx context.Context, name string, args, table []string, insert string, n int64, row func(ids [][]byte) bodyOf,
) (*process.Process, *rawClient, error) {
	p, c, err := m.serveRaw(ctx, name, args...)
	if err != nil {
		return nil, nil, err
	}
	if err = c.define(ctx, table...); err == nil {
		err = c.fill(ctx, rawInFlight, []string{insert}, n, row)
	}
	if err != nil {
		c.close()
		return nil, nil, errors.Join(err, p.Stop())
	}
	return p, c, nil
}

// reopen starts a server on a folder again. The server that c is connected to has ended.
func (m *measurement) reopen(ctx context.Context, c *rawClient, folder string) (time.Duration, *process.Process, *rawClient, error) {
	c.close()
	took, p, err := startToAnswer(m.binary, []string{"--data", folder})
	if err != nil {
		return 0, p, c, err
	}
	c, err = dialRaw(ctx, "on disk", p.Addr, p.Pid())
	return took, p, c, err
}

// requestsCPU waits until the server is idle, sends at least n requests of a statement, and measures their CPU time.
func (c *rawClient) requestsCPU(ctx context.Context, cql string, n int64, body func(ids [][]byte) bodyOf) (r result, err error) {
	if err := settle(c.pid); err != nil {
		return r, err
	}
	before, err := process.CPUOf(c.pid)
	if err != nil {
		return r, err
	}
	if err := c.fill(ctx, rawInFlight, []string{cql}, n, body); err != nil {
		return r, err
	}
	after, err := process.CPUOf(c.pid)
	r.cpu, r.requests = after-before, n
	return r, err
}

// growthInsert makes requests that write rows of the table, beginning with row first.
func growthInsert(first int64) func(ids [][]byte) bodyOf {
	return one(3, func(b []byte, i int64) []byte {
		row := first + growthRow(i)
		return value(intValue(intValue(b, int32(row/rawSlice)), int32(row%rawSlice)), cell)
	})
}

// growthRow is the i-th row that is written.
func growthRow(i int64) int64 {
	return scattered(i%growthBlock, growthBlock) + i/growthBlock*growthBlock
}

// growthBlock is the number of consecutive rows that are written in random order before the next block begins.
const growthBlock = 10_000

// scattered is the i-th number below n in an order that looks random and has each once.
func scattered(i, n int64) int64 {
	const step = 2_147_483_647 // a prime number that is no factor of any n
	return i % n * step % n
}
