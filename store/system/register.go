package system

import (
	"net/netip"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

// Options describe this node for its rows.
type Options struct {
	ClusterName string     // "": Test Cluster
	Datacenter  string     // "": datacenter1
	Rack        string     // "": rack1
	Advertise   netip.Addr // the address for clients; zero: the one they dialled
	Port        int        // of the native protocol, told to clients; 0: the one they dialled

	// Settings are the rows of system_views.settings; this package replaces values that it knows itself.
	Settings []Setting

	// Clients returns the connections that system_views.clients shows; nil: none.
	Clients func(store.Session) []Client

	// Ring returns the node that a session is with, and the others; nil: the node is alone, and has the datacenter, the
	// rack and the address above.
	Ring func(store.Session) (self Node, peers []Node)

	Monitor Monitor // of the server; nil: nothing is counted
}

// The names of a node that is given none, as Cassandra's default settings have them.
const (
	DefaultClusterName = "Test Cluster"
	DefaultDatacenter  = "datacenter1"
	DefaultRack        = "rack1"
)

// node fills tables from the options and the open store.
type node struct {
	Options
	hostID   [16]byte
	started  time.Time
	estimate func(*schema.Table) store.Estimate
	recount  func(*schema.Table)
	now      func() time.Time
	sweep    func() *store.SweepProgress
	sweeps   func() uint64 // that are complete

	isBuilding func(*schema.Table, *schema.Index) bool
	build      func() *store.BuildProgress
	viewBuilt  func(view *schema.Table) bool
}

// filler makes the rows of one table.
type filler func(n *node, w *writer, session store.Session, c *schema.Catalog)

// fillers has the tables with rows. The other virtual tables are empty; the rest of keyspace system and the replicated
// keyspaces are stored.
var fillers = map[string]map[string]filler{
	"system": {
		"IndexInfo": fillIndexInfo, "local": fillLocal,
		"size_estimates": fillSizeEstimates, "table_estimates": fillTableEstimates,
		"built_views": fillBuiltViews, "view_builds_in_progress": fillViewBuilds,
		"peers": fillPeers, "peers_v2": fillPeersV2,
	},
	"system_distributed": {
		"view_build_status": fillViewBuildStatus,
	},
	"system_schema": {
		"keyspaces":       fillKeyspaces,
		"tables":          fillTables,
		"columns":         fillColumns,
		"types":           fillTypes,
		"views":           fillViews,
		"functions":       fillFunctions,
		"aggregates":      fillAggregates,
		"column_masks":    fillColumnMasks,
		"dropped_columns": fillDroppedColumns,
		"indexes":         fillIndexes,
	},
	"system_virtual_schema": {
		"keyspaces": fillVirtualKeyspaces,
		"tables":    fillVirtualTables,
		"columns":   fillVirtualColumns,
	},
	"system_views": {
		"batch_metrics":                    fillBatchMetrics,
		"caches":                           fillCaches,
		"cidr_filtering_metrics_counts":    fillCIDRCounts,
		"cidr_filtering_metrics_latencies": fillCIDRLatencies,
		"clients":                          fillClients,
		"cql_metrics":                      fillCQLMetrics,
		"gossip_info":                      fillGossip,
		"queries":                          fillQueries,
		"sai_column_indexes":               fillSAIIndexes,
		"settings":                         fillSettings,
		"sstable_tasks":                    fillTasks,
		"thread_pools":                     fillThreadPools,

		"coordinator_read_latency":  latencyFiller(func(a TableActivity) Latency { return a.Reads }),
		"coordinator_scan_latency":  latencyFiller(func(a TableActivity) Latency { return a.Scans }),
		"coordinator_write_latency": latencyFiller(func(a TableActivity) Latency { return a.Writes }),
		"local_read_latency":        latencyFiller(func(a TableActivity) Latency { return a.Reads }),
		"local_scan_latency":        latencyFiller(func(a TableActivity) Latency { return a.Scans }),
		"local_write_latency":       latencyFiller(func(a TableActivity) Latency { return a.Writes }),
		"rows_per_read":             amountFiller(func(a TableActivity) Distribution { return a.Rows }),
		"tombstones_per_read":       amountFiller(func(a TableActivity) Distribution { return a.Tombstones }),

		"disk_usage":           sizeFiller(func(e store.Estimate) int64 { return e.Bytes }),
		"max_partition_size":   sizeFiller(func(e store.Estimate) int64 { return e.LargestPartition }),
		"max_sstable_size":     sizeFiller(noSize),
		"max_sstable_duration": fillDurations,
	},
}

// Register gives the store the rows of the tables that exist only as code.
func Register(s *store.Store, o Options) {
	if o.ClusterName == "" {
		o.ClusterName = DefaultClusterName
	}
	if o.Datacenter == "" {
		o.Datacenter = DefaultDatacenter
	}
	if o.Rack == "" {
		o.Rack = DefaultRack
	}
	n := &node{
		Options: o, hostID: s.HostID(), started: s.Now(), estimate: s.Estimate, recount: s.Recount,
		now: s.Now, sweep: s.SweepProgress, sweeps: func() uint64 { return s.SweepMetrics().Sweeps },
		isBuilding: s.IsBuilding, build: s.BuildProgress, viewBuilt: s.IsViewBuilt,
	}
	for _, k := range keyspaces {
		for _, t := range k.SortedTables() {
			fill := fillers[k.Name][t.Name]
			if fill == nil && (k.Name == "system" || schema.IsReplicatedSystem(k.Name)) {
				continue
			}
			if k.Name == "system_schema" || k.Name == "system_virtual_schema" {
				var w store.VirtualWriter
				if t.Settable != "" {
					w = extensionsWriter{s, t}
				}
				s.AddDefinitions(t, n.rows(t, fill), w)
			} else {
				s.AddVirtual(t, n.rows(t, fill), nil)
			}
		}
	}
}

// rows is the function that the store calls at each read of t.
func (n *node) rows(t *schema.Table, fill filler) func(store.Session, *schema.Catalog) ([]*store.Mutation, error) {
	return func(session store.Session, c *schema.Catalog) ([]*store.Mutation, error) {
		if fill == nil {
			return nil, nil
		}
		w := &writer{table: t, timestamp: n.started.UnixMicro()}
		fill(n, w, session, c)
		return w.mutations, nil
	}
}
