// Package tombstones tracks the tombstones and the removed keys of a store, so that reads look for few tombstones and
// step over few removed keys.
//
// A Tracker has a Bloom filter for each table, of the partitions that may have tombstones (filters.go); the tombstones
// of partitions with many ranges, cut so that none overlap (tracker.go); and ranges of keys in which the engine has
// none (empty_ranges.go). A Reader reads the tombstones of one partition after another with their help (reader.go).
//
// Writes and reads agree through the Tracker's clock:
//
//  1. A write calls BeginWrite before its commit and End after it. BeginWrite adds its tombstones to the filters and
//     takes its keys out of the empty ranges.
//  2. A read asks the Clock before it chooses its snapshot, and for everything else afterwards.
//  3. Knowledge is valid since a time of the clock, for reads that asked the clock then or later: their snapshot has
//     all of it, and no write that would invalidate it had begun when the read used it.
//
// A store that shares its engine knows only which tables have no tombstones, because other nodes write too.
package tombstones
