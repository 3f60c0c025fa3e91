package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/compat_tests/process"
)

// The load: rows of five columns of 100 bytes, read and written by their key.
const (
	workers   = 64
	rows      = 10_000
	columns   = 5
	cellBytes = 100

	keyspaceCQL = "CREATE KEYSPACE IF NOT EXISTS bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	insertCQL   = "INSERT INTO bench.t (k, a, b, c, d, e) VALUES (?, ?, ?, ?, ?, ?)"
	selectCQL   = "SELECT a, b, c, d, e FROM bench.t WHERE k = ?"

	conditionalInsertCQL = insertCQL + " IF NOT EXISTS"
	conditionalUpdateCQL = "UPDATE bench.t SET a = ?, b = ?, c = ?, d = ?, e = ? WHERE k = ? IF a = ?"
)

// work is one kind of request.
type work struct {
	name string
	run  func(s *gocql.Session, k int) error
}

var cell = bytes.Repeat([]byte{'x'}, cellBytes)

var works = []work{
	{"reads", func(s *gocql.Session, k int) error {
		var got [columns][]byte
		err := s.Query(selectCQL, k%rows).Scan(&got[0], &got[1], &got[2], &got[3], &got[4])
		if err == nil && len(got[columns-1]) != cellBytes {
			err = fmt.Errorf("row %d has a column of %d bytes", k%rows, len(got[columns-1]))
		}
		return err
	}},
	{"inserts", func(s *gocql.Session, _ int) error {
		return s.Query(insertCQL, rows+inserted.Add(1), cell, cell, cell, cell, cell).Exec()
	}},
	{"overwrites", overwrite},
	{slices100, readSlice},
	{"conditional inserts", func(s *gocql.Session, _ int) error {
		return applied(s.Query(conditionalInsertCQL, rows+inserted.Add(1), cell, cell, cell, cell, cell))
	}},
	{"conditional updates", func(s *gocql.Session, k int) error {
		return applied(s.Query(conditionalUpdateCQL, cell, cell, cell, cell, cell, k%rows, cell))
	}},
}

// slices100 names the reads of whole partitions.
const slices100 = "slices of 100"

// readSlice reads a partition.
func readSlice(s *gocql.Session, k int) error {
	var a, b, c, d, e []byte
	all := s.Query(sliceCQL, k%rawPartitions).Iter()
	n := 0
	for all.Scan(&a, &b, &c, &d, &e) {
		n++
	}
	err := all.Close()
	if err == nil && (n != rawSlice || len(e) != cellBytes) {
		err = fmt.Errorf("partition %d has %d rows, the last with %d bytes", k%rawPartitions, n, len(e))
	}
	return err
}

// applied runs a conditional write whose conditions hold.
func applied(q *gocql.Query) error {
	ok, err := q.MapScanCAS(map[string]any{})
	if err == nil && !ok {
		err = fmt.Errorf("not applied: %v", q)
	}
	return err
}

// works are the kinds of requests to measure.
func (m *measurement) works() []work {
	return slices.DeleteFunc(slices.Clone(works), func(w work) bool { return !m.wants(w.name) })
}

// wants reports whether a kind of requests is measured.
func (m *measurement) wants(name string) bool {
	return m.only == "" || slices.Contains(strings.Split(m.only, ","), name)
}

// overwrite writes one of the rows of prepareTable.
func overwrite(s *gocql.Session, k int) error {
	return s.Query(insertCQL, k%rows, cell, cell, cell, cell, cell).Exec()
}

// inserted counts the rows of "inserts", so that each has a fresh key.
var inserted atomic.Int64

// result sums up the rounds of one kind of work on one server.
type result struct {
	requests int64
	elapsed  time.Duration
	cpu      time.Duration
	slow     float64 // the p99 latency in ms; of the raw client only
}

func (r result) perSecond() float64 { return float64(r.requests) / r.elapsed.Seconds() }
func (r result) cpuMicros() float64 {
	return float64(r.cpu) / float64(time.Microsecond) / float64(r.requests)
}

// target is a server that is measured.
type target struct {
	name    string
	pid     int
	session *gocql.Session
}

// measureLoad runs rounds on cqld and on a null server in turn. Each kind of work gets a fresh cqld with the first rows
// only, so that none pays for the inserts of an earlier one.
func (m *measurement) measureLoad() error {
	me, err := self()
	if err != nil {
		return err
	}
	null, err := process.Start(me, "-null")
	if err != nil {
		return err
	}
	defer null.Stop()
	theirs, err := open(null.Addr)
	if err != nil {
		return err
	}
	defer theirs.Close()
	for _, w := range m.works() {
		if err := m.measureWork(w, target{"null server", null.Pid(), theirs}); err != nil {
			return err
		}
	}
	return nil
}

// measureWork starts cqld for one kind of work, and runs rounds on it and on the null server in turn.
func (m *measurement) measureWork(w work, null target) error {
	cqld, err := process.Start(m.binary, "serve", "--memory", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--http-pprof", "--log-format", "json")
	if err != nil {
		return err
	}
	defer cqld.Stop()
	session, err := open(cqld.Addr)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := prepareTable(session); err != nil {
		return err
	}
	profile := profileInBackground(cqld, w.name, m.round, m.rounds)
	if err := alternate(target{"cqld", cqld.Pid(), session}, null, w, m.round, m.rounds); err != nil {
		return err
	}
	return <-profile
}

// alternate runs rounds of one kind of work on two servers in turn, and prints both results.
func alternate(a, b target, w work, round time.Duration, rounds int) error {
	var ofA, ofB result
	for range rounds {
		if err := ofA.add(a, w, round); err != nil {
			return err
		}
		if err := ofB.add(b, w, round); err != nil {
			return err
		}
	}
	fmt.Printf("%-19s %s %8.0f/s at %5.1f µs CPU, %s %8.0f/s at %5.1f µs CPU, ratio %.2f\n", w.name,
		a.name, ofA.perSecond(), ofA.cpuMicros(), b.name, ofB.perSecond(), ofB.cpuMicros(), ofA.perSecond()/ofB.perSecond())
	return nil
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

func prepareTable(s *gocql.Session) error {
	for _, cql := range []string{keyspaceCQL, rowTableCQL, sliceTableCQL} {
		if err := s.Query(cql).Exec(); err != nil {
			return fmt.Errorf("%s: %w", cql, err)
		}
	}
	for k := range rows {
		if err := overwrite(s, k); err != nil {
			return err
		}
		if err := s.Query(sliceRowCQL, k/rawSlice%rawPartitions, k%rawSlice, cell, cell, cell, cell, cell).Exec(); err != nil {
			return err
		}
	}
	return nil
}

// add runs one round.
func (r *result) add(t target, w work, round time.Duration) error {
	before, err := process.CPUOf(t.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	n, err := hammer(t.session, w, workers, round)
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	r.elapsed += time.Since(began)
	after, err := process.CPUOf(t.pid)
	r.cpu += after - before
	r.requests += n
	return err
}

// hammer sends requests from several workers. Each sends its next request when the last one is answered.
func hammer(s *gocql.Session, w work, workers int, round time.Duration) (int64, error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	end := time.Now().Add(round)
	for i := range workers {
		running.Go(func() {
			for k := i * rows / workers; failed.Load() == nil && time.Now().Before(end); k++ {
				if err := w.run(s, k); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return done.Load(), nil
}

// profileInBackground takes a CPU profile of the server during the first round and prints its top entries.
func profileInBackground(p *process.Process, name string, round time.Duration, rounds int) <-chan error {
	done := make(chan error, 1)
	go func() {
		seconds := max(1, int(round.Seconds())*(2*rounds-1))
		done <- profile(p, name, seconds)
	}()
	return done
}

func profile(p *process.Process, name string, seconds int) error {
	answer, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.HTTP, seconds))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, err := os.CreateTemp("", "cqld-"+name+"-*.pprof")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err := io.Copy(file, answer.Body); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=25", file.Name()).Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	fmt.Printf("\nprofile of cqld during %s:\n%s\n", name, top)
	return nil
}
