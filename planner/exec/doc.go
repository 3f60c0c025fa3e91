// Package exec runs plans: bound values become reads and mutations of the store, and what comes back becomes a result.
//
// Executor.Execute (exec.go) switches over the kinds of plans. A read (select.go) evaluates the WHERE clause into
// partition keys and ranges of clustering keys (partitions.go, package restriction) and conditions on rows (package
// filter). It gives the store a callback (rows.go) that encodes each row straight into the result (answer.go). page.go
// counts the rows against the limits and says where a page ends; package paging encodes that for the client.
// Aggregates, merged partitions and orders by vectors gather the rows first (aggregation.go, merging.go, nearest.go).
//
// A write (modify.go) makes mutations and hands them to the store: cells.go has the cells of a row, collections.go and
// lists.go those of collections that are not frozen, using.go their timestamp and TTL. A batch (batch.go) is one write
// of several statements.
//
// The rules of the language are the planner's. What is refused here depends on bound values, on the consistency level,
// or on what the schema is when a definition runs.
package exec
