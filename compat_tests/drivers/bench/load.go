package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/compat_tests/process"
)

// The load: rows of five columns of 100 bytes, read and written by their key.
const (
	workers   = 64
	columns   = 5
	cellBytes = 100

	keyspaceCQL = "CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	insertCQL   = "INSERT INTO bench.t (k, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)"
	selectCQL   = "SELECT a, b, c, d, e FROM bench.t WHERE k = ?"

	conditionalInsertCQL = insertCQL + " IF NOT EXISTS"
	conditionalUpdateCQL = updateCQL + " IF a = ?"
)

var cell = bytes.Repeat([]byte{'x'}, cellBytes)

// work is one kind of request.
type work struct {
	name string
	run  func(s *gocql.Session, n int64) error
}

var works = []work{
	{readWork.name, readRow},
	{insertWork.name, insertFresh},
	{updateWork.name, updateRow},
	{sliceWork.name, readSlice},
}

func readRow(s *gocql.Session, n int64) error {
	var got [columns][]byte
	err := s.Query(selectCQL, spread(n)).Scan(&got[0], &got[1], &got[2], &got[3], &got[4])
	if err == nil && len(got[columns-1]) != cellBytes {
		err = fmt.Errorf("row %d has a column of %d bytes", spread(n), len(got[columns-1]))
	}
	return err
}

func insertFresh(s *gocql.Session, _ int64) error {
	return s.Query(insertCQL, freshKey(), cell, cell, cell, cell, cell).Exec()
}

func updateRow(s *gocql.Session, n int64) error {
	return s.Query(updateCQL, cell, cell, cell, cell, cell, spread(n)).Exec()
}

// readSlice reads a partition.
func readSlice(s *gocql.Session, n int64) error {
	var a, b, c, d, e []byte
	all := s.Query(sliceCQL, spreadPartition(n)).Iter()
	rows := 0
	for all.Scan(&a, &b, &c, &d, &e) {
		rows++
	}
	err := all.Close()
	if err == nil && (rows != rawSlice || len(e) != cellBytes) {
		err = fmt.Errorf("partition %d has %d rows, the last with %d bytes", spreadPartition(n), rows, len(e))
	}
	return err
}

// open connects gocql as an application does, to this one node.
func open(addr string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c := gocql.NewCluster(host)
	if c.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	c.ProtoVersion = 4
	c.Consistency = gocql.One
	c.Timeout = 10 * time.Second
	c.DisableInitialHostLookup = true
	return c.CreateSession()
}

// hammer sends requests from workers, each of which sends its next request when the last one is answered. It returns
// how many ms each request took. With a rate, requests are due at that rate, and their time begins when they are due.
func hammer(s *gocql.Session, workers int, d time.Duration, rate int, run func(s *gocql.Session, n int64) error) (took []float32, err error) {
	var mu sync.Mutex
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	var numbers atomic.Int64
	began := time.Now()
	for range workers {
		running.Go(func() {
			var mine []float32
			for failed.Load() == nil {
				n, due := numbers.Add(1)-1, time.Now()
				if rate > 0 {
					due = began.Add(time.Duration(n) * time.Second / time.Duration(rate))
					time.Sleep(time.Until(due))
				}
				if due.Sub(began) >= d {
					break
				}
				if err := run(s, n); err != nil {
					failed.Store(&err)
				}
				mine = append(mine, float32(ms(time.Since(due))))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	slices.Sort(took)
	return took, nil
}

// crowds are the numbers of gocql's workers that the page has.
var crowds = []int{1, workers}

// reportDriver writes the throughput of gocql on cqld and on a null server. An application sees these numbers: the
// driver takes more of the processors than the server.
func (m *measurement) reportDriver(ctx context.Context, page io.Writer, rows []int64) error {
	tableRows = rows[0]
	null, err := startNull("")
	if err != nil {
		return err
	}
	defer null.Stop()
	addrs := []string{null.Addr}
	for _, name := range []string{inMemory, onDisk} {
		p, c, err := m.serveRaw(ctx, name, filepath.Join(m.folder, "driver"))
		if err != nil {
			return err
		}
		defer p.Stop()
		defer c.close()
		if err := c.fillRows(ctx); err != nil {
			return err
		}
		if err := c.fillPartitions(ctx); err != nil {
			return err
		}
		if _, err := settle(c.pid); err != nil {
			return err
		}
		addrs = append(addrs, p.Addr)
	}
	var sessions []*gocql.Session
	for _, addr := range addrs {
		s, err := open(addr)
		if err != nil {
			return err
		}
		defer s.Close()
		sessions = append(sessions, s)
	}
	fmt.Fprintf(page, "## Through gocql\n\nTables of %d rows, by the number of goroutines that each wait for an answer before they ask "+
		"again. The driver shares the processors.\nA ratio is to the null server's rate in the same round: median, minimum and maximum.\n\n"+
		"| | goroutines | null server/s | in memory/s | ratio | on disk/s | ratio |\n|---|---|---|---|---|---|---|\n", tableRows)
	for _, w := range works {
		if !m.wants(w.name) {
			continue
		}
		for _, crowd := range crowds {
			if err := m.driverLine(page, w, crowd, sessions); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	fmt.Fprintln(page)
	return nil
}

// driverLine measures one kind of request of a crowd, on the null server and on others in turn.
func (m *measurement) driverLine(page io.Writer, w work, crowd int, sessions []*gocql.Session) error {
	rates := make([][]float64, len(sessions))
	for range m.rounds {
		for i, s := range sessions {
			took, err := hammer(s, crowd, m.round, 0, w.run)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], float64(len(took))/m.round.Seconds())
		}
	}
	fmt.Fprintf(page, "| %s | %d | %.0f |", w.name, crowd, median(rates[0]))
	for _, of := range rates[1:] {
		fmt.Fprintf(page, " %.0f | %s |", median(of), ratios(of, rates[0]))
	}
	fmt.Fprintln(page)
	return nil
}

// startNull starts this program as the null server.
func startNull(answers string) (*process.Process, error) {
	me, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process.Start(me, "-null", "-answers", answers)
}
