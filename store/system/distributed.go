package system

import "github.com/cqld/cqld/cql/schema"

// distributedTables are the tables of keyspace system_distributed, which are stored.
var distributedTables = []declaration{
	{
		name: "parent_repair_history", comment: "Repair history", options: repairHistory,
		key: "parent_id timeuuid",
		columns: `
			columnfamily_names set<text>, exception_message text, exception_stacktrace text, finished_at timestamp,
			keyspace_name text, options map<text, text>, requested_ranges set<text>, started_at timestamp,
			successful_ranges set<text>`,
	},
	{
		name: "partition_denylist", comment: "Partition keys which have been denied access",
		key: "ks_name text, table_name text", clustering: "key blob",
	},
	{
		name: "repair_history", comment: "Repair history", options: repairHistory,
		key: "keyspace_name text, columnfamily_name text", clustering: "id timeuuid",
		columns: `
			coordinator inet, coordinator_port int, exception_message text, exception_stacktrace text,
			finished_at timestamp, parent_id timeuuid, participants set<inet>, participants_v2 set<text>,
			range_begin text, range_end text, started_at timestamp, status text`,
	},
	{
		name: "view_build_status", comment: "Materialized View build status",
		key: "keyspace_name text, view_name text", clustering: "host_id uuid",
		columns: "status text",
	},
}

// repairHistory are the options of both histories: a month of days.
func repairHistory(o *schema.TableOptions) {
	o.Compaction = map[string]string{
		"class":                  timeWindow,
		"compaction_window_size": "1", "compaction_window_unit": "DAYS",
		"min_threshold": "4", "max_threshold": "32",
	}
	o.DefaultTimeToLive = 2592000
}
