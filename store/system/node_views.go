package system

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// named starts a row whose key is a name.
func (w *writer) named(name string) {
	w.partition(types.EncodeText(name))
	w.row()
}

func fillBatchMetrics(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	var b Batches
	if n.Monitor != nil {
		b = n.Monitor.Batches()
	}
	for _, kind := range []struct {
		name string
		Distribution
	}{{"counter", b.Counter}, {"logged", b.Logged}, {"unlogged", b.Unlogged}} {
		w.named("partitions_per_" + kind.name + "_batch")
		w.bigint("max", kind.Max)
		w.double("p50th", float64(kind.P50))
		w.double("p999th", float64(kind.P999))
		w.double("p99th", float64(kind.P99))
	}
}

// fillCaches makes system_views.caches: Cassandra's caches, which this node does not have. They look like caches that
// are switched off.
func fillCaches(_ *node, w *writer, _ store.Session, _ *schema.Catalog) {
	for _, name := range []string{"counters", "keys", "rows"} {
		w.named(name)
		w.bigint("capacity_bytes", 0)
		w.int("entry_count", 0)
		w.bigint("hit_count", 0)
		w.double("hit_ratio", math.NaN())
		w.bigint("recent_hit_rate_per_second", 0)
		w.bigint("recent_request_rate_per_second", 0)
		w.bigint("request_count", 0)
		w.bigint("size_bytes", 0)
	}
}

// fillCIDRCounts makes system_views.cidr_filtering_metrics_counts: there are no CIDR groups.
func fillCIDRCounts(_ *node, w *writer, _ store.Session, _ *schema.Catalog) {
	w.named("CIDR groups cache reload count")
	w.bigint("value", 0)
}

// fillCIDRLatencies makes system_views.cidr_filtering_metrics_latencies.
func fillCIDRLatencies(_ *node, w *writer, _ store.Session, _ *schema.Catalog) {
	for _, name := range []string{
		"CIDR checks latency (ns)", "CIDR groups cache reload latency (ns)", "Lookup IP in CIDR groups cache latency (ns)",
	} {
		w.named(name)
		for _, column := range []string{"max", "p50th", "p95th", "p999th", "p99th"} {
			w.double(column, 0)
		}
	}
}

func fillCQLMetrics(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	var s Statements
	if n.Monitor != nil {
		s = n.Monitor.Statements()
	}
	ratio := 0.0
	if all := s.Executes + s.Queries; all > 0 {
		ratio = float64(s.Executes) / float64(all)
	}
	for _, metric := range []struct {
		name  string
		value float64
	}{
		{"prepared_statements_count", float64(s.Prepared)},
		{"prepared_statements_evicted", float64(s.Evicted)},
		{"prepared_statements_executed", float64(s.Executes)},
		{"prepared_statements_ratio", ratio},
		{"regular_statements_executed", float64(s.Queries)},
	} {
		w.named(metric.name)
		w.double("value", metric.value)
	}
}

func fillQueries(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	if n.Monitor == nil {
		return
	}
	for _, q := range n.Monitor.Queries() {
		w.named(q.ID)
		w.bigint("queued_micros", 0)
		w.bigint("running_micros", q.Running.Microseconds())
		w.text("task", q.Task)
	}
}

// fillThreadPools makes system_views.thread_pools: the limits of work on this node.
func fillThreadPools(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	var pools []Pool
	if n.Monitor != nil {
		pools = n.Monitor.Pools()
	}
	sweeping := 0
	if n.sweep() != nil {
		sweeping = 1
	}
	pools = append(pools, Pool{Name: "Sweeps", Active: sweeping, Limit: 1, Completed: int64(n.sweeps())})
	for _, p := range pools {
		w.named(p.Name)
		w.int("active_tasks", p.Active)
		w.int("active_tasks_limit", p.Limit)
		w.bigint("blocked_tasks", int64(p.Blocked))
		w.bigint("blocked_tasks_all_time", p.BlockedAllTime)
		w.bigint("completed_tasks", p.Completed)
		w.int("pending_tasks", p.Pending)
	}
}

// sweepKind is how Cassandra calls a task that removes what is deleted or expired.
const sweepKind = "remove deleted data"

// How Cassandra calls the builds of an index and of a view.
const (
	indexBuildKind = "secondary index build"
	viewBuildKind  = "view build"
)

// fillTasks makes system_views.sstable_tasks: the sweep and the build of an index or a view that are under way. Their
// progress is in rows.
func fillTasks(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	if s := n.sweep(); s != nil {
		n.fillTask(w, s.Table, s.Began, sweepKind, s.Rows, s.Total)
	}
	switch b := n.build(); {
	case b == nil:
	case b.View != nil:
		n.fillTask(w, b.Table, b.Began, viewBuildKind, b.Rows, b.Total)
	default:
		n.fillTask(w, b.Table, b.Began, indexBuildKind, b.Rows, b.Total)
	}
}

func (n *node) fillTask(w *writer, t *schema.Table, began time.Time, kind string, done, total int64) {
	ratio := 1.0
	if total > 0 {
		ratio = min(float64(done)/float64(total), 1)
	}
	id := types.NewUUIDClock([8]byte(n.hostID[8:])).Next(began)
	w.partition(types.EncodeText(t.Keyspace))
	w.row(types.EncodeText(t.Name), id[:])
	w.double("completion_ratio", ratio)
	w.text("kind", kind)
	w.bigint("progress", done)
	w.int("sstables", 0)
	w.bigint("total", total)
	w.text("unit", "rows")
}

// fillGossip makes system_views.gossip_info: the state that nodes would send each other. There is no gossip, so no
// version.
func fillGossip(n *node, w *writer, session store.Session, c *schema.Catalog) {
	for _, about := range append(n.peers(session), n.self(session)) {
		if len(about.Tokens) == 0 {
			continue // the session's node was removed from the ring
		}
		version := about.schemaVersion(c)
		address, status := about.Address.Addr(), "NORMAL,"+about.tokenTexts()[0]
		w.partition(address.AsSlice())
		w.row(types.EncodeInt(int32(about.StoragePort)))
		w.text("dc", about.Datacenter)
		w.int("generation", int(n.started.Unix()))
		w.int("heartbeat", int(n.now().Sub(n.started).Seconds()))
		w.text("host_id", types.UUID.Format(about.HostID[:]))
		w.text("load", fmt.Sprintf("%.1f", float64(n.load(c))))
		w.text("native_address_and_port", about.Address.String())
		w.text("rack", about.Rack)
		w.text("release_version", releaseVersion)
		w.text("rpc_address", address.String())
		w.text("rpc_ready", strconv.FormatBool(!about.Down))
		w.text("schema", types.UUID.Format(version[:]))
		w.text("status", status)
		w.text("status_with_port", status)
	}
}

// load is how many bytes the tables have.
func (n *node) load(c *schema.Catalog) (bytes int64) {
	for _, k := range c.Keyspaces() {
		if k.Virtual || schema.IsLocal(k.Name) {
			continue
		}
		for _, t := range k.Tables {
			bytes += n.estimate(t).Bytes
		}
	}
	return bytes
}
