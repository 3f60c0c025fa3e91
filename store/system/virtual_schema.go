package system

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
