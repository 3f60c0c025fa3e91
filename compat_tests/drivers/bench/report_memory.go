package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
)

const (
	memoryTableCQL  = "CREATE TABLE IF NOT EXISTS bench.m (k bigint PRIMARY KEY, v blob)"
	memoryInsertCQL = "INSERT INTO bench.m (k, v) VALUES (?, ?)"
	memoryRowBytes  = 8 + cellBytes
)

// fillMemoryTable makes the table and its rows. Cassandra gets few requests at a time: after all earlier measurements,
// some would time out otherwise.
func (c *rawClient) fillMemoryTable(ctx context.Context, n int) error {
	if err := c.define(ctx, memoryTableCQL); err != nil {
		return err
	}
	depth := rawInFlight
	if c.warm > 0 {
		depth = fewInFlight
	}
	return c.fill(ctx, depth, []string{memoryInsertCQL}, int64(n), one(2, func(b []byte, n int64) []byte {
		return value(binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(n)), cell)
	}))
}

// reportMemory writes how much memory many small rows take, in memory and on disk.
func (m *measurement) reportMemory(ctx context.Context, page *strings.Builder) error {
	if m.memoryRows == 0 {
		return nil
	}
	fmt.Fprintf(page, "%d rows of %d bytes, key and value, while they are inserted at full speed and %s afterwards, in MiB. Mapped "+
		"files are pages\nof tables, which the system takes back when it needs them.\n\n"+
		"| | most without mapped files | afterwards | bytes per row | most with mapped files | length of the files |\n|---|---|---|---|---|---|\n",
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
	err = c.fillMemoryTable(ctx, m.memoryRows)
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

// folderBytes is the total length of the files of a folder.
func folderBytes(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a compaction removed it meanwhile
		}
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
