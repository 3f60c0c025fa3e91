package server_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// number reads an int, a bigint or a double.
func number(b []byte, column protocol.ColumnSpec) float64 {
	switch {
	case len(b) == 4:
		return float64(int32(binary.BigEndian.Uint32(b)))
	case len(b) != 8:
		return math.NaN()
	case fmt.Sprint(column.Type) == "double":
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return float64(int64(binary.BigEndian.Uint64(b)))
}

// viewRow returns the numbers of one row of a table of system_views, by column.
func viewRow(t *testing.T, c *client.Conn, table, where string) map[string]float64 {
	t.Helper()
	r, err := c.Query(testContext(t), "SELECT * FROM system_views."+table+" WHERE "+where, nil, nil)
	if err != nil || len(r.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", table, len(r.Rows), err)
	}
	numbers := map[string]float64{}
	for i, column := range r.Columns {
		numbers[column.Name] = number(r.Rows[0][i], column)
	}
	return numbers
}

// Tables of metrics count what statements take and read, by table, and go with the table.
func TestTableMetrics(t *testing.T) {
	s := cqltest.RunT(t)
	c := connect(t, s, client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int, c int, v int, PRIMARY KEY (k, c))")
	const ofT = "keyspace_name = 'ks' AND table_name = 't'"
	for _, table := range []string{"coordinator_read_latency", "coordinator_scan_latency", "coordinator_write_latency"} {
		if row := viewRow(t, c, table, ofT); row["count"] != 0 || row["max_ms"] != 0 || row["p99th_ms"] != 0 {
			t.Errorf("%s of a new table: %v", table, row)
		}
	}
	for i := range 5 {
		run(t, c, fmt.Sprintf("INSERT INTO ks.t (k, c) VALUES (1, %d)", i))
	}
	run(t, c,
		"DELETE FROM ks.t WHERE k = 1 AND c = 0", "UPDATE ks.t SET v = 1 WHERE k = 2 AND c = 1",
		"BEGIN BATCH INSERT INTO ks.t (k, c) VALUES (3, 1); INSERT INTO ks.t (k, c) VALUES (4, 1); APPLY BATCH",
		"BEGIN UNLOGGED BATCH INSERT INTO ks.t (k, c) VALUES (3, 1); APPLY BATCH",
		"SELECT * FROM ks.t WHERE k = 1", "SELECT * FROM ks.t WHERE k = 9", "SELECT * FROM ks.t", "SELECT count(*) FROM ks.t",
	)
	for table, count := range map[string]float64{
		"coordinator_read_latency": 2, "coordinator_scan_latency": 2, "coordinator_write_latency": 9,
		"local_read_latency": 2, "local_scan_latency": 2, "local_write_latency": 9,
	} {
		row := viewRow(t, c, table, ofT)
		if row["count"] != count || row["max_ms"] <= 0 || row["p50th_ms"] > row["p99th_ms"] || row["p99th_ms"] > row["max_ms"] {
			t.Errorf("%s: %v, want a count of %v", table, row, count)
		}
	}
	rows, tombstones := viewRow(t, c, "rows_per_read", ofT), viewRow(t, c, "tombstones_per_read", ofT)
	if rows["count"] != 4 || rows["max"] != 7 || rows["p50th"] != 4 || rows["p99th"] != 7 {
		t.Errorf("rows of reads: %v", rows)
	}
	if tombstones["count"] != 4 || tombstones["max"] != 1 || tombstones["p50th"] != 1 {
		t.Errorf("tombstones of reads: %v", tombstones)
	}
	logged := viewRow(t, c, "batch_metrics", "name = 'partitions_per_logged_batch'")
	unlogged := viewRow(t, c, "batch_metrics", "name = 'partitions_per_unlogged_batch'")
	if logged["max"] != 2 || logged["p50th"] != 2 || unlogged["max"] != 1 {
		t.Errorf("partitions of batches: %v, %v", logged, unlogged)
	}
	run(t, c, "DROP TABLE ks.t", "CREATE TABLE ks.t (k int PRIMARY KEY)")
	if row := viewRow(t, c, "coordinator_write_latency", ofT); row["count"] != 0 {
		t.Errorf("a new table of the name has %v", row)
	}
}

// What is executed is counted, as text and prepared.
func TestCQLMetrics(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{})
	value := func(name string) float64 { return viewRow(t, c, "cql_metrics", "name = '"+name+"'")["value"] }
	before := value("regular_statements_executed")
	insert := prepare(t, c, "INSERT INTO ks.t (k, v) VALUES (?, 'x')", "")
	for i := range 3 {
		if _, err := c.Execute(testContext(t), insert, values(intValue(i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := value("prepared_statements_executed"); n != 3 {
		t.Errorf("%v executions", n)
	}
	if n := value("prepared_statements_count"); n != 1 {
		t.Errorf("%v prepared statements", n)
	}
	if n := value("regular_statements_executed"); n != before+3 { // the reads of this table
		t.Errorf("%v texts, want %v", n, before+3)
	}
	if n := value("prepared_statements_ratio"); n <= 0 || n >= 1 {
		t.Errorf("the ratio is %v", n)
	}
}

// Requests that take long are shown with their text, as is the one that asks.
func TestQueriesAreShown(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine)
	writer, c := connect(t, s, client.Options{}), connect(t, s, client.Options{})
	const insert = "INSERT INTO ks.t (k, v) VALUES (7, 'stuck')"
	e.hold()
	defer e.release()
	sendAll(t, writer, 1, queryOf(100, insert))
	tasks := func() (all []string) {
		r, err := c.Query(testContext(t), "SELECT thread_id, running_micros, task FROM system_views.queries", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if number(row[1], r.Columns[1]) < 0 || !strings.HasPrefix(string(row[0]), "127.0.0.1:") {
				t.Errorf("%q has run for %v", row[0], row[1])
			}
			all = append(all, string(row[2]))
		}
		return all
	}
	shown := func(text string) bool {
		for _, task := range tasks() {
			if task == text {
				return true
			}
		}
		return false
	}
	const stuck = "QUERY " + insert + " [pageSize = 100] at consistency ONE"
	eventually(t, "the write is shown", func() bool { return shown(stuck) })
	const own = "QUERY SELECT thread_id, running_micros, task FROM system_views.queries [pageSize = -1] at consistency ONE"
	if !shown(own) {
		t.Errorf("%q is not in %q", own, tasks())
	}
	e.release()
	if _, err := writer.Receive(testContext(t)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the write is not shown any more", func() bool { return !shown(stuck) })
}

// Pools show requests and the limits that they have.
func TestThreadPools(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{})
	run(t, c, "SELECT * FROM ks.t", "SELECT * FROM ks.t")
	requests := viewRow(t, c, "thread_pools", "name = 'Native-Transport-Requests'")
	if requests["active_tasks"] < 1 || requests["active_tasks_limit"] < 2 || requests["completed_tasks"] < 2 {
		t.Errorf("requests: %v", requests)
	}
	turns := viewRow(t, c, "thread_pools", "name = 'Turns'")
	if turns["active_tasks"]+turns["completed_tasks"] < 2 || turns["active_tasks_limit"] != 128 || turns["pending_tasks"] != 0 {
		t.Errorf("turns: %v", turns)
	}
}

// The estimates follow what was written, to a tenth, without waiting for the next regular sweep.
func TestSizeEstimates(t *testing.T) {
	c := connect(t, cqltest.RunT(t), client.Options{})
	run(t, c, createKeyspace, "CREATE TABLE ks.t (k int PRIMARY KEY)", "CREATE TABLE ks.rows (k int, c int, PRIMARY KEY (k, c))")
	partitions := func(table string) (n float64) {
		r := run(t, c, "SELECT partitions_count FROM system.size_estimates WHERE keyspace_name = 'ks' AND table_name = '"+table+"'")
		for _, row := range r.Rows {
			n += number(row[0], r.Columns[0])
		}
		return n
	}
	write := func(from, to int) {
		for k := from; k < to; k++ {
			batch := fmt.Sprintf("BEGIN UNLOGGED BATCH INSERT INTO ks.t (k) VALUES (%d);", k)
			for i := range 4 {
				batch += fmt.Sprintf("INSERT INTO ks.rows (k, c) VALUES (%d, %d);", k, i)
			}
			run(t, c, batch+"APPLY BATCH")
		}
	}
	written := 0
	for _, n := range []int{20, 100} {
		write(written, n)
		written = n
		near := func(table string) bool { return math.Abs(partitions(table)-float64(n)) <= float64(n)/10 }
		// A count may be under way since the last read, which finds some of the later writes and they are added once more.
		eventually(t, "the partitions of a table without clustering columns are counted", func() bool { return near("t") })
		eventually(t, "the partitions of a table are counted", func() bool { return near("rows") })
	}
}
