package guardrail

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// UserTimestamp guards USING TIMESTAMP.
func (c *Check) UserTimestamp() error {
	return c.allow(guard{name: "user_timestamps"}, c.Settings.UserTimestampsEnabled,
		"User provided timestamps (USING TIMESTAMP)")
}

// WriteLevels guards the consistency levels of a write: its own and that of its conditions, in the order of their
// numbers.
func (c *Check) WriteLevels(level, serial cqlerr.Consistency) error {
	if !c.Settings.WriteLevels.isOn() {
		return nil
	}
	levels := []cqlerr.Consistency{min(level, serial)}
	if level != serial {
		levels = append(levels, max(level, serial))
	}
	return c.levels("write_consistency_levels", "write consistency levels", c.Settings.WriteLevels, levels)
}

// Timestamp guards the time that a statement gives its cells, beside the current time, both in microseconds.
func (c *Check) Timestamp(table string, ts, now int64) error {
	latest := c.Settings.MaximumTimestamp
	latest.Warn, latest.Fail = after(now, latest.Warn, 1), after(now, latest.Fail, 1)
	g := guard{"maximum_timestamp", "Timestamps too far in the future can lead to data that can't be easily overwritten"}
	err := c.above(g, latest, ts, func(limit int64, warning bool) string {
		return fmt.Sprintf("The modification to table %s has a timestamp %d after the maximum allowable %s threshold %d", table,
			ts, kind(warning), limit)
	})
	if err != nil {
		return err
	}
	earliest := c.Settings.MinimumTimestamp
	earliest.Warn, earliest.Fail = after(now, earliest.Warn, -1), after(now, earliest.Fail, -1)
	g = guard{"minimum_timestamp", "Timestamps too far in the past can cause writes can be unexpectedly lost"}
	return c.below(g, earliest, ts, func(limit int64, warning bool) string {
		return fmt.Sprintf("The modification to table %s has a timestamp %d before the minimum allowable %s threshold %d", table,
			ts, kind(warning), limit)
	})
}

// after is the time at a distance from now in a direction, if the distance is not Off.
func after(now, distance, direction int64) int64 {
	if distance == Off {
		return Off
	}
	return now + direction*distance
}

// Value guards the bytes of a value, or of the name of an element, that is written to a column.
func (c *Check) Value(column string, size int) error {
	return c.size(guard{name: "column_value_size"}, c.Settings.ColumnValueSize, column, size)
}

// size guards the bytes of a value.
func (c *Check) size(g guard, t Threshold, column string, size int) error {
	return c.above(g, t, int64(size), func(limit int64, warning bool) string {
		return fmt.Sprintf("Value of column '%s' has size %d, this exceeds the %s threshold of %d.", column, size, kind(warning),
			limit)
	})
}

// Items guards the number of elements that are written to a collection.
func (c *Check) Items(column string, items int) error {
	g := guard{name: "items_per_collection"}
	return c.above(g, c.Settings.ItemsPerCollection, int64(items), func(limit int64, warning bool) string {
		return fmt.Sprintf("Detected collection %s with %d items, this exceeds the %s threshold of %d.", column, items,
			kind(warning), limit)
	})
}

// Collection guards the bytes of the elements that are written to a collection.
func (c *Check) Collection(column string, size int) error {
	return c.above(guard{name: "collection_size"}, c.Settings.CollectionSize, int64(size), func(limit int64, warning bool) string {
		return fmt.Sprintf("Detected collection %s of size %d, this exceeds the %s threshold of %d.", column, size, kind(warning),
			limit)
	})
}

// ListByIndex guards an operation on a list that reads it first.
func (c *Check) ListByIndex(operation string) error {
	return c.allow(guard{name: "read_before_write_list_operations"}, c.Settings.ReadBeforeWriteListOperations, operation)
}

// IndexedTerm is the kind of a value in a storage-attached index.
type IndexedTerm int

// The kinds of values in storage-attached indexes.
const (
	StringTerm IndexedTerm = iota
	FrozenTerm
	VectorTerm
)

// Indexed guards the bytes of a value that a storage-attached index gets.
func (c *Check) Indexed(term IndexedTerm, column string, size int) error {
	if c == nil {
		return nil
	}
	switch term {
	case FrozenTerm:
		return c.size(guard{name: "sai_frozen_term_size"}, c.Settings.SAIFrozenTermSize, column, size)
	case VectorTerm:
		return c.size(guard{name: "sai_vector_term_size"}, c.Settings.SAIVectorTermSize, column, size)
	}
	return c.size(guard{name: "sai_string_term_size"}, c.Settings.SAIStringTermSize, column, size)
}
