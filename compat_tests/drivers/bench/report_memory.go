package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

const (
	memoryTableCQL  = "CREATE TABLE IF NOT EXISTS bench.m (k bigint PRIMARY KEY, v blob)"
	memoryInsertCQL = "INSERT INTO bench.m (k, v) VALUES (?, ?)"
	memoryRowBytes  = 8 + cellBytes
)

// fillMemoryTable makes the table and its rows.
func (c *rawClient) fillMemoryTable(ctx context.Context, n int64) error {
	if err := c.define(ctx, memoryTableCQL); err != nil {
		return err
	}
	return c.fill(ctx, c.gently(), []string{memoryInsertCQL}, n, one(2, func(b []byte, n int64) []byte {
		return value(binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(n)), cell)
	}))
}

// reportMemory writes how much memory many small rows take, in memory and on disk.
func (m *measurement) reportMemory(ctx context.Context, page io.Writer, rows []int64) error {
	fmt.Fprintf(page, "## Memory of small rows\n\nRows of %d bytes, key and value, while they are inserted at full speed and %s afterwards, in MiB. "+
		"Mapped files are pages of tables,\nwhich the system takes back when it needs them.\n\n"+
		"| rows | | maximum without mapped files | afterwards | bytes per row | maximum with mapped files | length of the files |\n"+
		"|---|---|---|---|---|---|---|\n", memoryRowBytes, 5*restTime)
	for _, n := range rows {
		for _, name := range []string{inMemory, onDisk} {
			line, err := m.memoryOf(ctx, name, n)
			if err != nil {
				return err
			}
			fmt.Fprintf(page, "| %d | %s | %s |\n", n, name, line)
		}
	}
	fmt.Fprintln(page)
	return nil
}

// memoryOf fills a server with n rows and returns a line about its memory.
func (m *measurement) memoryOf(ctx context.Context, name string, n int64) (string, error) {
	dir := filepath.Join(m.folder, fmt.Sprint("memory", n))
	p, c, err := m.serveRaw(ctx, name, dir)
	if err != nil {
		return "", err
	}
	defer p.Stop()
	defer c.close()
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
	err = c.fillMemoryTable(ctx, n)
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
	files := "-"
	if name == onDisk {
		bytes, err := folderBytes(dir)
		if err != nil {
			return "", err
		}
		files = fmt.Sprint(bytes >> 20)
	}
	return fmt.Sprintf("%d | %d | %.0f | %d | %s", most.Anon>>20, after.Anon>>20, float64(after.Anon)/float64(n), most.RSS>>20, files), nil
}
