// Package schema has the definitions of keyspaces, tables with their indexes, views, user types, users' functions
// and options as immutable values.
//
// A Catalog is one snapshot of everything that is defined. The With and Without methods return another
// snapshot; whoever planned a statement on the old one finishes on the old one. The store persists
// snapshots as Records, the planner reads them, and store/system shows them as system_schema.
//
// Start with Catalog, then Keyspace, Table and Column. Options as clients write them are Properties:
// ParseKeyspaceOptions and ParseTableOptions read them, in Cassandra's words when they are wrong. Keyspace
// and Table print themselves as DESCRIBE shows them.
package schema
