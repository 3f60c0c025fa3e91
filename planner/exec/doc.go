// Package exec runs plans: bound values become reads and mutations of the store, and the store's rows become a result.
//
// Executor.Execute (exec.go) switches over the kinds of plans. request.go has its requests and results. quick.go
// decides which plans never block.
//
// A read (read.go) is a source, filters and a collector. The source is the WHERE clause with its values (read_where.go,
// packages restriction and filter). The store calls back for each row (rows.go), and the collector makes the result:
// rows one by one with limits and pages (page.go), aggregates and groups (aggregation.go), or sorted rows (order.go).
// answer.go encodes the selected columns of a row. Package paging encodes the end of a page for the client.
//
// A write (write.go; writing.go has its state) makes mutations of its statements (mutate.go) and gives them to the
// store: cells.go has the cells of a row, collections.go and lists.go the cells of unfrozen collections. A batch
// (batch.go, batch_size.go) is one write of several statements. A conditional write (conditional.go) reads its rows
// (stored_rows.go) in one decision of the store, and package condition compares them.
//
// Both ask package replicas whether their consistency level can be reached (consistency.go), and the guardrails
// (guards.go). The rules of the language are the planner's. An error here depends on bound values, on the consistency
// level, or on the schema at the moment a definition runs (define.go).
package exec
