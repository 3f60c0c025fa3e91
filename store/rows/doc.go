// Package rows is the storage format of rows and tombstones: keys, values, and the rules that merge, read and purge
// them. All of it is functions of bytes and definitions. The package knows no engine and reads no clock.
//
// A key is made by AppendPartition and AppendClustering. A value is written by a Writer and read by a Reader. Fold
// merges two values of one key. PartitionTombstones finds the tombstone that hides a row, and a Purger removes hidden
// and expired cells.
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
//	... | 02 | clustering columns       a row; columns as types.Type.AppendKey writes them, up to the first null
//
// Area 0 has the tombstones of partitions and ranges. A range is [start, end) of the bytes after the partition key in
// area 1; zero bytes in start are escaped as above.
//
//	...                                 of the whole partition
//	... | start | 00 00 | end           of a range of rows
//
// Table 0 has the store's own records, under keys of area 1.
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
//	        16 it is one element of a collection that is not frozen, or one field of such a user type; path names it
//	        32 it is a counter's: value is | changes : 8 | total : 8 |
//
//	expiry  | ttl : uvarint | second it ends, since 1970 : uvarint |
//
// column is schema.Column.ID. Cells are sorted by column, then path. A reader skips cells of unknown columns, and
// cells that were written before their column was dropped (see schema.Table.Lost). base is the marker's timestamp,
// else the row tombstone's, else the first cell's.
//
// The paths of a column sort as its elements are ordered:
//
//	set, map     the element or the key, as types.Type.AppendKey writes it; where that does not give it back
//	             (Type.LossyKey), the value begins with its length and its bytes
//	list         | time, or minus it for elements put in front, its sign bit flipped : 8 | any number : 8 |
//	user type    | the field's position : 2 |
//
// A tombstone without a path deletes all elements of its column: a cell with a path and no later timestamp is left out
// wherever the two meet.
//
// # Merging
//
// A mutation has the format of stored rows. Fold keeps the winner of each cell (see Cell.Beats) and omits cells that
// the tombstone of the row hides, except counters. Equal rows have equal bytes, whatever the order of their mutations.
package rows
