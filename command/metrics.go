package command

import (
	"maps"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// metricsHandler serves the metrics of the server, its store and the process in Prometheus' text format. onDisk is nil
// unless the data is in a folder, calls is nil unless the engine is remote.
func metricsHandler(srv *server.Server, st *store.Store, onDisk *disk.Engine, calls *engineCalls) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		all := make(exposition)
		s := sample{to: all}
		sampleServer(s, srv.Metrics())
		sampleLatencies(s, srv.StatementLatencies())
		sampleStore(s, st)
		sampleRuntime(s)
		sampleProcess(s)
		if onDisk != nil {
			sampleDisk(s, onDisk.Metrics())
		}
		if calls != nil {
			calls.sample(s)
		}
		all.writeTo(w)
	})
}

// sampleServer takes the metrics of the server.
func sampleServer(s sample, m server.Metrics) {
	s.gauge("connections", "Open connections.", int64(m.Connections))
	s.counter("connections_accepted_total", "Connections accepted.", m.ConnectionsAccepted)
	s.counter("connections_refused_total", "Connections refused because of a limit.", m.ConnectionsRefused)
	s.counter("connections_stalled_total", "Connections closed because they held memory that others waited for.", m.ConnectionsStalled)
	s.counter("connections_deaf_total", "Connections closed because they did not read their events.", m.ConnectionsDeaf)
	s.counter("tls_handshakes_failed_total", "TLS handshakes that failed.", m.HandshakesFailed)
	s.counters("requests_total", "Requests by opcode.", "opcode", m.Requests)
	s.counters("errors_total", "Errors answered, by kind.", "kind", m.Errors)
	s.gauge("prepared_statements", "Prepared statements kept.", int64(m.PreparedStatements))
	s.gauge("prepared_bytes", "Memory of prepared statements.", int64(m.PreparedBytes))
	s.counter("prepared_evicted_total", "Prepared statements evicted from the cache.", m.PreparedEvicted)
	s.gauge("bytes_arriving", "Bytes of large requests that are still arriving.", m.BytesArriving)
	s.gauge("bytes_in_flight", "Bytes of requests without a response yet.", m.BytesInFlight)
	s.gauge("bytes_planning", "Memory reserved for parsing and planning long statements.", m.BytesPlanning)
	s.gauge("bytes_answers", "Bytes of rows of running reads, and of responses that clients have not read.", m.BytesAnswers)
	s.gauge("bytes_http", "Memory of long requests over HTTP.", m.BytesHTTP)
	s.gauge("reads_waiting", "Reads that wait for the scheduler.", m.ReadsWaiting)
}

// sampleLatencies takes the latencies of statements.
func sampleLatencies(s sample, all []server.StatementLatency) {
	for _, l := range all {
		buckets := make([]bucket, 0, len(l.Buckets))
		for _, bound := range slices.Sorted(maps.Keys(l.Buckets)) {
			buckets = append(buckets, bucket{bound.Seconds(), l.Buckets[bound]})
		}
		s.with("keyspace", l.Keyspace, "statement", l.Statement, "table", l.Table).histogram("statement_duration_seconds",
			"Time from the arrival of a statement to its response.", buckets, l.Count, l.Total.Seconds())
	}
}

// sampleStore takes the metrics of the store and of its tables, except system tables.
func sampleStore(s sample, st *store.Store) {
	m := st.SweepMetrics()
	s.counter("sweeps_total", "Completed sweeps over a table.", m.Sweeps)
	s.counter("sweep_rows_total", "Rows that sweeps have read.", m.Rows)
	s.counter("sweep_rows_removed_total", "Rows that sweeps have removed.", m.Removed)
	s.counter("sweep_rows_rewritten_total", "Rows that sweeps have removed cells from.", m.Rewritten)
	s.counter("sweep_freed_bytes_total", "Bytes that sweeps have removed.", m.Freed)
	s.counter("index_builds_total", "Indexes and views built over existing rows.", st.Builds())
	s.gauge("index_builds_pending", "Indexes and views that are being built or wait for it.", int64(st.BuildsWaiting()))
	if b := st.BuildProgress(); b != nil {
		s := s.with("keyspace", b.Table.Keyspace, "table", b.Table.Name, "index", b.Name)
		s.gauge("index_build_rows", "Rows that the current build has indexed.", int64(b.Rows))
		s.take("gauge", "cqld_index_build_ratio", "", "Part of the token range that the current build has finished.", b.Part)
	}
	g := st.GraphMetrics()
	s.gauge("vector_graphs", "Graphs of indexed vectors in memory.", int64(g.Graphs))
	s.gauge("vector_graph_nodes", "Vectors in graphs, including vectors of deleted rows.", int64(g.Nodes))
	s.gauge("vector_graph_bytes", "Memory of vector graphs.", g.Bytes)
	keyspaces := slices.DeleteFunc(slices.Clone(st.Catalog().Keyspaces()), func(k *schema.Keyspace) bool {
		return k.Virtual || schema.IsLocal(k.Name)
	})
	for _, k := range keyspaces {
		for _, t := range k.SortedTables() {
			sampleTable(s.with("keyspace", k.Name, "table", t.Name), st.Estimate(t))
		}
	}
}

// sampleTable takes the estimates of a table.
func sampleTable(s sample, e store.Estimate) {
	s.gauge("table_partitions", "Partitions, about.", e.Partitions)
	s.gauge("table_rows", "Rows, about.", e.Rows)
	s.gauge("table_bytes", "Bytes of keys and values, about.", e.Bytes)
	s.gauge("table_tombstones", "Tombstones and expired cells, about.", e.Tombstones)
	s.gauge("table_largest_partition_bytes", "Bytes of the largest partition.", e.LargestPartition)
}

// sampleDisk takes the metrics of the engine on disk.
func sampleDisk(s sample, m disk.Metrics) {
	s.gauge("memtable_bytes", "Bytes in memtables.", m.MemtableBytes)
	s.gauge("memtables_frozen", "Memtables that wait to be flushed.", int64(m.MemtablesFrozen))
	s.gauge("commitlog_segments", "Segments of the commit log.", int64(m.LogSegments))
	s.gauge("commitlog_bytes", "Bytes of writes in the commit log.", m.LogBytes)
	s.counter("flushes_total", "Flushed memtables.", m.Flushes)
	s.counter("flush_waits_total", "Writes that waited for a flush or a sync.", m.Waits)
}

// started is when the process began.
var started = time.Now()

// sampleRuntime takes the metrics of the Go runtime.
func sampleRuntime(s sample) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	s.gauge("goroutines", "Goroutines.", int64(runtime.NumGoroutine()))
	s.gauge("heap_bytes", "Heap in use.", int64(mem.HeapInuse))
	s.counter("gc_total", "Garbage collections.", uint64(mem.NumGC))
	s.take("gauge", "process_start_time_seconds", "", "Start of the process, as Unix time.", float64(started.UnixMilli())/1000)
}
