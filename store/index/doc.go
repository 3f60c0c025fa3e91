// Package index has the definitions, entries and graphs of indexes. It reads and writes nothing by itself: package
// store commits the entries that a Writer makes, and scans the Spans that a Lookup asks for.
//
// An Index is kept as keys beside the rows. An entry consists of the number of the index, the indexed value and the
// key of the row, so the entries of one value are in the order of the rows (entries.go). Indexes of text have entries
// of terms instead of values (terms.go); indexes of vectors have entries only of rows that no graph contains
// (vectors.go), and their graphs are stored in parts (graphs.go).
//
// These invariants hold for an index without the entries of rows that are older than it (Index.Built says whether it
// has these too):
//
//  1. Each value of a row has an entry, written in the commit that writes the value.
//  2. An entry may be stale: its row does not have the value any more. Reads compare the rows, so stale entries make
//     them slower, never wrong.
//  3. An entry is removed only in an update that has read its row.
//
// Package store makes the entries of older rows in the background; until then reads do without the index.
//
// A materialized view is numbered, recorded and built as an Index is; its keys are rows (see store/view_build.go).
package index
