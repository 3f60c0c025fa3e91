// Package exec runs plans: bound values become reads and mutations of the store, and what comes back
// becomes a result.
//
// Executor.Execute switches over the kinds of plans (exec.go). A read (select.go) makes partition keys
// (keys.go), clustering slices (slices.go) and conditions on rows (filter.go, and filter_index.go where an index
// would compare) of the values, and hands the store a callback that encodes each row straight into the result.
// Where a page ends is in page.go, and how a client says to go on in paging_state.go; aggregates, merged
// partitions and orders by vectors have callbacks of their own. A write (modify.go) makes mutations and hands
// them over.
//
// The rules of the language are the planner's. What is refused here depends on bound values, on the
// consistency level, or on what the schema is when a definition runs.
package exec
