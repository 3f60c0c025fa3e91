// Package tables reads Badger's memtables and tables: single keys, and ranges in both directions.
//
// Badger's own get follows, for each step of each search, a pointer of a table's index to another line of memory, and
// makes an iterator for each table. That was two thirds of what reading a row of a large folder cost. Here the heads of
// the first keys of a table's blocks lie side by side, and a block is searched where the system has mapped it. Keys of
// partitions are spread evenly, so a search begins where the key may be, and all the lines of a block that it is about
// to read are fetched at the same time. A cursor costs half of what Badger's iterators do: it compares the key of a
// table with those of others only where it may be behind them.
//
// Everything else is Badger's: which tables there are, their files, and when these are removed. What Badger keeps to
// itself of that is read from its fields (see internals). Whatever is not as expected, and values in the value log, are
// left to Badger.
package tables
