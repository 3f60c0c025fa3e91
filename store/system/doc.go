// Package system has the keyspaces that come with the server: their definitions, and the rows of tables that exist
// only as code.
//
// The tables of each keyspace are declared in tables.go, as Cassandra 5.0.8 defines them. Definitions makes
// schema.Keyspaces of them for the catalog (declare.go). Register gives the store the functions that make rows
// (register.go): system.local and the peers (nodes.go), system_schema.* and system_virtual_schema.* from the catalog
// (schema_rows.go), system_views.* (node_views.go, view_rows.go, estimates.go). The tables of replicated keyspaces,
// and the rest of system, are stored like any other.
package system
