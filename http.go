package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
)

// web is the HTTP side: health, metrics and profiles. A nil *web is one that is off.
type web struct {
	server *http.Server
	store  *store.Store
	up     atomic.Bool
	done   chan struct{}
}

// startHTTP serves at addr; an empty addr is off.
func startHTTP(addr string, srv *server.Server, st *store.Store, log zerolog.Logger) (*web, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve HTTP: %w", err)
	}
	w := &web{store: st, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.health)
	mux.HandleFunc("GET /metrics", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/plain; version=0.0.4")
		writeMetrics(rw, srv.Metrics())
		writeStoreMetrics(rw, st)
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(w.done)
		if err := w.server.Serve(&sparing{l, log}); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("serving HTTP failed")
		}
	}()
	log.Info().Str("address", l.Addr().String()).Msg("serving health, metrics and profiles over HTTP")
	return w, nil
}

// ready says whether health is good.
func (w *web) ready(yes bool) {
	if w != nil {
		w.up.Store(yes)
	}
}

// close ends the HTTP side at once.
func (w *web) close() {
	if w != nil {
		_ = w.server.Close() // closes connections; there is nothing to do about one that fails to
		<-w.done
	}
}

func (w *web) health(rw http.ResponseWriter, _ *http.Request) {
	if !w.up.Load() {
		http.Error(rw, "stopping", http.StatusServiceUnavailable)
		return
	}
	if err := w.store.Refusing(); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(rw, "ok")
}

// writeMetrics writes what the server and the Go runtime count in Prometheus' text format.
func writeMetrics(w io.Writer, m server.Metrics) {
	metric := func(name, kind, help string, value any) {
		fmt.Fprintf(w, "# HELP cqld_%s %s\n# TYPE cqld_%s %s\ncqld_%s %v\n", name, help, name, kind, name, value)
	}
	labelled := func(name, help, label string, values map[string]uint64) {
		fmt.Fprintf(w, "# HELP cqld_%s %s\n# TYPE cqld_%s counter\n", name, help, name)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(w, "cqld_%s{%s=%q} %d\n", name, label, k, values[k])
		}
	}
	metric("connections", "gauge", "Open connections.", m.Connections)
	metric("connections_accepted_total", "counter", "Connections accepted.", m.ConnectionsAccepted)
	metric("connections_refused_total", "counter", "Connections refused because of a limit.", m.ConnectionsRefused)
	metric("connections_stalled_total", "counter", "Connections closed because others waited for the memory they held.",
		m.ConnectionsStalled)
	labelled("requests_total", "Requests by opcode.", "opcode", m.Requests)
	labelled("errors_total", "Errors answered, by kind.", "kind", m.Errors)
	metric("prepared_statements", "gauge", "Prepared statements kept.", m.PreparedStatements)
	metric("prepared_bytes", "gauge", "Memory that prepared statements take.", m.PreparedBytes)
	metric("prepared_evicted_total", "counter", "Prepared statements dropped for lack of room.", m.PreparedEvicted)
	metric("bytes_arriving", "gauge", "Bytes of large requests that have not arrived completely.", m.BytesArriving)
	metric("bytes_in_flight", "gauge", "Bytes of requests that are not answered.", m.BytesInFlight)
	metric("bytes_planning", "gauge", "Memory set aside for parsing and planning long texts.", m.BytesPlanning)
	metric("bytes_answers", "gauge", "Bytes of rows that reads have made, and of answers that clients have not read.", m.BytesAnswers)
	metric("reads_waiting", "gauge", "Reads that wait for their turn.", m.ReadsWaiting)

	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	metric("goroutines", "gauge", "Goroutines.", runtime.NumGoroutine())
	metric("heap_bytes", "gauge", "Heap in use.", mem.HeapInuse)
	metric("gc_total", "counter", "Garbage collections.", mem.NumGC)
}

// writeStoreMetrics writes what the store knows of its tables, but for those of the node itself.
func writeStoreMetrics(w io.Writer, st *store.Store) {
	counter := func(name, help string, value uint64) {
		fmt.Fprintf(w, "# HELP cqld_%s %s\n# TYPE cqld_%s counter\ncqld_%s %d\n", name, help, name, name, value)
	}
	m := st.SweepMetrics()
	counter("sweeps_total", "Sweeps over a table that are complete.", m.Sweeps)
	counter("sweep_rows_total", "Rows that sweeps have looked at.", m.Rows)
	counter("sweep_rows_removed_total", "Rows that sweeps have removed.", m.Removed)
	counter("sweep_rows_rewritten_total", "Rows that sweeps have taken a part out of.", m.Rewritten)
	counter("sweep_freed_bytes_total", "Bytes that sweeps have removed.", m.Freed)

	type estimate struct {
		labels string
		store.Estimate
	}
	var tables []estimate
	for _, k := range st.Catalog().Keyspaces() {
		if k.Virtual || schema.IsLocal(k.Name) {
			continue
		}
		for _, t := range k.SortedTables() {
			tables = append(tables, estimate{fmt.Sprintf("keyspace=%q,table=%q", k.Name, t.Name), st.Estimate(t)})
		}
	}
	gauge := func(name, help string, value func(*store.Estimate) int64) {
		fmt.Fprintf(w, "# HELP cqld_table_%s %s\n# TYPE cqld_table_%s gauge\n", name, help, name)
		for i := range tables {
			fmt.Fprintf(w, "cqld_table_%s{%s} %d\n", name, tables[i].labels, value(&tables[i].Estimate))
		}
	}
	gauge("partitions", "Partitions, about.", func(e *store.Estimate) int64 { return e.Partitions })
	gauge("rows", "Rows, about.", func(e *store.Estimate) int64 { return e.Rows })
	gauge("bytes", "Bytes of keys and values, about.", func(e *store.Estimate) int64 { return e.Bytes })
	gauge("tombstones", "Tombstones and expired cells, about.", func(e *store.Estimate) int64 { return e.Tombstones })
	gauge("largest_partition_bytes", "Bytes of the largest partition.", func(e *store.Estimate) int64 { return e.LargestPartition })
}
