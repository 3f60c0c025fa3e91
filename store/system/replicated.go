package system

import (
	"github.com/cqld/cqld/cql/schema"
)

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

// authTables are the tables of keyspace system_auth, which are stored.
var authTables = []declaration{
	{
		name: "cidr_groups", comment: "cidr groups to cidrs mapping",
		key:     "cidr_group text",
		columns: "cidrs frozen<set<frozen<tuple<inet, smallint>>>>",
	},
	{
		name: "cidr_permissions", comment: "user cidr permissions",
		key:     "role text",
		columns: "cidr_groups frozen<set<text>>",
	},
	{
		name: "identity_to_role", comment: "mtls authorized identities lookup table",
		key:     "identity text",
		columns: "role text",
	},
	{
		name: "network_permissions", comment: "user network permissions",
		key:     "role text",
		columns: "dcs frozen<set<text>>",
	},
	{
		name: "resource_role_permissons_index", comment: "index of db roles with permissions granted on a resource",
		key: "resource text", clustering: "role text",
	},
	{
		name: "role_members", comment: "role memberships lookup table",
		key: "role text", clustering: "member text",
	},
	{
		name: "role_permissions", comment: "permissions granted to db roles",
		key: "role text", clustering: "resource text",
		columns: "permissions set<text>",
	},
	{
		name: "roles", comment: "role definitions",
		key:     "role text",
		columns: "can_login boolean, is_superuser boolean, member_of set<text>, salted_hash text",
	},
}

// traceTables are the tables of keyspace system_traces, which are stored: the events of requests with the tracing
// flag.
var traceTables = []declaration{
	{
		name: "events", comment: "tracing events",
		key: "session_id uuid", clustering: "event_id timeuuid",
		columns: "activity text, source inet, source_elapsed int, source_port int, thread text",
	},
	{
		name: "sessions", comment: "tracing sessions",
		key: "session_id uuid",
		columns: `
			client inet, command text, coordinator inet, coordinator_port int, duration int,
			parameters map<text, text>, request text, started_at timestamp`,
	},
}
