package system_test

import (
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// busy is a server that has served something.
type busy struct{}

func (busy) Table(t *schema.Table) (a system.TableActivity) {
	if t.Keyspace != "system" || t.Name != "local" {
		return a
	}
	latency := func(count int64) system.Latency {
		return system.Latency{
			Count: count, Max: 1234567 * time.Nanosecond, P50: 500 * time.Nanosecond, P99: time.Second, PerSecond: 0.12345,
		}
	}
	return system.TableActivity{
		Reads: latency(1), Scans: latency(2), Writes: latency(3),
		Rows:       system.Distribution{Count: 4, Max: 3, P50: 1, P99: 2},
		Tombstones: system.Distribution{Count: 4, Max: 6, P50: 4, P99: 5},
	}
}

func (busy) Batches() system.Batches {
	return system.Batches{Logged: system.Distribution{Count: 9, Max: 4, P50: 1, P99: 2, P999: 3}}
}

func (busy) Statements() system.Statements {
	return system.Statements{Prepared: 1, Evicted: 2, Executes: 30, Queries: 10}
}

func (busy) Queries() []system.Query {
	return []system.Query{{ID: "127.0.0.1:5/7", Running: 1500 * time.Nanosecond, Task: "QUERY x"}}
}

func (busy) Pools() []system.Pool {
	return []system.Pool{{Name: "a", Active: 1, Limit: 2, Pending: 3, Blocked: 4, BlockedAllTime: 5, Completed: 6}}
}

// Tables of metrics show what the server tells them, in Cassandra's units.
func TestMonitor(t *testing.T) {
	s := open(t, system.Options{Monitor: busy{}})
	ofLocal := func(table string) []row {
		t.Helper()
		for _, r := range read(t, s, "system_views", table) {
			if r["keyspace_name"] == "system" && r["table_name"] == "local" {
				return []row{r}
			}
		}
		t.Errorf("%s has no row for system.local", table)
		return nil
	}
	for table, count := range map[string]float64{
		"coordinator_read_latency": 1, "coordinator_scan_latency": 2, "coordinator_write_latency": 3,
		"local_read_latency": 1, "local_scan_latency": 2, "local_write_latency": 3,
	} {
		compare(t, ofLocal(table), []row{{
			"keyspace_name": "system", "table_name": "local", "count": count, "max_ms": 1.235, "p50th_ms": 0.001,
			"p99th_ms": 1000.0, "per_second": 0.123,
		}}, "table_name")
	}
	compare(t, ofLocal("rows_per_read"), []row{{
		"keyspace_name": "system", "table_name": "local", "count": 4.0, "max": 3.0, "p50th": 1.0, "p99th": 2.0,
	}}, "table_name")
	compare(t, ofLocal("tombstones_per_read"), []row{{
		"keyspace_name": "system", "table_name": "local", "count": 4.0, "max": 6.0, "p50th": 4.0, "p99th": 5.0,
	}}, "table_name")
	compare(t, read(t, s, "system_views", "batch_metrics"), []row{
		{"name": "partitions_per_counter_batch", "max": 0.0, "p50th": 0.0, "p99th": 0.0, "p999th": 0.0},
		{"name": "partitions_per_logged_batch", "max": 4.0, "p50th": 1.0, "p99th": 2.0, "p999th": 3.0},
		{"name": "partitions_per_unlogged_batch", "max": 0.0, "p50th": 0.0, "p99th": 0.0, "p999th": 0.0},
	}, "name")
	compare(t, read(t, s, "system_views", "cql_metrics"), []row{
		{"name": "prepared_statements_count", "value": 1.0},
		{"name": "prepared_statements_evicted", "value": 2.0},
		{"name": "prepared_statements_executed", "value": 30.0},
		{"name": "prepared_statements_ratio", "value": 0.75},
		{"name": "regular_statements_executed", "value": 10.0},
	}, "name")
	compare(t, read(t, s, "system_views", "queries"), []row{
		{"thread_id": "127.0.0.1:5/7", "queued_micros": 0.0, "running_micros": 1.0, "task": "QUERY x"},
	}, "thread_id")
	compare(t, read(t, s, "system_views", "thread_pools"), []row{
		{
			"name": "Sweeps", "active_tasks": 0.0, "active_tasks_limit": 1.0, "blocked_tasks": 0.0,
			"blocked_tasks_all_time": 0.0, "completed_tasks": 0.0, "pending_tasks": 0.0,
		},
		{
			"name": "a", "active_tasks": 1.0, "active_tasks_limit": 2.0, "blocked_tasks": 4.0,
			"blocked_tasks_all_time": 5.0, "completed_tasks": 6.0, "pending_tasks": 3.0,
		},
	}, "name")
	gossip := read(t, s, "system_views", "gossip_info")
	local := read(t, s, "system", "local")[0]
	for column, of := range map[string]string{
		"dc": "data_center", "rack": "rack", "host_id": "host_id", "release_version": "release_version",
		"schema": "schema_version", "generation": "gossip_generation", "port": "broadcast_port",
	} {
		if len(gossip) != 1 || gossip[0][column] != local[of] {
			t.Errorf("%s is %v, want %v", column, gossip[0][column], local[of])
		}
	}
}

// A sweep is a task while it is under way.
func TestSweepIsTask(t *testing.T) {
	var during []row
	var s *store.Store
	sweeping := false
	s = openOn(t, system.Options{}, func() {
		if sweeping && during == nil {
			during = read(t, s, "system_views", "sstable_tasks")
		}
	})
	if err := s.Define(userTables); err != nil {
		t.Fatal(err)
	}
	if rows := read(t, s, "system_views", "sstable_tasks"); len(rows) != 0 {
		t.Errorf("%v without a sweep", rows)
	}
	sweeping = true
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	sweeping = false
	if len(during) != 1 || during[0]["kind"] != "remove deleted data" || during[0]["unit"] != "rows" ||
		during[0]["completion_ratio"] != 1.0 {
		t.Errorf("%v during a sweep", during)
	}
	if rows := read(t, s, "system_views", "sstable_tasks"); len(rows) != 0 {
		t.Errorf("%v after the sweep", rows)
	}
}

// An index is shown as built when it has the entries of all rows.
func TestIndexIsBuilt(t *testing.T) {
	s := open(t, system.Options{})
	if err := s.Define(userTables); err != nil {
		t.Fatal(err)
	}
	var keyspace *schema.Keyspace
	for _, k := range s.Catalog().Keyspaces() {
		if !schema.IsSystem(k.Name) {
			keyspace = k
		}
	}
	name := keyspace.SortedTables()[0].Name
	err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		indexed := c.Table(keyspace.Name, name)
		column := indexed.Regular[0]
		for _, r := range indexed.Regular {
			if r.Type == types.Text || r.Type == types.Int {
				column = r
			}
		}
		return c.WithTable(indexed.WithIndex(&schema.Index{
			Name: "shown", Class: "StorageAttachedIndex", Targets: []schema.IndexTarget{{Column: column.Name}},
		})), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		shown := read(t, s, "system_views", "sai_column_indexes")
		if len(shown) == 1 && shown[0]["index_name"] == "shown" && shown[0]["is_queryable"] == true &&
			shown[0]["is_building"] == false {
			return
		}
		if len(shown) != 1 || time.Now().After(deadline) {
			t.Fatalf("%v is shown", shown)
		}
		time.Sleep(time.Millisecond)
	}
}
