// Package system has the keyspaces that come with the server: their definitions, and the rows of tables that exist
// only as code.
//
// Each keyspace has a file with its declarations, which say what Cassandra 5.0.8's own tables look like: system.go,
// schema.go, auth.go, distributed.go, traces.go, virtual_schema.go, views.go and repair_views.go. Definitions makes
// schema.Keyspaces of them for the catalog. Register gives the store the functions that make rows: system.local
// (local.go), system_schema.* and system_virtual_schema.* from the catalog (schema_rows.go, schema_functions.go),
// system_views.* (view_rows.go). Tables of system_auth, system_distributed and system_traces, and the rest of
// system, are stored like any other.
package system
