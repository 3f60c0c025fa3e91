package schema

import (
	"math"
	"strconv"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// integer reads a sub-option that is a number of that many bits, or returns what it is when not given.
func (m compaction) integer(key string, bits int, otherwise int64) (int64, error) {
	v, ok := m[key]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(v, 10, bits)
	if err != nil {
		return 0, notParsable(v, "int (base10)", key)
	}
	return n, nil
}

// float reads a sub-option that is a number, or returns what it is when not given.
func (m compaction) float(key string, otherwise float64) (float64, error) {
	v, ok := m[key]
	if !ok {
		return otherwise, nil
	}
	f, ok := javafloat.ParseJava(v)
	if !ok {
		return 0, notParsable(v, "float", key)
	}
	return f, nil
}

func notParsable(value, what, key string) error {
	return cqlerr.Configf("%s is not a parsable %s for %s", value, what, key)
}

// checkSizeTiers checks the sub-options of SizeTieredCompactionStrategy, which TimeWindow has too.
func checkSizeTiers(m compaction) error {
	size, err := m.integer("min_sstable_size", 64, 0)
	if err != nil {
		return err
	}
	if size < 0 {
		return cqlerr.Configf("min_sstable_size must be non negative: %d", size)
	}
	low, err := m.float("bucket_low", 0.5)
	if err != nil {
		return err
	}
	high, err := m.float("bucket_high", 1.5)
	if err != nil {
		return err
	}
	if high <= low {
		return cqlerr.Configf("bucket_high value (%s) is less than or equal to the bucket_low value (%s)",
			javafloat.Format(high, 64), javafloat.Format(low, 64))
	}
	return nil
}

// checkLevels checks the sub-options of LeveledCompactionStrategy. The eighth level must have a size that
// a Java long holds.
func checkLevels(m compaction) error {
	size, err := m.integer("sstable_size_in_mb", 32, 1)
	if err != nil {
		return err
	}
	if size < 1 {
		return cqlerr.Configf("sstable_size_in_mb must be larger than 0, but was %d", size)
	}
	fanout, err := m.integer("fanout_size", 32, 10)
	if err != nil {
		return err
	}
	if fanout < 1 {
		return cqlerr.Configf("fanout_size must be larger than 0, but was %d", fanout)
	}
	if most := math.Pow(float64(fanout), 8) * float64(size<<20); most > math.MaxInt64 {
		return cqlerr.Configf("At most %d bytes may be in a compaction level; your maxSSTableSize must be absurdly "+
			"high to compute %s", math.MaxInt64, strconv.FormatFloat(most, 'f', -1, 64))
	}
	return nil
}

// checkTimeWindows checks the sub-options of TimeWindowCompactionStrategy.
func checkTimeWindows(m compaction) error {
	if v, ok := m["timestamp_resolution"]; ok {
		switch v {
		case "SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS":
		default:
			return cqlerr.Configf("%s is not valid for timestamp_resolution", v)
		}
	}
	if v, ok := m["compaction_window_unit"]; ok && v != "MINUTES" && v != "HOURS" && v != "DAYS" {
		return cqlerr.Configf("%s is not valid for compaction_window_unit", v)
	}
	size, err := m.integer("compaction_window_size", 32, 1)
	if err != nil {
		return err
	}
	if size < 1 {
		return cqlerr.Configf("%d must be greater than 1 for compaction_window_size", size)
	}
	expired, err := m.integer("expired_sstable_check_frequency_seconds", 64, 0)
	if err != nil {
		return err
	}
	if expired < 0 {
		return cqlerr.Configf("expired_sstable_check_frequency_seconds must not be negative, but was %d", expired)
	}
	v, ok := m["unsafe_aggressive_sstable_expiration"]
	switch {
	case ok && !isBoolean(v):
		return cqlerr.Configf("unsafe_aggressive_sstable_expiration is not 'true' or 'false' (%s)", v)
	case isTrue(v):
		return cqlerr.Configf("unsafe_aggressive_sstable_expiration is requested but not allowed, restart cassandra " +
			"with -Dcassandra.allow_unsafe_aggressive_sstable_expiration=true to allow it")
	}
	return nil
}
