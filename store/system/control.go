package system

import "github.com/cqld/cqld/cql/schema"

// controlTables are the tables of keyspace cqld_control, which control a server for tests. Package server/control
// makes their rows and executes writes to them. Each has one column as its key, and no clustering columns.
var controlTables = []declaration{
	{
		name: "clock", comment: "the clock that all of CQL goes by: write advance, now or frozen; delete the row to reset it",
		key:     "key text",
		columns: "advance duration, ahead duration, frozen boolean, now timestamp",
	},
	{
		name: "faults", comment: "rules: which requests, and what becomes of them; matched and acted count",
		key: "name text",
		columns: `
			act text, acted bigint, after_applying boolean, alive int, application text, block_for int, call int,
			client text, conditional boolean, consistency frozen<set<text>>, data_present boolean, delay duration,
			keyspace_name text, kind text, level text, matched bigint, message text, node int, opcode text, position int,
			probability double, reasons frozen<map<inet, int>>, received int, required int, seed bigint,
			table_name text, text_contains text, text_matches text, times int, write_type text`,
	},
	{
		name: "nodes", comment: "the nodes of a ring: write up, partitioned or slow; delete a row to remove the node",
		key: "number int",
		columns: `
			address inet, datacenter text, host_id uuid, partitioned boolean, port int, rack text, slow duration,
			tokens frozen<list<bigint>>, up boolean`,
	},
	{
		name: "snapshots", comment: "what the server held: insert a name to take one, set restore = true to go back to it",
		key:     "name text",
		columns: "restore boolean, restored bigint, taken timestamp",
	},
	{
		name: "statements", comment: "what clients have run, the last ones; truncate to forget them",
		key: "number bigint",
		columns: `
			client text, consistency text, error text, full_scan boolean, keyspace_name text, kind text, node int,
			opcode text, partitions frozen<list<text>>, prepared boolean, returned int, rows_read int, statement text,
			table_name text, tombstones_read int, took duration`,
	},
}

// controlKeyspace is the keyspace of controlTables.
var controlKeyspace = keyspaceDeclaration{
	name: schema.ControlKeyspace, tables: controlTables, firstStoreID: 800, writable: true,
}.build()

// Controls is the keyspace of tables that control a server for tests. It is not among Definitions.
func Controls() *schema.Keyspace { return controlKeyspace }
