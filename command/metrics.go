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

// metricsHandler serves /metrics: what the server, its store and the process count, in Prometheus' text format.
func metricsHandler(srv *server.Server, st *store.Store, onDisk *disk.Engine) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		serverCollector{srv},
		srv.StatementLatencies(),
		storeCollector{st},
		runtimeCollector{},
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	if onDisk != nil {
		r.MustRegister(diskCollector{onDisk})
	}
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

// metric describes a metric of ours, which may have labels.
func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("cqld_"+name, help, labels, nil)
}

func sendCounter(ch chan<- prometheus.Metric, d *prometheus.Desc, value uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
}

func sendGauge[N int | int64 | uint64](ch chan<- prometheus.Metric, d *prometheus.Desc, value N, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
}

// serverCollector collects what the server counts.
type serverCollector struct{ server *server.Server }

var (
	connections        = metric("connections", "Open connections.")
	connectionsTotal   = metric("connections_accepted_total", "Connections accepted.")
	connectionsRefused = metric("connections_refused_total", "Connections refused because of a limit.")
	connectionsStalled = metric("connections_stalled_total",
		"Connections closed because others waited for the memory they held.")
	connectionsDeaf    = metric("connections_deaf_total", "Connections closed because they did not read their events.")
	handshakesFailed   = metric("tls_handshakes_failed_total", "TLS handshakes that failed.")
	requestsTotal      = metric("requests_total", "Requests by opcode.", "opcode")
	errorsTotal        = metric("errors_total", "Errors answered, by kind.", "kind")
	preparedStatements = metric("prepared_statements", "Prepared statements kept.")
	preparedBytes      = metric("prepared_bytes", "Memory that prepared statements take.")
	preparedEvicted    = metric("prepared_evicted_total", "Prepared statements dropped for lack of room.")
	bytesArriving      = metric("bytes_arriving", "Bytes of large requests that have not arrived completely.")
	bytesInFlight      = metric("bytes_in_flight", "Bytes of requests that are not answered.")
	bytesPlanning      = metric("bytes_planning", "Memory set aside for parsing and planning long texts.")
	bytesAnswers       = metric("bytes_answers",
		"Bytes of rows that reads have made, and of answers that clients have not read.")
	readsWaiting = metric("reads_waiting", "Reads that wait for their turn.")
)

// Describe sends the names of what the server counts.
func (c serverCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		connections, connectionsTotal, connectionsRefused, connectionsStalled, connectionsDeaf, handshakesFailed, requestsTotal, errorsTotal,
		preparedStatements, preparedBytes, preparedEvicted, bytesArriving, bytesInFlight, bytesPlanning, bytesAnswers, readsWaiting,
	} {
		ch <- d
	}
}

// Collect asks the server once and sends what it answers.
func (c serverCollector) Collect(ch chan<- prometheus.Metric) {
	m := c.server.Metrics()
	sendGauge(ch, connections, m.Connections)
	sendCounter(ch, connectionsTotal, m.ConnectionsAccepted)
	sendCounter(ch, connectionsRefused, m.ConnectionsRefused)
	sendCounter(ch, connectionsStalled, m.ConnectionsStalled)
	sendCounter(ch, connectionsDeaf, m.ConnectionsDeaf)
	sendCounter(ch, handshakesFailed, m.HandshakesFailed)
	for opcode, n := range m.Requests {
		sendCounter(ch, requestsTotal, n, opcode)
	}
	for kind, n := range m.Errors {
		sendCounter(ch, errorsTotal, n, kind)
	}
	sendGauge(ch, preparedStatements, m.PreparedStatements)
	sendGauge(ch, preparedBytes, m.PreparedBytes)
	sendCounter(ch, preparedEvicted, m.PreparedEvicted)
	sendGauge(ch, bytesArriving, m.BytesArriving)
	sendGauge(ch, bytesInFlight, m.BytesInFlight)
	sendGauge(ch, bytesPlanning, m.BytesPlanning)
	sendGauge(ch, bytesAnswers, m.BytesAnswers)
	sendGauge(ch, readsWaiting, m.ReadsWaiting)
}

// storeCollector collects what the store knows of its tables, except the node's own.
type storeCollector struct{ store *store.Store }

var (
	sweeps         = metric("sweeps_total", "Sweeps over a table that are complete.")
	sweepRows      = metric("sweep_rows_total", "Rows that sweeps have looked at.")
	sweepRemoved   = metric("sweep_rows_removed_total", "Rows that sweeps have removed.")
	sweepRewritten = metric("sweep_rows_rewritten_total", "Rows that sweeps have taken a part out of.")
	sweepFreed     = metric("sweep_freed_bytes_total", "Bytes that sweeps have removed.")

	builds      = metric("index_builds_total", "Indexes and views that were built over existing rows.")
	buildsLeft  = metric("index_builds_pending", "Indexes and views that are being built, or wait for it.")
	buildRows   = metric("index_build_rows", "Rows whose entries were made by the build that is under way.", "keyspace", "table", "index")
	buildTokens = metric("index_build_ratio", "The part of the tokens that the build under way is done with.", "keyspace", "table", "index")

	tablePartitions = metric("table_partitions", "Partitions, about.", "keyspace", "table")
	tableRows       = metric("table_rows", "Rows, about.", "keyspace", "table")
	tableBytes      = metric("table_bytes", "Bytes of keys and values, about.", "keyspace", "table")
	tableTombstones = metric("table_tombstones", "Tombstones and expired cells, about.", "keyspace", "table")
	tableLargest    = metric("table_largest_partition_bytes", "Bytes of the largest partition.", "keyspace", "table")
)

// Describe sends the names of what the store counts.
func (c storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		sweeps, sweepRows, sweepRemoved, sweepRewritten, sweepFreed, builds, buildsLeft, buildRows, buildTokens,
		tablePartitions, tableRows, tableBytes, tableTombstones, tableLargest,
	} {
		ch <- d
	}
}

// Collect asks the store once and sends what it answers, a metric for each table.
func (c storeCollector) Collect(ch chan<- prometheus.Metric) {
	m := c.store.SweepMetrics()
	sendCounter(ch, sweeps, m.Sweeps)
	sendCounter(ch, sweepRows, m.Rows)
	sendCounter(ch, sweepRemoved, m.Removed)
	sendCounter(ch, sweepRewritten, m.Rewritten)
	sendCounter(ch, sweepFreed, m.Freed)
	sendCounter(ch, builds, c.store.Builds())
	sendGauge(ch, buildsLeft, c.store.BuildsWaiting())
	if b := c.store.BuildProgress(); b != nil {
		sendGauge(ch, buildRows, b.Rows, b.Table.Keyspace, b.Table.Name, b.Name)
		ch <- prometheus.MustNewConstMetric(buildTokens, prometheus.GaugeValue, b.Part, b.Table.Keyspace, b.Table.Name, b.Name)
	}
	keyspaces := slices.DeleteFunc(slices.Clone(c.store.Catalog().Keyspaces()), func(k *schema.Keyspace) bool {
		return k.Virtual || schema.IsLocal(k.Name)
	})
	for _, k := range keyspaces {
		for _, t := range k.SortedTables() {
			e := c.store.Estimate(t)
			sendGauge(ch, tablePartitions, e.Partitions, k.Name, t.Name)
			sendGauge(ch, tableRows, e.Rows, k.Name, t.Name)
			sendGauge(ch, tableBytes, e.Bytes, k.Name, t.Name)
			sendGauge(ch, tableTombstones, e.Tombstones, k.Name, t.Name)
			sendGauge(ch, tableLargest, e.LargestPartition, k.Name, t.Name)
		}
	}
}

// diskCollector collects what the engine on disk knows.
type diskCollector struct{ engine *disk.Engine }

var (
	memtableBytes     = metric("memtable_bytes", "Bytes of what was written and is not in tables yet.")
	memtablesFrozen   = metric("memtables_frozen", "Memtables that wait to be written to tables.")
	commitlogSegments = metric("commitlog_segments", "Files of the commit log.")
	commitlogBytes    = metric("commitlog_bytes", "Bytes of writes in the commit log.")
	flushesTotal      = metric("flushes_total", "Memtables that were written to tables.")
	flushWaits        = metric("flush_waits_total", "Writes that had to wait for a memtable to be written to tables.")
)

// Describe sends the names of what the engine knows.
func (c diskCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		memtableBytes, memtablesFrozen, commitlogSegments, commitlogBytes, flushesTotal, flushWaits,
	} {
		ch <- d
	}
}

// Collect asks the engine once and sends what it answers.
func (c diskCollector) Collect(ch chan<- prometheus.Metric) {
	m := c.engine.Metrics()
	sendGauge(ch, memtableBytes, m.MemtableBytes)
	sendGauge(ch, memtablesFrozen, m.MemtablesFrozen)
	sendGauge(ch, commitlogSegments, m.LogSegments)
	sendGauge(ch, commitlogBytes, m.LogBytes)
	sendCounter(ch, flushesTotal, m.Flushes)
	sendCounter(ch, flushWaits, m.Waits)
}

// runtimeCollector collects what the Go runtime knows.
type runtimeCollector struct{}

var (
	goroutines = metric("goroutines", "Goroutines.")
	heapBytes  = metric("heap_bytes", "Heap in use.")
	gcTotal    = metric("gc_total", "Garbage collections.")
)

// Describe sends the names of what the runtime knows.
func (runtimeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{goroutines, heapBytes, gcTotal} {
		ch <- d
	}
}

// Collect asks the runtime and sends what it answers.
func (runtimeCollector) Collect(ch chan<- prometheus.Metric) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	sendGauge(ch, goroutines, runtime.NumGoroutine())
	sendGauge(ch, heapBytes, mem.HeapInuse)
	sendCounter(ch, gcTotal, uint64(mem.NumGC))
}
