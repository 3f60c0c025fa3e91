package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/compat_tests/process"
	"github.com/cqld/cqld/protocol/client"
)

// promptRuns is how often a shell is started on a terminal; the median counts.
const promptRuns = 20

// copyLimit is how long a COPY may take.
const copyLimit = 30 * time.Minute

// cqlShell is a shell to measure.
type cqlShell struct {
	name    string
	command []string // the program and its first arguments
	host    string
	port    string
	folder  string // for its settings and files

	prompts  []float64 // in ms
	from, to float64   // rows per second
}

// reportShell writes how long cqld shell and cqlsh take to their first prompt, and how fast they copy rows.
func (m *measurement) reportShell(ctx context.Context, page io.Writer, rows []int64) error {
	p, err := process.Start(m.binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, storeFlags(inMemory, "")...)...)
	if err != nil {
		return err
	}
	defer p.Stop()
	host, port, _ := strings.Cut(p.Addr, ":")
	shells := []*cqlShell{{name: "cqld shell", command: []string{m.binary, "shell"}}}
	if m.cqlsh != "" {
		version, err := exec.CommandContext(ctx, m.cqlsh, "--version").Output()
		if err != nil {
			return fmt.Errorf("%s --version: %w", m.cqlsh, err)
		}
		shells = append(shells, &cqlShell{name: strings.TrimSpace(string(version)), command: []string{m.cqlsh}})
	}
	for i, s := range shells {
		s.host, s.port, s.folder = host, port, filepath.Join(m.folder, fmt.Sprint("shell", i))
		if err := os.MkdirAll(s.folder, 0o700); err != nil {
			return err
		}
	}
	for range promptRuns {
		for _, s := range shells {
			took, err := s.firstPrompt(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.prompts = append(s.prompts, took)
		}
	}
	lines := filepath.Join(m.folder, "lines.csv")
	size, err := writeLines(lines, rows[0])
	if err != nil {
		return err
	}
	for _, s := range shells {
		if err := s.copyRows(ctx, p.Addr, lines, rows[0]); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	fmt.Fprintf(page, "## Shell\n\nFrom exec to the first prompt on a terminal: the median of %d starts in ms. COPY of %d rows of %d bytes as CSV, "+
		"one run: rows per\nsecond from exec to exit. The server is cqld in memory.\n\n"+
		"| | first prompt | slowest | COPY FROM/s | COPY TO/s |\n|---|---|---|---|---|\n", promptRuns, rows[0], size/rows[0])
	for _, s := range shells {
		fmt.Fprintf(page, "| %s | %.0f | %.0f | %.0f | %.0f |\n", s.name, median(s.prompts), slices.Max(s.prompts), s.from, s.to)
	}
	if len(shells) == 1 {
		fmt.Fprint(page, "\ncqlsh was not measured: neither -cqlsh nor the variable CQLSH names one.\n\n")
		return nil
	}
	own, other := shells[0], shells[1]
	fmt.Fprintf(page, "| cqld shell, times as fast | %.1f | | %.1f | %.1f |\n\n", median(other.prompts)/median(own.prompts), own.from/other.from,
		own.to/other.to)
	return nil
}

// run is the shell's command with more arguments.
func (s *cqlShell) run(ctx context.Context, more ...string) *exec.Cmd {
	args := slices.Concat(s.command[1:], []string{s.host, s.port}, more)
	cmd := exec.CommandContext(ctx, s.command[0], args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "HOME="+s.folder, "TERM=xterm")
	return cmd
}

// firstPrompt starts the shell on a terminal and returns how many ms it took to its prompt.
func (s *cqlShell) firstPrompt(ctx context.Context) (took float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := s.run(ctx)
	began := time.Now()
	keyboard, err := startOnTerminal(cmd)
	if err != nil {
		return 0, err
	}
	defer keyboard.Close()
	shown := ""
	for buffer := make([]byte, 4096); !strings.Contains(shown, "cqlsh> "); {
		n, err := keyboard.Read(buffer)
		if err != nil {
			return 0, errors.Join(fmt.Errorf("no prompt: %w after %q", err, shown), cmd.Wait())
		}
		shown += string(buffer[:n])
	}
	took = ms(time.Since(began))
	if _, err := keyboard.WriteString("exit\n"); err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, keyboard) // until the shell has closed the terminal, which is an error on Linux
	return took, cmd.Wait()
}

// copyRows measures COPY in both directions, and checks that no row is missing.
func (s *cqlShell) copyRows(ctx context.Context, addr, lines string, rows int64) error {
	ctx, cancel := context.WithTimeout(ctx, copyLimit)
	defer cancel()
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range []string{
		"CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"DROP TABLE IF EXISTS bench.lines",
		"CREATE TABLE bench.lines (id bigint PRIMARY KEY, name text, price double, sold int, made timestamp)",
	} {
		if _, err := conn.Query(ctx, statement, nil, nil); err != nil {
			return err
		}
	}
	copied := filepath.Join(s.folder, "copied.csv")
	for _, way := range []struct {
		statement string
		rate      *float64
	}{{"FROM '" + lines + "'", &s.from}, {"TO '" + copied + "'", &s.to}} {
		statement := "COPY bench.lines (id, name, price, sold, made) " + way.statement
		began := time.Now()
		if out, err := s.run(ctx, "-e", statement).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", statement, err, out)
		}
		*way.rate = float64(rows) / time.Since(began).Seconds()
	}
	file, err := os.Open(copied)
	if err != nil {
		return err
	}
	defer file.Close()
	n := int64(0)
	in := bufio.NewScanner(file)
	for in.Scan() {
		n++
	}
	if err := in.Err(); err != nil || n != rows {
		return errors.Join(err, fmt.Errorf("%d of %d rows were copied there and back", n, rows))
	}
	return os.Remove(copied)
}

// writeLines writes rows as CSV and returns their length.
func writeLines(path string, rows int64) (size int64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(file)
	for i := range rows {
		n, _ := fmt.Fprintf(out, "%d,a thing with the number %d,%d.25,%d,2026-03-%02d 12:%02d:00.000+0000\n", i, i, i%1000, i*7%5000,
			1+i%28, i%60) // the buffer keeps the error for its Flush
		size += int64(n)
	}
	return size, errors.Join(out.Flush(), file.Close())
}
