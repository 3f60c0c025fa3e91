package store

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/pace"
	"github.com/cqld/cqld/store/rows"
)

// Read describes the rows wanted from one table.
type Read struct {
	Table   *schema.Table
	Keys    [][]byte       // serialized partition keys, in the order wanted; nil: by Tokens
	Tokens  TokenRange     // of a scan; the zero value is the whole ring
	Slices  []Slice        // clustering ranges in clustering order, not overlapping; nil: all rows
	Ranges  Ranges         // instead of Slices, where there are too many to hold; nil: Slices are meant
	Reverse bool           // rows of a partition from last to first
	Now     int64          // seconds since 1970, for expiry
	Meta    bool           // fill Row.Meta
	After   *Position      // start after this row, which the same Read delivered earlier
	Session Session        // of the client, for tables made by code
	Lookups []index.Lookup // all of which hold for the rows that are wanted
	Want    int            // about how many rows that pass the Lookups are taken; 0: all
	Nearest *Nearest       // only rows near to a vector are wanted; nil: all
	Turn    *pace.Turn     // the scheduler's turn that it steps; nil: it does not yield

	Indexed    *IndexRead      // notes the indexes that were read; may be nil
	Tombstones *TombstonesRead // counts live rows and tombstones; may be nil
}

// IndexRead notes the use of indexes by a read.
type IndexRead struct {
	Names   []string // of the indexes; none: rows were read without them
	Entries int      // that were read
}

// use notes that an index is read. A nil IndexRead takes nothing.
func (i *IndexRead) use(name string) {
	if i != nil && !slices.Contains(i.Names, name) {
		i.Names = append(i.Names, name)
	}
}

func (i *IndexRead) entry() {
	if i != nil {
		i.Entries++
	}
}

// TokenRange is (After, UpTo] or with its ends as the flags say; both ends zero and Bounded false is the
// whole ring.
type TokenRange struct {
	Bounded                      bool
	Start, End                   int64
	StartInclusive, EndInclusive bool
}

// Slice is a range of clustering keys. Bounds are values of the first clustering columns. A nil bound is open.
type Slice struct {
	Start, End                   [][]byte
	StartInclusive, EndInclusive bool
}

// isRow reports whether a slice has one row at most: both bounds are the same whole clustering key.
func (s *Slice) isRow(t *schema.Table) bool {
	n := len(t.Clustering)
	if len(s.Start) != n || len(s.End) != n || !s.StartInclusive || !s.EndInclusive {
		return false
	}
	for i, v := range s.Start {
		if string(v) != string(s.End[i]) {
			return false
		}
	}
	return true
}

// Ranges are clustering ranges like Read.Slices, each made when it is read.
type Ranges interface {
	// Len is the number of ranges.
	Len() int

	// Range makes one of them. It is valid until the next call.
	Range(i int) Slice
}

// allRows reports whether all rows of a partition are wanted.
func (r *Read) allRows() bool { return r.Slices == nil && r.Ranges == nil }

func (r *Read) ranges() int {
	if r.Ranges != nil {
		return r.Ranges.Len()
	}
	return len(r.Slices)
}

func (r *Read) slice(i int) Slice {
	if r.Ranges != nil {
		return r.Ranges.Range(i)
	}
	return r.Slices[i]
}

// Position names a row. With Clustering nil it is the static row, or the only row of a table without
// clustering columns.
type Position struct {
	Partition  []byte
	Clustering [][]byte
	Whole      bool // continue after the partition, not inside it
}

// Row is one row as of Read.Now. It and everything it points to are valid until the callback returns.
type Row struct {
	Partition []byte     // serialized partition key
	Marked    bool       // it has a marker that lives: it exists without values too
	Static    bool       // the static row: it comes before the partition's other rows, if it has live cells
	Values    [][]byte   // by schema.Column.Index; nil is null. Other rows have the key columns and the static ones too
	Meta      []CellMeta // by schema.Column.Index, when asked for
	Marker    CellMeta   // of the marker, when asked for and the row is Marked
}

// Expiry is a TTL and the second it ends; the zero value is none.
type Expiry = rows.Expiry

// CellMeta is the timestamp and the expiry of a cell, for WRITETIME and TTL.
type CellMeta = rows.CellMeta

// PartMeta is CellMeta of one element of a collection, or one field of a user type.
type PartMeta = rows.PartMeta

// AppendPlace appends the name of an element's place in a list. Elements are ordered by at, then by id.
func AppendPlace(dst []byte, at int64, id uint64) []byte { return rows.AppendPlace(dst, at, id) }

// AppendField appends the name of a user type's field.
func AppendField(dst []byte, position int) []byte { return rows.AppendField(dst, position) }

// Lookup restricts a Read to rows that an index finds.
type Lookup = index.Lookup

// Match is how a Lookup compares terms.
type Match = index.Match

// How a Lookup compares terms with its value.
const (
	MatchWhole     = index.MatchWhole
	MatchBeginning = index.MatchBeginning
	MatchEnd       = index.MatchEnd
	MatchInside    = index.MatchInside
)

// GraphMetrics counts the graphs of vectors.
type GraphMetrics = index.GraphMetrics

// Nearest says that of a table's rows only those are wanted whose vectors are nearest to a given one.
type Nearest struct {
	Index  *schema.Index
	Vector []byte
	Wide   int // how many rows graphs look for: the more, the fewer near ones are missed
	Take   int // how many of these are delivered, besides the rows that no graph has yet; 0: all

	// Approximate is set by the read: rows were left out. A read without it delivers all rows that are wanted.
	Approximate bool
}
