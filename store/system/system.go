package system

import "github.com/cqld/cqld/cql/schema"

// systemTables are the tables of keyspace system, about the node itself. local has a row, and peers has one for each
// other node; most of the others are empty until a client writes to them.
var systemTables = []declaration{
	{
		name: "IndexInfo", comment: "built column indexes",
		key: "table_name text", clustering: "index_name text",
		columns: "value blob",
	},
	{
		name: "available_ranges", comment: "available keyspace/ranges during bootstrap/replace that are ready to be served",
		key:     "keyspace_name text",
		columns: "ranges set<blob>",
	},
	{
		name:    "available_ranges_v2",
		comment: "available keyspace/ranges during bootstrap/replace that are ready to be served",
		key:     "keyspace_name text",
		columns: "full_ranges set<blob>, transient_ranges set<blob>",
	},
	{
		name: "batches", comment: "batches awaiting replay",
		options: func(o *schema.TableOptions) { o.Compaction["min_threshold"] = "2" },
		key:     "id timeuuid",
		columns: "mutations list<blob>, version int",
	},
	{
		name: "built_views", comment: "built views",
		key: "keyspace_name text", clustering: "view_name text",
		columns: "status_replicated boolean",
	},
	{
		name: "compaction_history", comment: "week-long compaction history",
		options: func(o *schema.TableOptions) { o.DefaultTimeToLive = 604800 },
		key:     "id timeuuid",
		columns: `
			bytes_in bigint, bytes_out bigint, columnfamily_name text, compacted_at timestamp,
			compaction_properties frozen<map<text, text>>, keyspace_name text, rows_merged map<int, bigint>`,
	},
	{
		name: "local", comment: "information about the local node",
		key: "key text",
		columns: `
			bootstrapped text, broadcast_address inet, broadcast_port int, cluster_name text, cql_version text,
			data_center text, gossip_generation int, host_id uuid, listen_address inet, listen_port int,
			native_protocol_version text, partitioner text, rack text, release_version text, rpc_address inet,
			rpc_port int, schema_version uuid, tokens set<text>, truncated_at map<uuid, blob>`,
	},
	{
		name: "paxos", comment: "in-progress paxos proposals",
		index:   paxosIndex,
		options: func(o *schema.TableOptions) { o.Compaction["class"] = leveled },
		key:     "row_key blob", clustering: "cf_id uuid",
		columns: `
			in_progress_ballot timeuuid, in_progress_read_ballot timeuuid, most_recent_commit blob,
			most_recent_commit_at timeuuid, most_recent_commit_version int, proposal blob, proposal_ballot timeuuid,
			proposal_version int`,
	},
	{
		name: "paxos_repair_history", comment: "paxos repair history",
		key: "keyspace_name text", clustering: "table_name text",
		columns: "points frozen<list<frozen<tuple<blob, timeuuid>>>>",
	},
	{
		name: "peer_events", comment: "events related to peers",
		key:     "peer inet",
		columns: "hints_dropped map<timeuuid, int>",
	},
	{
		name: "peer_events_v2", comment: "events related to peers",
		key: "peer inet", clustering: "peer_port int",
		columns: "hints_dropped map<timeuuid, int>",
	},
	{
		name: "peers", comment: "information about known peers in the cluster",
		key: "peer inet",
		columns: `
			data_center text, host_id uuid, preferred_ip inet, rack text, release_version text, rpc_address inet,
			schema_version uuid, tokens set<text>`,
	},
	{
		name: "peers_v2", comment: "information about known peers in the cluster",
		key: "peer inet", clustering: "peer_port int",
		columns: `
			data_center text, host_id uuid, native_address inet, native_port int, preferred_ip inet,
			preferred_port int, rack text, release_version text, schema_version uuid, tokens set<text>`,
	},
	{
		name: "prepared_statements", comment: "prepared statements",
		key:     "prepared_id blob",
		columns: "logged_keyspace text, query_string text",
	},
	{
		name: "repairs", comment: "repairs",
		key: "parent_id timeuuid",
		columns: `
			cfids set<uuid>, coordinator inet, coordinator_port int, last_update timestamp, participants set<inet>,
			participants_wp set<text>, ranges set<blob>, repaired_at timestamp, started_at timestamp, state int`,
	},
	{
		name:    "size_estimates",
		comment: "per-table primary range size estimates, table is deprecated in favor of table_estimates",
		key:     "keyspace_name text", clustering: "table_name text, range_start text, range_end text",
		columns: "mean_partition_size bigint, partitions_count bigint",
	},
	{
		name: "sstable_activity", comment: "historic sstable read rates",
		key:     "keyspace_name text, columnfamily_name text, generation int",
		columns: "rate_120m double, rate_15m double",
	},
	{
		name: "sstable_activity_v2", comment: "historic sstable read rates",
		key:     "keyspace_name text, table_name text, id text",
		columns: "rate_120m double, rate_15m double",
	},
	{
		name: "table_estimates", comment: "per-table range size estimates",
		key: "keyspace_name text", clustering: "table_name text, range_type text, range_start text, range_end text",
		columns: "mean_partition_size bigint, partitions_count bigint",
	},
	{
		name: "top_partitions", comment: "Stores the top partitions",
		key: "keyspace_name text", clustering: "table_name text, top_type text",
		columns: "last_update timestamp, top frozen<list<frozen<tuple<text, bigint>>>>",
	},
	{
		name: "transferred_ranges", comment: "record of transferred ranges for streaming operation",
		key: "operation text, keyspace_name text", clustering: "peer inet",
		columns: "ranges set<blob>",
	},
	{
		name: "transferred_ranges_v2", comment: "record of transferred ranges for streaming operation",
		key: "operation text, keyspace_name text", clustering: "peer inet, peer_port int",
		columns: "ranges set<blob>",
	},
	{
		name: "view_builds_in_progress", comment: "views builds current progress",
		key: "keyspace_name text", clustering: "view_name text, start_token text, end_token text",
		columns: "keys_built bigint, last_token text",
	},
}
