// Package model reads the parts of a server that clients can see: its tables, the statements that define them, the
// plan of a query by the schema alone, and the statements that a cqld has recorded. It works with servers that have
// Cassandra's tables of system_schema.
package model
