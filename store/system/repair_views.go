package system

// repairViewTables are the tables of keyspace system_views about repairs and streams between nodes.
var repairViewTables = []declaration{
	{
		name: "repair_jobs", comment: "Repair job",
		key: "id uuid",
		columns: `
			completed boolean, duration_millis bigint, failure_cause text, keyspace_name text,
			last_updated_at timestamp, participants frozen<list<text>>, ranges frozen<list<text>>,
			repair_id timeuuid, session_id timeuuid, state_failure_timestamp timestamp,
			state_init_timestamp timestamp, state_skipped_timestamp timestamp,
			state_snapshot_complete_timestamp timestamp, state_snapshot_start_timestamp timestamp,
			state_start_timestamp timestamp, state_stream_start_timestamp timestamp,
			state_success_timestamp timestamp, state_validation_complete_timestamp timestamp,
			state_validation_start_timestamp timestamp, status text, success_message text, table_name text`,
	},
	{
		name: "repair_participates", comment: "Repair participate summary",
		key: "id timeuuid",
		columns: `
			completed boolean, duration_millis bigint, failure_cause text, global boolean, incremental boolean,
			initiator text, last_updated_at timestamp, preview_kind text, ranges frozen<list<text>>,
			repaired_at timestamp, state_failure_timestamp timestamp, state_init_timestamp timestamp,
			state_skipped_timestamp timestamp, state_success_timestamp timestamp, success_message text,
			tables frozen<set<text>>, validations frozen<set<uuid>>`,
	},
	{
		name: "repair_sessions", comment: "Repair session",
		key: "id timeuuid",
		columns: `
			completed boolean, duration_millis bigint, failure_cause text, jobs frozen<set<uuid>>,
			keyspace_name text, last_updated_at timestamp, participants frozen<list<text>>,
			ranges frozen<list<text>>, repair_id timeuuid, state_failure_timestamp timestamp,
			state_init_timestamp timestamp, state_jobs_start_timestamp timestamp, state_skipped_timestamp timestamp,
			state_start_timestamp timestamp, state_success_timestamp timestamp, status text, success_message text,
			table_names frozen<list<text>>`,
	},
	{
		name: "repair_validations", comment: "Repair validation",
		key: "id uuid",
		columns: `
			bytes_read bigint, completed boolean, duration_millis bigint, estimated_partitions bigint,
			estimated_total_bytes bigint, failure_cause text, initiator text, keyspace_name text,
			last_updated_at timestamp, partitions_processed bigint, progress_percentage float,
			ranges frozen<list<text>>, repair_id timeuuid, session_id timeuuid, state_accept_timestamp timestamp,
			state_failure_timestamp timestamp, state_init_timestamp timestamp,
			state_sending_trees_timestamp timestamp, state_skipped_timestamp timestamp,
			state_start_timestamp timestamp, state_success_timestamp timestamp, status text, success_message text,
			table_name text`,
	},
	{
		name: "repairs", comment: "Repair summary",
		key: "id timeuuid",
		columns: `
			command_id int, completed boolean, duration_millis bigint, failure_cause text, keyspace_name text,
			last_updated_at timestamp, options_column_families frozen<set<text>>,
			options_data_centers frozen<set<text>>, options_force_repair boolean, options_hosts frozen<set<text>>,
			options_ignore_unreplicated_keyspaces boolean, options_incremental boolean, options_job_threads int,
			options_optimise_streams boolean, options_parallelism text, options_preview_kind text,
			options_primary_range boolean, options_pull_repair boolean, options_ranges frozen<set<text>>,
			options_subrange_repair boolean, options_trace boolean, participants frozen<list<text>>,
			ranges frozen<list<frozen<list<text>>>>, sessions frozen<set<timeuuid>>,
			state_failure_timestamp timestamp, state_init_timestamp timestamp,
			state_prepare_complete_timestamp timestamp, state_prepare_start_timestamp timestamp,
			state_repair_complete_timestamp timestamp, state_repair_start_timestamp timestamp,
			state_setup_timestamp timestamp, state_skipped_timestamp timestamp, state_start_timestamp timestamp,
			state_success_timestamp timestamp, status text, success_message text, table_names frozen<list<text>>,
			type text, unfiltered_ranges frozen<list<frozen<list<text>>>>`,
	},
	{
		name: "streaming",
		key:  "id timeuuid",
		columns: `
			bytes_received bigint, bytes_sent bigint, bytes_to_receive bigint, bytes_to_send bigint,
			duration_millis bigint, failure_cause text, files_received bigint, files_sent bigint,
			files_to_receive bigint, files_to_send bigint, follower boolean, last_updated_at timestamp,
			operation text, peers frozen<list<text>>, progress_percentage float, status text,
			status_failure_timestamp timestamp, status_init_timestamp timestamp, status_start_timestamp timestamp,
			status_success_timestamp timestamp, success_message text`,
	},
}
