// Package store keeps tables' partitions, rows and cells with their timestamps, TTLs and tombstones on an ordered
// key-value engine. It knows definitions (cql/schema) but no statements.
//
// A write is a set of Mutations, applied atomically by Store.Apply, or by Store.Decide on a condition. A read is a
// Read, run by Store.Read on one snapshot as of a second, Read.Now. Definitions are a schema.Catalog, replaced by
// Store.Define. Tables made by code are added by AddVirtual and read through the same code as stored ones.
//
// # Rooms
//
// A Store (store.go) opens the rooms, and has the definitions that need more than one of them. The rooms share a core
// (core.go): the engine, the state in use (state.go) and all that is known of the stored rows. A file uses the files
// listed after it. Read them in this order:
//
//   - Background work: the builder of indexes and views (index_build.go, index_clean.go), the graphBuilder of indexes
//     of vectors (index_graphs.go), the sweeper (sweep*.go) and the dropper (dropped_tables.go).
//   - Verification (verify.go), images and snapshots (image.go), tables made by code (virtual.go).
//   - Writing: the writer (writer.go). apply.go and decide.go commit Mutations; shared_writes.go completes commits to a
//     shared engine. counters.go is for writes that depend on stored rows.
//   - Definitions: the definer (catalog.go). Where nodes share the engine it follows the definitions of other nodes
//     (shared.go, shared_define.go), and a recovery reverts unfinished ones. records.go has the records.
//   - Views: view_build.go makes their rows outside writes, view_writes.go as part of a write to the base.
//   - Reading: scan.go begins a read, reader.go finds rows, dead_runs.go passes dead ones. index_read.go chooses an
//     index, index_gather.go and index_candidates.go read through it. row_assembly.go makes a Row of a stored value,
//     and tombstone_counts.go counts.
//   - Mutation (mutation.go) and Read (read.go) are what callers build.
//
// Packages below know neither Store nor each other's work: index has the entries and graphs of indexes, tombstones the
// filters of tombstones and the empty ranges, usage the estimates of tables, snapshot the files of snapshots, rows the
// format and the folding of stored rows.
//
// # Stored records
//
// Keys and values are those of package rows. The store's own records are keys of table 0, area 1: "meta" (format
// version, host id, next table number), "bound" (of timestamps), "definition/" and the name of each keyspace and table
// (schema.Records), "dead/" and the number of each dropped or truncated table whose rows are still to be removed,
// "index/" and the number of an index with its definition; of a shared engine also "suspended/" and "tombstones/".
//
// # Reading and purging
//
// The engine folds mutations into stored rows when it likes (see rows.Fold). Expiry, and the tombstones of ranges and
// partitions, are applied when a row is read. A damaged value is neither read nor folded: the read or the write fails,
// and a sweep leaves it as it is.
//
// A sweep goes over the rows in the background. It removes values that tombstones of ranges and partitions hide, cells
// of dropped columns, the values of expired cells, and gc_grace_seconds after they were written the tombstones and
// expired cells themselves (see rows.Purger).
package store
