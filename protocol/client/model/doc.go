// Package model has what a client can learn of a server: its tables and views, the statements that define them, the
// plan of a query by the schema alone, and the statements that a cqld has recorded. It works with servers that have
// Cassandra's tables of system_schema.
package model
