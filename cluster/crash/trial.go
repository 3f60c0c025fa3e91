package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/protocol/client"
)

// writers is how many clients write at the same time.
const writers = 6

// patience limits statements of the trial itself. Locks of a killed node last up to 20 seconds.
const patience = 2 * time.Minute

// trial writes to a cluster and checks its content.
type trial struct {
	cluster *local.Cluster
	writers [writers]*writer
	meters  [nodes]*local.Meter // of writes
	tables  []string            // created tables
	defined int
	stop    context.CancelFunc
	running sync.WaitGroup
}

// writer is a client that writes its own rows and adds to a shared sum.
type writer struct {
	number int
	next   int          // number of the next write
	rows   map[int]bool // acknowledged
	pairs  map[int]bool // acknowledged batches of two rows

	added, mayHave atomic.Int64 // additions to the sum: acknowledged, and without a response
	failed         int
}

// ballast makes each row of a batch too large for a commit with one request: it is asynchronous or has two phases.
var ballast = strings.Repeat("ballast ", 2200)

var definitions = []string{
	"CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE TABLE crash.rows (w int, n int, v text, PRIMARY KEY (w, n))",
	"CREATE INDEX ON crash.rows (v)",
	"CREATE TABLE crash.first (w int, n int, v text, PRIMARY KEY (w, n))",
	"CREATE TABLE crash.second (n int, w int, v text, PRIMARY KEY (w, n))",
	"CREATE TABLE crash.sums (id int PRIMARY KEY, n int)",
	"INSERT INTO crash.sums (id, n) VALUES (1, 0)",
	"CREATE TABLE crash.measured (node int PRIMARY KEY)",
}

func newTrial(c *local.Cluster) (*trial, error) {
	t := &trial{cluster: c}
	for i := range t.writers {
		t.writers[i] = &writer{number: i, rows: map[int]bool{}, pairs: map[int]bool{}}
	}
	for _, text := range definitions {
		if _, err := t.ask(0, text); err != nil {
			return nil, err
		}
	}
	for node, address := range c.Addresses() {
		t.meters[node] = local.Measure(address, fmt.Sprintf("INSERT INTO crash.measured (node) VALUES (%d)", node))
	}
	return t, nil
}

// stopMeters stops the meters.
func (t *trial) stopMeters() {
	for _, m := range t.meters {
		m.Stop()
	}
}

// pause waits until writes succeed on all nodes after the end of a fault. It describes the longest time without a
// successful write on any node.
func (t *trial) pause(begin, end time.Time) (text string, err error) {
	var longest, after time.Duration
	for _, m := range t.meters {
		var l, a time.Duration
		err := local.Eventually(patience, func(context.Context) (err error) {
			l, a, err = m.Pause(begin, end)
			return err
		})
		if err != nil {
			return "", err
		}
		longest, after = max(longest, l), max(after, a)
	}
	return fmt.Sprintf("%.1f s without a write, %.1f s of it afterwards", longest.Seconds(), after.Seconds()), nil
}

// ask runs a statement on a node and returns the first column of its rows.
func (t *trial) ask(node int, text string) (all []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := client.Dial(ctx, t.cluster.Nodes[node].Addr, client.Options{})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	result, err := conn.Query(ctx, text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	for _, row := range result.Rows {
		all = append(all, result.Columns[0].Type.Format(row[0]))
	}
	return all, nil
}

// startWriters starts all writers.
func (t *trial) startWriters() {
	ctx, stop := context.WithCancel(context.Background())
	t.stop = stop
	addresses := t.cluster.Addresses()
	for _, w := range t.writers {
		t.running.Go(func() { w.writeAll(ctx, addresses) })
	}
}

// stopWriters stops all writers after their current write.
func (t *trial) stopWriters() {
	t.stop()
	t.running.Wait()
}

// writeAll writes on one node until a write fails, then on the next one, and so on.
func (w *writer) writeAll(ctx context.Context, addresses []string) {
	for node := w.number; ctx.Err() == nil; node++ {
		dialing, cancel := context.WithTimeout(ctx, time.Second)
		conn, err := client.Dial(dialing, addresses[node%nodes], client.Options{})
		cancel()
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for ctx.Err() == nil {
			if err = w.write(conn); err != nil {
				w.failed++
				time.Sleep(10 * time.Millisecond) // a node without its cluster fails at once
				break
			}
		}
		_ = conn.Close()
	}
}

// writeTimeout limits a write.
const writeTimeout = 15 * time.Second

// write writes the next row, batch or sum.
func (w *writer) write(conn *client.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	n := w.next
	w.next++
	var err error
	switch n % 3 {
	case 0:
		text := fmt.Sprintf("INSERT INTO crash.rows (w, n, v) VALUES (%d, %d, 'v%[2]d')", w.number, n)
		if _, err = conn.Query(ctx, text, nil, nil); err == nil {
			w.rows[n] = true
		}
	case 1:
		text := fmt.Sprintf("BEGIN BATCH INSERT INTO crash.first (w, n, v) VALUES (%d, %d, '%s'); "+
			"INSERT INTO crash.second (w, n, v) VALUES (%[1]d, %[2]d, '%[3]s'); APPLY BATCH", w.number, n, ballast)
		if _, err = conn.Query(ctx, text, nil, nil); err == nil {
			w.pairs[n] = true
		}
	case 2:
		err = w.add(ctx, conn)
	}
	return err
}

// add tries to add one to the sum.
func (w *writer) add(ctx context.Context, conn *client.Conn) error {
	result, err := conn.Query(ctx, "SELECT n FROM crash.sums WHERE id = 1", nil, nil)
	if err != nil {
		return err
	}
	sum, err := strconv.Atoi(result.Columns[0].Type.Format(result.Rows[0][0]))
	if err != nil {
		return err
	}
	result, err = conn.Query(ctx, fmt.Sprintf("UPDATE crash.sums SET n = %d WHERE id = 1 IF n = %d", sum+1, sum), nil, nil)
	switch {
	case err != nil:
		w.mayHave.Add(1)
	case result.Rows[0][0][0] == 1:
		w.added.Add(1)
	}
	return err
}

// define creates a table on a node other than victim. It returns a description of the outcome.
func (t *trial) define(victim int) string {
	t.defined++
	name := fmt.Sprintf("crash.t%d", t.defined)
	if _, err := t.ask((victim+1)%nodes, "CREATE TABLE "+name+" (a int PRIMARY KEY)"); err != nil {
		return name + " not defined"
	}
	t.tables = append(t.tables, name)
	return name + " defined"
}

// check checks the content of all nodes.
func (t *trial) check() error {
	for node := range nodes {
		err := local.Eventually(patience, func(context.Context) error {
			_, err := t.ask(node, "SELECT n FROM crash.sums WHERE id = 1")
			return err
		})
		if err != nil {
			return fmt.Errorf("node %d does not serve: %w\n%s", node+1, err, t.cluster.Nodes[node].Log())
		}
		for _, name := range t.tables {
			if _, err := t.ask(node, "SELECT a FROM "+name); err != nil {
				return fmt.Errorf("node %d has lost a table: %w", node+1, err)
			}
		}
		if err := t.checkSum(node); err != nil {
			return err
		}
		for _, w := range t.writers {
			if err := t.checkWriter(node, w); err != nil {
				return fmt.Errorf("node %d: %w", node+1, err)
			}
		}
	}
	return nil
}

// checkSum checks that the sum counts each addition once.
func (t *trial) checkSum(node int) error {
	var minSum, maxSum int64
	for _, w := range t.writers {
		minSum += w.added.Load()
		maxSum += w.added.Load() + w.mayHave.Load()
	}
	all, err := t.ask(node, "SELECT n FROM crash.sums WHERE id = 1")
	if err != nil {
		return err
	}
	if sum, err := strconv.ParseInt(all[0], 10, 64); err != nil || sum < minSum || sum > maxSum {
		return fmt.Errorf("the sum is %s, but must be from %d to %d", all[0], minSum, maxSum)
	}
	return nil
}

// without returns the numbers that are in one set but not in another.
func without(in, notIn map[int]bool) (all []int) {
	for n := range in {
		if !notIn[n] {
			all = append(all, n)
		}
	}
	return all
}

// checkWriter checks the rows of a writer.
func (t *trial) checkWriter(node int, w *writer) error {
	has, err := t.numbers(node, fmt.Sprintf("SELECT n FROM crash.rows WHERE w = %d", w.number))
	if err != nil {
		return err
	}
	for n := range w.rows {
		if !has[n] {
			return fmt.Errorf("row %d of writer %d is lost", n, w.number)
		}
	}
	for n := range has { // look some of them up through the index
		if n%97 != 0 {
			continue
		}
		found, err := t.numbers(node, fmt.Sprintf("SELECT w FROM crash.rows WHERE v = 'v%d'", n))
		if err != nil {
			return err
		}
		if !found[w.number] {
			return fmt.Errorf("row %d of writer %d is not in the index", n, w.number)
		}
	}
	// A batch without a response may commit between the two reads.
	return local.Eventually(patience, func(context.Context) error {
		first, err := t.numbers(node, fmt.Sprintf("SELECT n FROM crash.first WHERE w = %d", w.number))
		if err != nil {
			return err
		}
		second, err := t.numbers(node, fmt.Sprintf("SELECT n FROM crash.second WHERE w = %d", w.number))
		if err != nil {
			return err
		}
		if !maps.Equal(first, second) {
			return fmt.Errorf("batches of writer %d are torn: %v are in the first table only, %v in the second",
				w.number, without(first, second), without(second, first))
		}
		for n := range w.pairs {
			if !first[n] {
				return fmt.Errorf("batch %d of writer %d is lost", n, w.number)
			}
		}
		return nil
	})
}

func (t *trial) numbers(node int, text string) (map[int]bool, error) {
	all, err := t.ask(node, text)
	if err != nil {
		return nil, err
	}
	has := map[int]bool{}
	for _, a := range all {
		n, err := strconv.Atoi(a)
		if err != nil {
			return nil, err
		}
		has[n] = true
	}
	return has, nil
}

// summary describes the writes so far.
func (t *trial) summary() string {
	var rows, pairs, failed int
	var added int64
	for _, w := range t.writers {
		rows, pairs, failed, added = rows+len(w.rows), pairs+len(w.pairs), failed+w.failed, added+w.added.Load()
	}
	return fmt.Sprintf("acknowledged %d rows, %d batches, %d additions, nothing lost or torn; %d writes have failed",
		rows, pairs, added, failed)
}
