// Package store keeps tables' partitions, rows and cells with their timestamps, TTLs and tombstones on an ordered
// key-value engine. It knows definitions (cql/schema) but no statements.
//
// A write is a set of Mutations, applied atomically by Store.Apply, or by Store.Decide on a condition. A read is a
// Read, run by Store.Read on one snapshot as of a second, Read.Now. Definitions are a schema.Catalog, replaced by
// Store.Define. Tables made by code are added by AddVirtual and read through the same code as stored ones.
//
// # Rooms
//
// A Store consists of rooms around a core (store.go): the engine, the state in use and all that is known of the stored
// rows. Read them in this order:
//
//   - Writing: mutation.go builds a Mutation, apply.go and decide.go commit it. counters.go and view_writes.go are for
//     writes that depend on stored rows.
//   - Reading: read.go, reader.go and scan.go find rows, row_assembly.go makes a Row of a stored value, and
//     tombstones_read.go counts. index_read.go chooses an index, index_candidates.go, index_gather.go and
//     index_intersections.go read through it.
//   - Definitions: the definer (catalog.go, records.go). Where nodes share the engine it follows those of other nodes
//     (shared*.go).
//   - Background work: the builder of indexes and views (index_build.go, index_clean.go, view.go), the graphBuilder of
//     indexes of vectors (index_graphs.go), the sweeper (sweep*.go, dead_runs.go) and the dropper (dropped_tables.go).
//   - Verification (verify*.go), images and snapshots (image.go).
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
