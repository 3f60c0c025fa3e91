// Package model reads a server's tables and views, the statements that define them, and the statements that a cqld has
// recorded. It plans queries by the schema alone. It works with servers that have Cassandra's tables of system_schema.
package model
