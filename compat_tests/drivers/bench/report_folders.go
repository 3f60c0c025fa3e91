package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/cqld/cqld/compat_tests/process"
)

const (
	folderTableCQL  = "CREATE TABLE IF NOT EXISTS bench.g (p int, c int, v blob, PRIMARY KEY (p, c))"
	folderInsertCQL = "INSERT INTO bench.g (p, c, v) VALUES (?, ?, ?)"

	indexedReads = 50_000
)

// reportFolders writes how long folders with ever more rows take to open, and what reads by an index cost there.
func (m *measurement) reportFolders(ctx context.Context, page io.Writer, rows []int64) error {
	fmt.Fprintf(page, "## Folders\n\nFolders with ever more rows of %d bytes, %d to a partition. Each is filled and opened again. Then the "+
		"server is killed after writing for %s,\nand the folder is opened once more. Opening is from the start of the process to the first answer, in ms, the best of %d after the "+
		"orderly end.\nTables with as many rows of four numbers have an index with ten rows for each value: the CPU time for "+
		"those of a value, on disk and in memory.\n\n"+
		"| rows | length of the files, MiB | opened | opened after kill -9 | memory without mapped files, MiB | "+
		"ten rows by an index on disk | in memory |\n"+
		"|---|---|---|---|---|---|---|\n",
		8+cellBytes, rawSlice, m.round, m.rounds)
	for _, n := range rows {
		line, err := m.openFolder(ctx, n)
		if err != nil {
			return fmt.Errorf("%d rows: %w", n, err)
		}
		for _, name := range []string{onDisk, inMemory} {
			cpu, err := m.readIndexed(ctx, name, n)
			if err != nil {
				return fmt.Errorf("%d rows with an index %s: %w", n, name, err)
			}
			line += fmt.Sprintf(" %.1f |", cpu)
		}
		fmt.Fprintln(page, line)
	}
	fmt.Fprintln(page)
	return nil
}

// openFolder measures a folder with n rows.
func (m *measurement) openFolder(ctx context.Context, n int64) (line string, err error) {
	folder := filepath.Join(m.folder, fmt.Sprint("folder", n))
	defer os.RemoveAll(folder)
	p, c, err := m.serveFilled(ctx, onDisk, folder, []string{folderTableCQL}, folderInsertCQL, n, folderInsert(0))
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
		var took float64
		if took, p, c, err = m.reopen(ctx, c, folder); err != nil {
			return "", err
		}
		openings = append(openings, took)
	}
	bytes, err := folderBytes(folder)
	if err != nil {
		return "", err
	}
	body, err := c.requests(ctx, rawWork{cql: []string{folderInsertCQL}, body: folderInsert(n)})
	if err != nil {
		return "", err
	}
	if _, err := c.run(opExecute, rawInFlight, body, new(atomic.Int64), until(m.round)); err != nil {
		return "", err
	}
	memory, err := p.Memory()
	if err != nil {
		return "", err
	}
	if err := p.Kill(); err != nil {
		return "", err
	}
	var killed float64
	if killed, p, c, err = m.reopen(ctx, c, folder); err != nil {
		return "", err
	}
	return fmt.Sprintf("| %d | %d | %.0f | %.0f | %d |", n, bytes>>20, slices.Min(openings), killed, memory.Anon>>20), nil
}

// readIndexed returns the CPU time of reads by the index of n rows, in µs. The rows on disk are in a folder that was
// opened again.
func (m *measurement) readIndexed(ctx context.Context, name string, n int64) (cpu float64, err error) {
	folder := filepath.Join(m.folder, fmt.Sprint("indexed", n))
	defer os.RemoveAll(folder)
	p, c, err := m.serveFilled(ctx, name, folder, indexedTable, indexedInsertCQL, n, one(4, func(b []byte, i int64) []byte {
		return derivedRow(b, int32(folderRow(i)))
	}))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	defer func() { c.close() }()
	if name == onDisk {
		if err := p.Stop(); err != nil {
			return 0, err
		}
		if _, p, c, err = m.reopen(ctx, c, folder); err != nil {
			return 0, err
		}
	}
	if _, err := settle(c.pid); err != nil {
		return 0, err
	}
	before, err := process.CPUOf(c.pid)
	if err != nil {
		return 0, err
	}
	if err := c.fill(ctx, rawInFlight, []string{indexedCQL}, indexedReads, one(1, func(b []byte, i int64) []byte {
		return intValue(b, int32(scattered(i, n/indexedGroup)))
	})); err != nil {
		return 0, err
	}
	after, err := process.CPUOf(c.pid)
	return ms(after-before) * 1000 / indexedReads, err
}

// serveFilled starts a server and writes n rows to a table there.
func (m *measurement) serveFilled(
	ctx context.Context, name, folder string, table []string, insert string, n int64, row func(ids [][]byte) bodyOf,
) (*process.Process, *rawClient, error) {
	p, c, err := m.serveRaw(ctx, name, folder)
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
func (m *measurement) reopen(ctx context.Context, c *rawClient, folder string) (float64, *process.Process, *rawClient, error) {
	c.close()
	took, p, err := startToAnswer(m.binary, storeFlags(onDisk, folder))
	if err != nil {
		return 0, p, c, err
	}
	c, err = dialRaw(ctx, onDisk, p.Addr, p.Pid())
	return took, p, c, err
}

// folderInsert makes requests that write rows of the table, beginning with row first.
func folderInsert(first int64) func(ids [][]byte) bodyOf {
	return one(3, func(b []byte, i int64) []byte {
		row := first + folderRow(i)
		return value(intValue(intValue(b, int32(row/rawSlice)), int32(row%rawSlice)), cell)
	})
}

// folderRow is the i-th row that is written.
func folderRow(i int64) int64 {
	return scattered(i%folderBlock, folderBlock) + i/folderBlock*folderBlock
}

// folderBlock is the number of consecutive rows that are written in random order before the next block begins.
const folderBlock = 10_000
