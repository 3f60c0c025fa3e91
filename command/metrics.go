package command

import (
	"net/http"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// metricsHandler serves /metrics: what the server, its store and the process count, in Prometheus' text format. onDisk
// or calls are of the engine, or nil.
func metricsHandler(srv *server.Server, st *store.Store, onDisk *disk.Engine, calls *engineCalls) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collector(func(s sample) { sampleServer(s, srv.Metrics()) }),
		collector(func(s sample) { sampleLatencies(s, srv.StatementLatencies()) }),
		collector(func(s sample) { sampleStore(s, st) }),
		collector(sampleRuntime),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	if onDisk != nil {
		r.MustRegister(collector(func(s sample) { sampleDisk(s, onDisk.Metrics()) }))
	}
	if calls != nil {
		r.MustRegister(calls)
	}
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

// collector takes samples at each scrape. It describes none of them before: some have labels, and appear when there is
// something to count.
type collector func(sample)

// Describe sends nothing.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect takes all samples.
func (c collector) Collect(ch chan<- prometheus.Metric) { c(sample{ch: ch}) }

// sample takes the metrics of one scrape. Each is named and described where it is taken.
type sample struct {
	ch             chan<- prometheus.Metric
	labels, values []string
}

// of returns a sample whose metrics have these labels.
func (s sample) of(labels, values []string) sample {
	s.labels, s.values = labels, values
	return s
}

func (s sample) take(kind prometheus.ValueType, name, help string, value float64) {
	s.ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("cqld_"+name, help, s.labels, nil), kind, value, s.values...)
}

func (s sample) counter(name, help string, value uint64) {
	s.take(prometheus.CounterValue, name, help, float64(value))
}

func (s sample) counters(name, help, label string, values map[string]uint64) {
	for of, n := range values {
		s.of([]string{label}, []string{of}).counter(name, help, n)
	}
}

func (s sample) gauge(name, help string, value int64) {
	s.take(prometheus.GaugeValue, name, help, float64(value))
}

// sampleServer takes what the server counts.
func sampleServer(s sample, m server.Metrics) {
	s.gauge("connections", "Open connections.", int64(m.Connections))
	s.counter("connections_accepted_total", "Connections accepted.", m.ConnectionsAccepted)
	s.counter("connections_refused_total", "Connections refused because of a limit.", m.ConnectionsRefused)
	s.counter("connections_stalled_total", "Connections closed because others waited for the memory they held.", m.ConnectionsStalled)
	s.counter("connections_deaf_total", "Connections closed because they did not read their events.", m.ConnectionsDeaf)
	s.counter("tls_handshakes_failed_total", "TLS handshakes that failed.", m.HandshakesFailed)
	s.counters("requests_total", "Requests by opcode.", "opcode", m.Requests)
	s.counters("errors_total", "Errors answered, by kind.", "kind", m.Errors)
	s.gauge("prepared_statements", "Prepared statements kept.", int64(m.PreparedStatements))
	s.gauge("prepared_bytes", "Memory that prepared statements take.", int64(m.PreparedBytes))
	s.counter("prepared_evicted_total", "Prepared statements dropped for lack of room.", m.PreparedEvicted)
	s.gauge("bytes_arriving", "Bytes of large requests that have not arrived completely.", m.BytesArriving)
	s.gauge("bytes_in_flight", "Bytes of requests that are not answered.", m.BytesInFlight)
	s.gauge("bytes_planning", "Memory set aside for parsing and planning long texts.", m.BytesPlanning)
	s.gauge("bytes_answers", "Bytes of rows that reads have made, and of answers that clients have not read.", m.BytesAnswers)
	s.gauge("reads_waiting", "Reads that wait for their turn.", m.ReadsWaiting)
}

// sampleLatencies takes how long statements take.
func sampleLatencies(s sample, all []server.StatementLatency) {
	desc := prometheus.NewDesc("cqld_statement_duration_seconds", "Time from the arrival of a statement to its answer.",
		[]string{"statement", "keyspace", "table"}, nil)
	for _, l := range all {
		buckets := make(map[float64]uint64, len(l.Buckets))
		for bound, n := range l.Buckets {
			buckets[bound.Seconds()] = n
		}
		s.ch <- prometheus.MustNewConstHistogram(desc, l.Count, l.Total.Seconds(), buckets, l.Statement, l.Keyspace, l.Table)
	}
}

// sampleStore takes what the store knows of its tables, except the node's own.
func sampleStore(s sample, st *store.Store) {
	m := st.SweepMetrics()
	s.counter("sweeps_total", "Sweeps over a table that are complete.", m.Sweeps)
	s.counter("sweep_rows_total", "Rows that sweeps have looked at.", m.Rows)
	s.counter("sweep_rows_removed_total", "Rows that sweeps have removed.", m.Removed)
	s.counter("sweep_rows_rewritten_total", "Rows that sweeps have taken a part out of.", m.Rewritten)
	s.counter("sweep_freed_bytes_total", "Bytes that sweeps have removed.", m.Freed)
	s.counter("index_builds_total", "Indexes and views that were built over existing rows.", st.Builds())
	s.gauge("index_builds_pending", "Indexes and views that are being built, or wait for it.", int64(st.BuildsWaiting()))
	if b := st.BuildProgress(); b != nil {
		s := s.of([]string{"keyspace", "table", "index"}, []string{b.Table.Keyspace, b.Table.Name, b.Name})
		s.gauge("index_build_rows", "Rows whose entries were made by the build that is under way.", int64(b.Rows))
		s.take(prometheus.GaugeValue, "index_build_ratio", "The part of the tokens that the build under way is done with.", b.Part)
	}
	g := st.GraphMetrics()
	s.gauge("vector_graphs", "Graphs of indexed vectors in memory.", int64(g.Graphs))
	s.gauge("vector_graph_nodes", "Vectors in graphs, those of rows that are gone included.", int64(g.Nodes))
	s.gauge("vector_graph_bytes", "Memory that graphs of vectors take.", g.Bytes)
	keyspaces := slices.DeleteFunc(slices.Clone(st.Catalog().Keyspaces()), func(k *schema.Keyspace) bool {
		return k.Virtual || schema.IsLocal(k.Name)
	})
	for _, k := range keyspaces {
		for _, t := range k.SortedTables() {
			sampleTable(s.of([]string{"keyspace", "table"}, []string{k.Name, t.Name}), st.Estimate(t))
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

// sampleDisk takes what the engine on disk knows.
func sampleDisk(s sample, m disk.Metrics) {
	s.gauge("memtable_bytes", "Bytes of what was written and is not in tables yet.", m.MemtableBytes)
	s.gauge("memtables_frozen", "Memtables that wait to be written to tables.", int64(m.MemtablesFrozen))
	s.gauge("commitlog_segments", "Files of the commit log.", int64(m.LogSegments))
	s.gauge("commitlog_bytes", "Bytes of writes in the commit log.", m.LogBytes)
	s.counter("flushes_total", "Memtables that were written to tables.", m.Flushes)
	s.counter("flush_waits_total", "Writes that had to wait for a memtable to be written to tables.", m.Waits)
}

// sampleRuntime takes what the Go runtime knows.
func sampleRuntime(s sample) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	s.gauge("goroutines", "Goroutines.", int64(runtime.NumGoroutine()))
	s.gauge("heap_bytes", "Heap in use.", int64(mem.HeapInuse))
	s.counter("gc_total", "Garbage collections.", uint64(mem.NumGC))
}
