// Package store keeps tables' partitions, rows and cells with their timestamps, TTLs and tombstones on an
// ordered key-value engine. It knows definitions (cql/schema) but no statements.
//
// A write is a set of Mutations, applied atomically by Store.Apply. A read is a Read, run by Store.Read
// on one snapshot, which reconciles what was written as of a second, Read.Now. Definitions are a
// schema.Catalog, replaced by Store.Define. Tables made by code are added by AddVirtual and read through
// the same code as stored ones.
//
// # Keys
//
// All numbers in keys are big-endian.
//
//	| 2 × table + area : 4 | token : 8 | partition key | 00 00 | ...
//
// table is schema.Table.StoreID. The token has its sign bit flipped. A zero byte in the partition key is
// followed by FF, so that keys of one token compare as the partition keys' bytes do. Area 1 has the rows:
//
//	... | 01 |                          the static row
//	... | 02 | clustering columns       a row; each column as types.Type.AppendKey writes it, up to the first that is null
//
// Area 0 has the tombstones of partitions and ranges. A range is [start, end) of what follows the
// partition key in area 1; zero bytes in start are escaped as above.
//
//	...                                 of the whole partition
//	... | start | 00 00 | end           of a range of rows
//
// Filters in memory tell which partitions may have any, so that others are read without looking (see deletions.go); a scan
// goes through them beside the rows (see deletion_cursor.go). The store's own
// records are keys of table 0, area 1: "meta" (format version, host id, next table number), "definition/" and the name
// of each keyspace and table (schema.Records), "dead/" and the number of each table whose rows are still to be removed.
//
// # Values
//
// A tombstone's value is its timestamp as a varint (signed, zigzag) and the second it was written as a uvarint, if
// that is known. A row is one key and value:
//
//	| flags : 1 | base : varint | [expiry] | [deletion : varint] | [second : uvarint] | [length, clustering] | cells ...
//
//	flags   1  the row has a marker, whose timestamp is base
//	        2  the marker has an expiry
//	        4  the row was deleted at base + deletion
//	        8  the values of clustering columns whose keys do not give them back (Type.LossyKey) are kept:
//	           a length and the bytes of each
//	        16 the second when the row was deleted is known
//
//	cell    | column : uvarint | flags : 1 | [time : varint] | [expiry] | [length, path] | [length, value] |
//
//	flags   1  a tombstone: there is no value; its expiry has a TTL of 0 and the second it was written
//	        2  the cell has an expiry
//	        4  its timestamp is base + time; else it is base
//	        8  its expiry is the one before it in the row, and is not written again
//	        16 it is one part of a column that is not frozen, which path names
//	        32 it is a counter's: value is | changes : 8 | total : 8 |
//
//	expiry  | ttl : uvarint | second it ends, since 1970 : uvarint |
//
// column is schema.Column.ID. Cells are sorted by column, then path; those of unknown columns are skipped, and so are those
// that schema.Table.Lost tells of: they are of a column that was dropped after they were written.
// base is the marker's timestamp, else the row tombstone's, else the first cell's.
//
// The path of a part sorts as the parts of the column are ordered:
//
//	set, map     the element or the key, as types.Type.AppendKey writes it; where that does not give it back
//	             (Type.LossyKey), its length and its bytes stand in front of the value
//	list         | time, or minus it for elements put in front, its sign bit flipped : 8 | any number : 8 |
//	user type    | the field's position : 2 |
//
// A tombstone without a path deletes all parts of its column: a cell with a path and no later timestamp is left
// out wherever the two meet.
//
// # Reconciliation
//
// What a mutation writes has the format of what is stored, and the engine folds one into the other when
// it likes: fold takes of each part the one that beats the other (see cell.beats) and leaves out what the
// row tombstone hides, but for counters. Equal rows have equal bytes in whatever order they were written. Tombstones of
// ranges and partitions, and expiry, come in when a row is read. A value that is damaged is neither read nor folded: the
// read or the write fails, and a sweep leaves it as it is.
//
// A sweep goes over the rows in the background (see sweep.go). It takes out what tombstones of ranges and partitions
// hide, what is left of dropped columns, the values of what has expired, and gc_grace_seconds after they were written the tombstones and what has expired.
// Format 1 does not know when that was, and its tombstones stay.
//
// A commit is atomic, whichever partitions and tables its mutations are of.
package store
