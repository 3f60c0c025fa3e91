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

// size notes the partitions of a batch, and measures it as Cassandra does: the bytes of its rows and cells there.
// The zero value is for single statements and notes nothing.
type size struct {
	updates map[string]bool // table and key: whether ranges are deleted
	update  string          // the current one
	inRange int             // bytes of deleted ranges
	keys    map[string]bool // keyspace and key
	tables  []*schema.Table
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

// partition notes a partition.
func (s *size) partition(t *schema.Table, key []byte) {
	if s.updates == nil {
		return
	}
	s.update = t.Keyspace + "." + t.Name + "." + string(key)
	if _, known := s.updates[s.update]; known {
		return
	}
	s.updates[s.update] = false
	s.keys[t.Keyspace+"."+string(key)] = true
	if !slices.Contains(s.tables, t) {
		s.tables = append(s.tables, t)
	}
}

// deletedRange counts the deletion of one range of rows.
func (s *size) deletedRange(start, end [][]byte) {
	if s.updates == nil {
		return
	}
	s.inRange += rangeOverhead + length(start) + length(end)
	if !s.updates[s.update] {
		s.updates[s.update] = true
		s.inRange += rangesOverhead
	}
}

// measure is the size of a batch. A row that two mutations write counts once.
func (s *size) measure(ms []*store.Mutation) (bytes int, err error) {
	bytes = len(s.updates)*partitionOverhead + s.inRange
	err = store.WrittenRows(ms, func(r store.WrittenRow) {
		bytes += r.Bytes + r.Cells*cellOverhead + r.Counters*counterSize + r.Collections*columnOverhead
		if !r.Static {
			bytes += rowOverhead
		}
		if r.Expires {
			bytes += expiryOverhead
		}
	})
	return bytes, err
}

// maxGrowth is more than the factor by which a batch takes more bytes in Cassandra than its mutations do here: a null
// takes 20 bytes there and more than two here.
const maxGrowth = 16

// exceeds measures a batch if it may be larger than a limit.
func (s *size) exceeds(limit int64, ms []*store.Mutation) (bytes int64, exceeds bool, err error) {
	maxBytes := len(s.updates)*partitionOverhead + s.inRange
	for _, m := range ms {
		maxBytes += maxGrowth * m.Size()
	}
	if int64(maxBytes) <= limit {
		return 0, false, nil
	}
	n, err := s.measure(ms)
	return int64(n), int64(n) > limit, err
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
	limit := settings.BatchSizeWarn
	bytes, large, err := s.exceeds(limit, ms)
	if err != nil {
		return nil, err
	}
	if large {
		if bytes > settings.BatchSizeFail {
			return nil, cqlerr.Invalidf("Batch too large")
		}
		warnings = append(warnings, fmt.Sprintf("Batch for %s is of size %d, exceeding specified threshold of %d by %d.",
			tableNames(s.tables), bytes, limit, bytes-limit))
	}
	if partitions := int64(len(s.keys)); kind != Logged && partitions > settings.UnloggedPartitionsWarn {
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
