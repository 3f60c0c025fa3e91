package system

// schemaTables are the tables of keyspace system_schema: the definitions of all keyspaces but the virtual
// ones, from which drivers learn them.
var schemaTables = []declaration{
	{
		name: "aggregates", comment: "user defined aggregate definitions",
		key: "keyspace_name text", clustering: "aggregate_name text, argument_types frozen<list<text>>",
		columns: "final_func text, initcond text, return_type text, state_func text, state_type text",
	},
	{
		name: "column_masks", comment: "column dynamic data masks",
		key: "keyspace_name text", clustering: "table_name text, column_name text",
		columns: `
			function_argument_nulls frozen<list<boolean>>, function_argument_types frozen<list<text>>,
			function_argument_values frozen<list<text>>, function_keyspace text, function_name text`,
	},
	{
		name: "columns", comment: "column definitions",
		key: "keyspace_name text", clustering: "table_name text, column_name text",
		columns: "clustering_order text, column_name_bytes blob, kind text, position int, type text",
	},
	{
		name: "dropped_columns", comment: "dropped column registry",
		key: "keyspace_name text", clustering: "table_name text, column_name text",
		columns: "dropped_time timestamp, kind text, type text",
	},
	{
		name: "functions", comment: "user defined function definitions",
		key: "keyspace_name text", clustering: "function_name text, argument_types frozen<list<text>>",
		columns: `
			argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text,
			return_type text`,
	},
	{
		name: "indexes", comment: "secondary index definitions",
		key: "keyspace_name text", clustering: "table_name text, index_name text",
		columns: "kind text, options frozen<map<text, text>>",
	},
	{
		name: "keyspaces", comment: "keyspace definitions",
		key:     "keyspace_name text",
		columns: "durable_writes boolean, replication frozen<map<text, text>>",
	},
	{
		name: "tables", comment: "table definitions", settable: "extensions",
		key: "keyspace_name text", clustering: "table_name text",
		columns: `
			additional_write_policy text, allow_auto_snapshot boolean, bloom_filter_fp_chance double,
			caching frozen<map<text, text>>, cdc boolean, comment text, compaction frozen<map<text, text>>,
			compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double,
			default_time_to_live int, extensions frozen<map<text, blob>>, flags frozen<set<text>>,
			gc_grace_seconds int, id uuid, incremental_backups boolean, max_index_interval int, memtable text,
			memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double,
			speculative_retry text`,
	},
	{
		name: "triggers", comment: "trigger definitions",
		key: "keyspace_name text", clustering: "table_name text, trigger_name text",
		columns: "options frozen<map<text, text>>",
	},
	{
		name: "types", comment: "user defined type definitions",
		key: "keyspace_name text", clustering: "type_name text",
		columns: "field_names frozen<list<text>>, field_types frozen<list<text>>",
	},
	{
		name: "views", comment: "view definitions", settable: "extensions",
		key: "keyspace_name text", clustering: "view_name text",
		columns: `
			additional_write_policy text, allow_auto_snapshot boolean, base_table_id uuid, base_table_name text,
			bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text,
			compaction frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double,
			dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text, blob>>,
			gc_grace_seconds int, id uuid, include_all_columns boolean, incremental_backups boolean,
			max_index_interval int, memtable text, memtable_flush_period_in_ms int, min_index_interval int,
			read_repair text, read_repair_chance double, speculative_retry text, where_clause text`,
	},
}

// virtualSchemaTables are the tables of keyspace system_virtual_schema: the definitions of the virtual
// keyspaces, this one too.
var virtualSchemaTables = []declaration{
	{
		name: "columns", comment: "virtual column definitions",
		key: "keyspace_name text", clustering: "table_name text, column_name text",
		columns: "clustering_order text, column_name_bytes blob, kind text, position int, type text",
	},
	{
		name: "keyspaces", comment: "virtual keyspace definitions",
		key: "keyspace_name text",
	},
	{
		name: "tables", comment: "virtual table definitions",
		key: "keyspace_name text", clustering: "table_name text",
		columns: "comment text",
	},
}
