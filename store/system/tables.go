package system

// The tables of each keyspace, as Cassandra 5.0.8 defines them. A line has the name, the partition key, the clustering
// columns if there are any, and the comment, which may have a line of its own after "--". The other columns follow on
// indented lines. Stored cells name a column by its place, and stored rows a table, so new ones go to the end.

// systemTables are the tables of keyspace system, about the node itself. local has a row, and peers has one for each
// other node; most of the others are empty until a client writes to them.
const systemTables = `
IndexInfo (table_name text) (index_name text) built column indexes
	value blob
available_ranges (keyspace_name text) available keyspace/ranges during bootstrap/replace that are ready to be served
	ranges set<blob>
available_ranges_v2 (keyspace_name text) available keyspace/ranges during bootstrap/replace that are ready to be served
	full_ranges set<blob>, transient_ranges set<blob>
batches (id timeuuid) batches awaiting replay
	mutations list<blob>, version int
built_views (keyspace_name text) (view_name text) built views
	status_replicated boolean
compaction_history (id timeuuid) week-long compaction history
	bytes_in bigint, bytes_out bigint, columnfamily_name text, compacted_at timestamp, compaction_properties
	frozen<map<text, text>>, keyspace_name text, rows_merged map<int, bigint>
local (key text) information about the local node
	bootstrapped text, broadcast_address inet, broadcast_port int, cluster_name text, cql_version text, data_center
	text, gossip_generation int, host_id uuid, listen_address inet, listen_port int, native_protocol_version text,
	partitioner text, rack text, release_version text, rpc_address inet, rpc_port int, schema_version uuid, tokens
	set<text>, truncated_at map<uuid, blob>
paxos (row_key blob) (cf_id uuid) in-progress paxos proposals
	in_progress_ballot timeuuid, in_progress_read_ballot timeuuid, most_recent_commit blob, most_recent_commit_at
	timeuuid, most_recent_commit_version int, proposal blob, proposal_ballot timeuuid, proposal_version int
paxos_repair_history (keyspace_name text) (table_name text) paxos repair history
	points frozen<list<frozen<tuple<blob, timeuuid>>>>
peer_events (peer inet) events related to peers
	hints_dropped map<timeuuid, int>
peer_events_v2 (peer inet) (peer_port int) events related to peers
	hints_dropped map<timeuuid, int>
peers (peer inet) information about known peers in the cluster
	data_center text, host_id uuid, preferred_ip inet, rack text, release_version text, rpc_address inet, schema_version
	uuid, tokens set<text>
peers_v2 (peer inet) (peer_port int) information about known peers in the cluster
	data_center text, host_id uuid, native_address inet, native_port int, preferred_ip inet, preferred_port int, rack
	text, release_version text, schema_version uuid, tokens set<text>
prepared_statements (prepared_id blob) prepared statements
	logged_keyspace text, query_string text
repairs (parent_id timeuuid) repairs
	cfids set<uuid>, coordinator inet, coordinator_port int, last_update timestamp, participants set<inet>,
	participants_wp set<text>, ranges set<blob>, repaired_at timestamp, started_at timestamp, state int
size_estimates (keyspace_name text) (table_name text, range_start text, range_end text)
	-- per-table primary range size estimates, table is deprecated in favor of table_estimates
	mean_partition_size bigint, partitions_count bigint
sstable_activity (keyspace_name text, columnfamily_name text, generation int) historic sstable read rates
	rate_120m double, rate_15m double
sstable_activity_v2 (keyspace_name text, table_name text, id text) historic sstable read rates
	rate_120m double, rate_15m double
table_estimates (keyspace_name text) (table_name text, range_type text, range_start text, range_end text)
	-- per-table range size estimates
	mean_partition_size bigint, partitions_count bigint
top_partitions (keyspace_name text) (table_name text, top_type text) Stores the top partitions
	last_update timestamp, top frozen<list<frozen<tuple<text, bigint>>>>
transferred_ranges (operation text, keyspace_name text) (peer inet)
	-- record of transferred ranges for streaming operation
	ranges set<blob>
transferred_ranges_v2 (operation text, keyspace_name text) (peer inet, peer_port int)
	-- record of transferred ranges for streaming operation
	ranges set<blob>
view_builds_in_progress (keyspace_name text) (view_name text, start_token text, end_token text)
	-- views builds current progress
	keys_built bigint, last_token text
`

// schemaTables are the tables of keyspace system_schema: the definitions of all keyspaces but the virtual ones, from
// which drivers learn them.
const schemaTables = `
aggregates (keyspace_name text) (aggregate_name text, argument_types frozen<list<text>>)
	-- user defined aggregate definitions
	final_func text, initcond text, return_type text, state_func text, state_type text
column_masks (keyspace_name text) (table_name text, column_name text) column dynamic data masks
	function_argument_nulls frozen<list<boolean>>, function_argument_types frozen<list<text>>, function_argument_values
	frozen<list<text>>, function_keyspace text, function_name text
columns (keyspace_name text) (table_name text, column_name text) column definitions
	clustering_order text, column_name_bytes blob, kind text, position int, type text
dropped_columns (keyspace_name text) (table_name text, column_name text) dropped column registry
	dropped_time timestamp, kind text, type text
functions (keyspace_name text) (function_name text, argument_types frozen<list<text>>)
	-- user defined function definitions
	argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, return_type text
indexes (keyspace_name text) (table_name text, index_name text) secondary index definitions
	kind text, options frozen<map<text, text>>
keyspaces (keyspace_name text) keyspace definitions
	durable_writes boolean, replication frozen<map<text, text>>
tables (keyspace_name text) (table_name text) table definitions
	additional_write_policy text, allow_auto_snapshot boolean, bloom_filter_fp_chance double, caching frozen<map<text,
	text>>, cdc boolean, comment text, compaction frozen<map<text, text>>, compression frozen<map<text, text>>,
	crc_check_chance double, dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text,
	blob>>, flags frozen<set<text>>, gc_grace_seconds int, id uuid, incremental_backups boolean, max_index_interval int,
	memtable text, memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double,
	speculative_retry text
triggers (keyspace_name text) (table_name text, trigger_name text) trigger definitions
	options frozen<map<text, text>>
types (keyspace_name text) (type_name text) user defined type definitions
	field_names frozen<list<text>>, field_types frozen<list<text>>
views (keyspace_name text) (view_name text) view definitions
	additional_write_policy text, allow_auto_snapshot boolean, base_table_id uuid, base_table_name text,
	bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text, compaction
	frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance
	double, default_time_to_live int, extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid,
	include_all_columns boolean, incremental_backups boolean, max_index_interval int, memtable text,
	memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double,
	speculative_retry text, where_clause text
`

// authTables are the tables of keyspace system_auth, which are stored.
const authTables = `
cidr_groups (cidr_group text) cidr groups to cidrs mapping
	cidrs frozen<set<frozen<tuple<inet, smallint>>>>
cidr_permissions (role text) user cidr permissions
	cidr_groups frozen<set<text>>
identity_to_role (identity text) mtls authorized identities lookup table
	role text
network_permissions (role text) user network permissions
	dcs frozen<set<text>>
resource_role_permissons_index (resource text) (role text) index of db roles with permissions granted on a resource
role_members (role text) (member text) role memberships lookup table
role_permissions (role text) (resource text) permissions granted to db roles
	permissions set<text>
roles (role text) role definitions
	can_login boolean, is_superuser boolean, member_of set<text>, salted_hash text
`

// distributedTables are the tables of keyspace system_distributed, which are stored.
const distributedTables = `
parent_repair_history (parent_id timeuuid) Repair history
	columnfamily_names set<text>, exception_message text, exception_stacktrace text, finished_at timestamp,
	keyspace_name text, options map<text, text>, requested_ranges set<text>, started_at timestamp, successful_ranges
	set<text>
partition_denylist (ks_name text, table_name text) (key blob) Partition keys which have been denied access
repair_history (keyspace_name text, columnfamily_name text) (id timeuuid) Repair history
	coordinator inet, coordinator_port int, exception_message text, exception_stacktrace text, finished_at timestamp,
	parent_id timeuuid, participants set<inet>, participants_v2 set<text>, range_begin text, range_end text, started_at
	timestamp, status text
view_build_status (keyspace_name text, view_name text) (host_id uuid) Materialized View build status
	status text
`

// traceTables are the tables of keyspace system_traces, which are stored: the events of requests with the tracing
// flag.
const traceTables = `
events (session_id uuid) (event_id timeuuid) tracing events
	activity text, source inet, source_elapsed int, source_port int, thread text
sessions (session_id uuid) tracing sessions
	client inet, command text, coordinator inet, coordinator_port int, duration int, parameters map<text, text>, request
	text, started_at timestamp
`

// virtualSchemaTables are the tables of keyspace system_virtual_schema: the definitions of the virtual keyspaces,
// including this one.
const virtualSchemaTables = `
columns (keyspace_name text) (table_name text, column_name text) virtual column definitions
	clustering_order text, column_name_bytes blob, kind text, position int, type text
keyspaces (keyspace_name text) virtual keyspace definitions
tables (keyspace_name text) (table_name text) virtual table definitions
	comment text
`

// viewTables are the tables of keyspace system_views that show the node at work.
const viewTables = `
batch_metrics (name text) Metrics specific to batch statements
	max bigint, p50th double, p999th double, p99th double
caches (name text) system caches
	capacity_bytes bigint, entry_count int, hit_count bigint, hit_ratio double, recent_hit_rate_per_second bigint,
	recent_request_rate_per_second bigint, request_count bigint, size_bytes bigint
cidr_filtering_metrics_counts (name text) Count metrics specific to CIDR filtering
	value bigint
cidr_filtering_metrics_latencies (name text) Latency metrics specific to CIDR filtering
	max double, p50th double, p95th double, p999th double, p99th double
clients (address inet) (port int) currently connected clients
	client_options frozen<map<text, text>>, connection_stage text, driver_name text, driver_version text, hostname text,
	keyspace_name text, protocol_version int, request_count bigint, ssl_cipher_suite text, ssl_enabled boolean,
	ssl_protocol text, username text
coordinator_read_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
coordinator_scan_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
coordinator_write_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
cql_metrics (name text) Metrics specific to CQL prepared statement caching
	value double
credentials_cache_keys (role text) keys in the credentials cache
disk_usage (keyspace_name text, table_name text)
	mebibytes bigint
gossip_info (address inet) (port int) lists the gossip information for the cluster
	dc text, dc_version int, disk_usage text, disk_usage_version int, generation int, heartbeat int, host_id text,
	host_id_version int, hostname text, index_status text, index_status_version int, internal_address_and_port text,
	internal_address_and_port_version int, internal_ip text, internal_ip_version int, load text, load_version int,
	native_address_and_port text, native_address_and_port_version int, net_version text, net_version_version int, rack
	text, rack_version int, release_version text, release_version_version int, removal_coordinator text,
	removal_coordinator_version int, rpc_address text, rpc_address_version int, rpc_ready text, rpc_ready_version int,
	schema text, schema_version int, severity text, severity_version int, sstable_versions text,
	sstable_versions_version int, status text, status_version int, status_with_port text, status_with_port_version int,
	tokens_version int, x1 text, x10 text, x10_version int, x1_version int, x2 text, x2_version int, x3 text, x3_version
	int, x4 text, x4_version int, x5 text, x5_version int, x6 text, x6_version int, x7 text, x7_version int, x8 text,
	x8_version int, x9 text, x9_version int, x_11_padding text, x_11_padding_version int
internode_inbound (address inet, port int) (dc text, rack text)
	corrupt_frames_recovered bigint, corrupt_frames_unrecovered bigint, error_bytes bigint, error_count bigint,
	expired_bytes bigint, expired_count bigint, processed_bytes bigint, processed_count bigint, received_bytes bigint,
	received_count bigint, scheduled_bytes bigint, scheduled_count bigint, throttled_count bigint, throttled_nanos
	bigint, using_bytes bigint, using_reserve_bytes bigint
internode_outbound (address inet, port int) (dc text, rack text)
	active_connections bigint, connection_attempts bigint, error_bytes bigint, error_count bigint, expired_bytes bigint,
	expired_count bigint, overload_bytes bigint, overload_count bigint, pending_bytes bigint, pending_count bigint,
	sent_bytes bigint, sent_count bigint, successful_connection_attempts bigint, using_bytes bigint, using_reserve_bytes
	bigint
jmx_permissions_cache_keys (role text) keys in the JMX permissions cache
local_read_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
local_scan_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
local_write_latency (keyspace_name text, table_name text)
	count bigint, max_ms double, p50th_ms double, p99th_ms double, per_second double
max_partition_size (keyspace_name text, table_name text)
	mebibytes bigint
max_sstable_duration (keyspace_name text, table_name text)
	max_sstable_duration bigint
max_sstable_size (keyspace_name text, table_name text)
	mebibytes bigint
network_permissions_cache_keys (role text) keys in the network permissions cache
pending_hints (host_id uuid) Pending hints that this node has for other nodes
	address inet, dc text, files int, newest timestamp, oldest timestamp, port int, rack text, status text
permissions_cache_keys (role text, resource text) keys in the permissions cache
queries (thread_id text) Lists currently running queries
	queued_micros bigint, running_micros bigint, task text
roles_cache_keys (role text) keys in the roles cache
rows_per_read (keyspace_name text, table_name text)
	count bigint, max double, p50th double, p99th double
sai_column_indexes (keyspace_name text) (index_name text) Storage-attached column index metadata
	analyzer text, column_name text, is_building boolean, is_queryable boolean, is_string boolean, table_name text
sai_sstable_index_segments (keyspace_name text) (index_name text, sstable_name text, segment_row_id_offset bigint)
	-- SSTable index segment metadata
	cell_count bigint, column_name text, component_metadata frozen<map<text, frozen<map<text, text>>>>, end_token text,
	max_sstable_row_id bigint, max_term text, min_sstable_row_id bigint, min_term text, start_token text, table_name
	text
sai_sstable_indexes (keyspace_name text) (index_name text, sstable_name text) SSTable index metadata
	cell_count bigint, column_name text, end_token text, format_version text, max_row_id bigint, min_row_id bigint,
	per_column_disk_size bigint, per_table_disk_size bigint, start_token text, table_name text
settings (name text) current settings
	value text
snapshots (name text) (keyspace_name text, table_name text) available snapshots
	created_at timestamp, ephemeral boolean, expires_at timestamp, size_on_disk bigint, true_size bigint
sstable_tasks (keyspace_name text) (table_name text, task_id timeuuid) current sstable tasks
	completion_ratio double, kind text, progress bigint, sstables int, target_directory text, total bigint, unit text
system_logs (timestamp timestamp) (order_in_millisecond int) Cassandra logs
	level text, logger text, message text
system_properties (name text) Cassandra relevant system properties
	value text
thread_pools (name text)
	active_tasks int, active_tasks_limit int, blocked_tasks bigint, blocked_tasks_all_time bigint, completed_tasks
	bigint, pending_tasks int
tombstones_per_read (keyspace_name text, table_name text)
	count bigint, max double, p50th double, p99th double
`

// repairViewTables are the tables of keyspace system_views about repairs and streams between nodes.
const repairViewTables = `
repair_jobs (id uuid) Repair job
	completed boolean, duration_millis bigint, failure_cause text, keyspace_name text, last_updated_at timestamp,
	participants frozen<list<text>>, ranges frozen<list<text>>, repair_id timeuuid, session_id timeuuid,
	state_failure_timestamp timestamp, state_init_timestamp timestamp, state_skipped_timestamp timestamp,
	state_snapshot_complete_timestamp timestamp, state_snapshot_start_timestamp timestamp, state_start_timestamp
	timestamp, state_stream_start_timestamp timestamp, state_success_timestamp timestamp,
	state_validation_complete_timestamp timestamp, state_validation_start_timestamp timestamp, status text,
	success_message text, table_name text
repair_participates (id timeuuid) Repair participate summary
	completed boolean, duration_millis bigint, failure_cause text, global boolean, incremental boolean, initiator text,
	last_updated_at timestamp, preview_kind text, ranges frozen<list<text>>, repaired_at timestamp,
	state_failure_timestamp timestamp, state_init_timestamp timestamp, state_skipped_timestamp timestamp,
	state_success_timestamp timestamp, success_message text, tables frozen<set<text>>, validations frozen<set<uuid>>
repair_sessions (id timeuuid) Repair session
	completed boolean, duration_millis bigint, failure_cause text, jobs frozen<set<uuid>>, keyspace_name text,
	last_updated_at timestamp, participants frozen<list<text>>, ranges frozen<list<text>>, repair_id timeuuid,
	state_failure_timestamp timestamp, state_init_timestamp timestamp, state_jobs_start_timestamp timestamp,
	state_skipped_timestamp timestamp, state_start_timestamp timestamp, state_success_timestamp timestamp, status text,
	success_message text, table_names frozen<list<text>>
repair_validations (id uuid) Repair validation
	bytes_read bigint, completed boolean, duration_millis bigint, estimated_partitions bigint, estimated_total_bytes
	bigint, failure_cause text, initiator text, keyspace_name text, last_updated_at timestamp, partitions_processed
	bigint, progress_percentage float, ranges frozen<list<text>>, repair_id timeuuid, session_id timeuuid,
	state_accept_timestamp timestamp, state_failure_timestamp timestamp, state_init_timestamp timestamp,
	state_sending_trees_timestamp timestamp, state_skipped_timestamp timestamp, state_start_timestamp timestamp,
	state_success_timestamp timestamp, status text, success_message text, table_name text
repairs (id timeuuid) Repair summary
	command_id int, completed boolean, duration_millis bigint, failure_cause text, keyspace_name text, last_updated_at
	timestamp, options_column_families frozen<set<text>>, options_data_centers frozen<set<text>>, options_force_repair
	boolean, options_hosts frozen<set<text>>, options_ignore_unreplicated_keyspaces boolean, options_incremental
	boolean, options_job_threads int, options_optimise_streams boolean, options_parallelism text, options_preview_kind
	text, options_primary_range boolean, options_pull_repair boolean, options_ranges frozen<set<text>>,
	options_subrange_repair boolean, options_trace boolean, participants frozen<list<text>>, ranges
	frozen<list<frozen<list<text>>>>, sessions frozen<set<timeuuid>>, state_failure_timestamp timestamp,
	state_init_timestamp timestamp, state_prepare_complete_timestamp timestamp, state_prepare_start_timestamp timestamp,
	state_repair_complete_timestamp timestamp, state_repair_start_timestamp timestamp, state_setup_timestamp timestamp,
	state_skipped_timestamp timestamp, state_start_timestamp timestamp, state_success_timestamp timestamp, status text,
	success_message text, table_names frozen<list<text>>, type text, unfiltered_ranges frozen<list<frozen<list<text>>>>
streaming (id timeuuid)
	bytes_received bigint, bytes_sent bigint, bytes_to_receive bigint, bytes_to_send bigint, duration_millis bigint,
	failure_cause text, files_received bigint, files_sent bigint, files_to_receive bigint, files_to_send bigint,
	follower boolean, last_updated_at timestamp, operation text, peers frozen<list<text>>, progress_percentage float,
	status text, status_failure_timestamp timestamp, status_init_timestamp timestamp, status_start_timestamp timestamp,
	status_success_timestamp timestamp, success_message text
`

// controlTables are the tables of keyspace cqld_control, which control a server for tests. Package server/control
// makes their rows and executes writes to them. Each has one column as its key, and no clustering columns.
const controlTables = `
clock (key text) the clock that all of CQL goes by: write advance, now or frozen; delete the row to reset it
	advance duration, ahead duration, frozen boolean, now timestamp
faults (name text) rules: which requests, and what becomes of them; matched and acted count
	act text, acted bigint, after_applying boolean, alive int, application text, block_for int, call int, client text,
	conditional boolean, consistency frozen<set<text>>, data_present boolean, delay duration, keyspace_name text, kind
	text, level text, matched bigint, message text, node int, opcode text, position int, probability double, reasons
	frozen<map<inet, int>>, received int, required int, seed bigint, table_name text, text_contains text, text_matches
	text, times int, write_type text
nodes (number int) the nodes of a ring: write up, partitioned or slow; delete a row to remove the node
	address inet, datacenter text, host_id uuid, partitioned boolean, port int, rack text, slow duration, tokens
	frozen<list<bigint>>, up boolean
snapshots (name text) what the server held: insert a name to take one, set restore = true to go back to it
	restore boolean, restored bigint, taken timestamp
statements (number bigint) what clients have run, the last ones; truncate to forget them
	batch_type text, client text, consistency text, error text, full_scan boolean, keyspace_name text, kind text, node
	int, nulls_inserted int, opcode text, partitions frozen<list<text>>, prepared boolean, returned int, rows_read int,
	statement text, table_name text, tombstones_read int, took duration
`
