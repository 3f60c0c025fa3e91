package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/store"
)

// size measures a batch as Cassandra does: the bytes that its rows and cells take there, and their partitions. The zero
// value is for single statements and measures nothing.
//
// A row that is written twice counts twice at first. check measures such a batch again if that makes a
// difference.
type size struct {
	bytes   int
	inRange int             // of bytes: for deleted ranges
	updates map[string]bool // table and key: whether ranges are deleted
	update  string          // the current one
	again   bool            // a partition, a static row or a collection is written to more than once
	keys    map[string]bool // keyspace and key
	tables  []*schema.Table
	columns []*schema.Column // of several cells, in the current row
}

// The number of bytes that Cassandra adds to values.
const (
	rowOverhead       = 8 + 13          // the marker's timestamp and the row's deletion
	partitionOverhead = 8 + rowOverhead // its deletion and its static row, even an empty one
	expiryOverhead    = 4 + 8           // of a marker
	cellOverhead      = 8 + 4 + 8       // timestamp, TTL, expiry
	counterSize       = 36              // of a change of a counter
	columnOverhead    = 8 + 4           // the deletion of all elements of a collection, whether there is one or not
	rangesOverhead    = 4               // the number of deleted ranges in a partition
	rangeOverhead     = 8 + 4           // the time of one
)

func newSize() size { return size{updates: map[string]bool{}, keys: map[string]bool{}} }

// partition counts a partition, the first time.
func (s *size) partition(t *schema.Table, key []byte) {
	if s.updates == nil {
		return
	}
	s.update = t.Keyspace + "." + t.Name + "." + string(key)
	if _, known := s.updates[s.update]; known {
		s.again = true
		return
	}
	s.updates[s.update] = false
	s.columns = s.columns[:0]
	s.keys[t.Keyspace+"."+string(key)] = true
	s.bytes += partitionOverhead
	for _, known := range s.tables {
		if known == t {
			return
		}
	}
	s.tables = append(s.tables, t)
}

// row counts a row without its cells.
func (s *size) row(clustering [][]byte, expires bool) {
	s.bytes += rowOverhead + length(clustering)
	s.columns = s.columns[:0]
	if expires {
		s.bytes += expiryOverhead
	}
}

func (s *size) cell(value []byte) { s.bytes += cellOverhead + len(value) }

// element counts an element of a collection, or a field of a user type, that is not frozen.
func (s *size) element(c *schema.Column, name, value []byte) {
	s.column(c)
	s.bytes += cellOverhead + len(name) + len(value)
}

// column counts a column of several cells, once in each row.
func (s *size) column(c *schema.Column) {
	if s.updates == nil || slices.Contains(s.columns, c) {
		return
	}
	s.columns = append(s.columns, c)
	s.bytes += columnOverhead
}

// counter counts a counter's cell.
func (s *size) counter() { s.bytes += cellOverhead + counterSize }

// deletedRange counts the deletion of one range of rows.
func (s *size) deletedRange(start, end [][]byte) {
	if s.updates == nil {
		return
	}
	n := rangeOverhead + length(start) + length(end)
	if !s.updates[s.update] {
		s.updates[s.update] = true
		n += rangesOverhead
	}
	s.bytes += n
	s.inRange += n
}

// measure counts each written row and cell of the mutations once.
func (s *size) measure(ms []*store.Mutation) error {
	s.bytes = len(s.updates)*partitionOverhead + s.inRange
	return store.WrittenRows(ms, func(r store.WrittenRow) {
		s.bytes += r.Bytes + r.Cells*cellOverhead + r.Counters*counterSize + r.Collections*columnOverhead
		if !r.Static {
			s.bytes += rowOverhead
		}
		if r.Expires {
			s.bytes += expiryOverhead
		}
	})
}

// length is the number of bytes of values.
func length(values [][]byte) (n int) {
	for _, v := range values {
		n += len(v)
	}
	return n
}

// check refuses large batches over several partitions, and warns of batches that Cassandra warns of. ms are the
// batch's mutations.
func (s *size) check(kind BatchKind, settings *guardrail.Settings, ms []*store.Mutation) ([]string, error) {
	var warnings []string
	if kind == Logged {
		warnings = s.checkGrace(warnings)
	}
	if len(s.keys) < 2 {
		return warnings, nil
	}
	if s.again && int64(s.bytes) > settings.BatchSizeWarn {
		if err := s.measure(ms); err != nil {
			return nil, err
		}
	}
	bytes, partitions := int64(s.bytes), int64(len(s.keys))
	if limit := settings.BatchSizeWarn; bytes > limit {
		if bytes > settings.BatchSizeFail {
			return nil, cqlerr.Invalidf("Batch too large")
		}
		warnings = append(warnings, fmt.Sprintf("Batch for %s is of size %d, exceeding specified threshold of %d by %d.",
			tableNames(s.tables), bytes, limit, bytes-limit))
	}
	if kind != Logged && partitions > settings.UnloggedPartitionsWarn {
		warnings = append(warnings, fmt.Sprintf("Unlogged batch covering %d partitions detected against table%s. You should "+
			"use a logged batch for atomicity, or asynchronous writes for performance.", partitions, plural(s.tables)))
	}
	return warnings, nil
}

// checkGrace warns of logged batches on tables that purge tombstones at once.
func (s *size) checkGrace(warnings []string) []string {
	var tables []*schema.Table
	for _, t := range s.tables {
		if t.Options.GCGraceSeconds == 0 {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return warnings
	}
	return append(warnings, fmt.Sprintf("Executing a LOGGED BATCH on table%s, configured with a gc_grace_seconds of 0. The "+
		"gc_grace_seconds is used to TTL batchlog entries, so setting gc_grace_seconds too low on tables involved in an "+
		"atomic batch might cause batchlog entries to expire before being replayed.", plural(tables)))
}

// plural is the text after "table" in a warning: an s if there are several, and the names.
func plural(tables []*schema.Table) string {
	if len(tables) == 1 {
		return " " + tableNames(tables)
	}
	return "s " + tableNames(tables)
}

// tableNames are tables as Java prints a set: [ks.a, ks.b].
func tableNames(tables []*schema.Table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Keyspace + "." + t.Name
	}
	return "[" + strings.Join(names, ", ") + "]"
}
