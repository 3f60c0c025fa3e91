package store

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
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

// Session is the part of a client's session on which rows made by code may depend.
type Session struct {
	LocalAddr netip.AddrPort // the address the client dialled
	Node      int            // the number of the node that it is with
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

// Read calls fn for each row until it returns false or an error. Rows come partition by partition: in
// the order of Keys, else by token. The static row comes whatever the slices are; a Read that continues
// inside a partition does not deliver it again, but the rows have its values.
func (s *Store) Read(ctx context.Context, r *Read, fn func(*Row) (bool, error)) error {
	rd := readers.Get().(*reader)
	defer rd.release()
	for {
		if s.cluster != nil && !s.isVirtual(r.Table.ID) {
			if _, err := s.usable(ctx, r.Table.ID); err != nil {
				return err
			}
		}
		src, id, err := s.source(r)
		if err != nil {
			return err
		}
		rd.prepare(ctx, &s.core, r, id, fn)
		if src != nil {
			return rd.readSnapshot(src)
		}
		if s.cluster != nil && rd.readsOneKey() {
			err = rd.readSnapshot(newest{s.engine, rd})
		} else {
			err = s.engine.View(rd.calls.readSnapshot)
		}
		if !errors.Is(err, errTruncated) {
			return err
		}
	}
}

// isVirtual reports whether code makes the rows of a table. They are read without a lease too, so that drivers stay
// connected to a node that does not reach its cluster.
func (s *core) isVirtual(table [16]byte) bool {
	_, ok := s.state.Load().virtual[table]
	return ok
}

// errTruncated says that a table got another number before its rows were looked at.
var errTruncated = errors.New("the table is being truncated")

// source says where the rows of a table come from: from a reader if code makes them, else from the engine under a
// number.
func (s *core) source(r *Read) (engine.Reader, uint32, error) {
	state := s.current()
	if v, ok := state.virtual[r.Table.ID]; ok {
		src, err := v.rows(r.Session, state.catalog)
		return src, 0, err
	}
	if id, ok := state.ids[r.Table.ID]; ok {
		return nil, id, nil
	}
	if state.catalog.Table(r.Table.Keyspace, r.Table.Name) != nil {
		return sortedRows{}, 0, nil
	}
	return nil, 0, noTable(r.Table)
}

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

// A view of a shared engine costs a request for its timestamp. A read of a single key needs none: the last commit is a
// snapshot of it.

// newest reads the last commit. It reads one key, and fails if definitions have changed meanwhile: the table may have
// been truncated, or its tombstones may have to be read.
type newest struct {
	engine.Reader
	reader *reader
}

// Get reads the key.
func (n newest) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	r := n.reader
	found, err = n.Reader.Get(key, func(value []byte) error {
		if r.store.moved(r.state) {
			return errTruncated
		}
		return fn(value)
	})
	if !found && err == nil && r.store.moved(r.state) {
		err = errTruncated
	}
	return found, err
}

// readsOneKey reports whether the read gets one key and nothing else.
func (r *reader) readsOneKey() bool {
	read, t := r.read, r.read.Table
	if len(read.Keys) != 1 || read.After != nil || len(read.Lookups) > 0 || read.Nearest != nil ||
		len(t.Static) > 0 || r.store.deletions.FilterOf(r.id, r.clock) != nil {
		return false
	}
	if _, marked := r.state.marked[r.id]; marked {
		return false
	}
	if len(t.Clustering) == 0 {
		return true
	}
	if read.allRows() || read.ranges() != 1 {
		return false
	}
	r.place.slice = read.slice(0)
	return r.place.slice.isRow(t)
}
