// Package store keeps tables' partitions, rows and cells with their timestamps, TTLs and tombstones on an
// ordered key-value engine. It knows definitions (cql/schema) but no statements.
//
// A write is a set of Mutations, applied atomically by Store.Apply. A read is a Read, run by Store.Read
// on one snapshot, which reconciles what was written as of a second, Read.Now. Definitions are a
// schema.Catalog, replaced by Store.Define. Tables made by code are added by AddVirtual and read through
// the same code as stored ones.
//
// # Stored records
//
// Keys and values are those of package rows. The store's own records are keys of table 0, area 1: "meta" (format
// version, host id, next table number), "definition/" and the name of each keyspace and table (schema.Records),
// "dead/" and the number of each dropped or truncated table whose rows are still to be removed, "sweep/" and the
// number of a table with the key that its sweep has reached, "index/" and the number of an index with its definition.
// An index has a number like a table, and its entries are keys of area 1 (see index_entries.go).
//
// # Reading and purging
//
// The engine folds what mutations write into stored rows when it likes (see rows.Fold). Expiry, and the tombstones of
// ranges and partitions, come in when a row is read. Filters in memory tell which partitions may have such tombstones
// (see tombstone_filters.go); a scan goes through the tombstones beside the rows (see tombstone_cursor.go). A damaged
// value is neither read nor folded: the read or the write fails, and a sweep leaves it as it is.
//
// A sweep goes over the rows in the background (see sweep.go). It removes what tombstones of ranges and partitions
// hide, cells of dropped columns, the values of expired cells, and gc_grace_seconds after they were written the
// tombstones and expired cells themselves (see rows.Purger). Format 1 does not have that time: its tombstones stay.
//
// A commit is atomic, whichever partitions and tables its mutations are of.
package store
