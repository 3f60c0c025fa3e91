package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// compactionPackage is where Cassandra looks for a strategy that is named without a package.
const compactionPackage = "org.apache.cassandra.db.compaction."

// strategy is what one compaction strategy knows of the compaction map: its checks in the order of
// Cassandra's, and the sub-options it takes. The compaction itself is not ours; options are kept.
type strategy struct {
	thresholds bool // min_threshold and max_threshold are filled in and checked
	checks     []func(compaction) error
	known      []string
}

// compaction are the sub-options of a compaction map.
type compaction map[string]string

// commonCompaction are the sub-options of every strategy.
var commonCompaction = []string{
	"class", "enabled", "tombstone_threshold", "tombstone_compaction_interval", "unchecked_tombstone_compaction",
	"log_all", "only_purge_repaired_tombstones", "provide_overlapping_tombstones",
}

// strategies are the strategies of Cassandra 5.0 by their short names.
var strategies = map[string]strategy{
	"SizeTieredCompactionStrategy": {
		thresholds: true,
		checks:     []func(compaction) error{checkCommonCompaction, checkSizeTiers},
		known:      []string{"min_sstable_size", "bucket_low", "bucket_high", "min_threshold", "max_threshold"},
	},
	"LeveledCompactionStrategy": {
		thresholds: true,
		checks:     []func(compaction) error{checkCommonCompaction, checkLevels},
		known: []string{
			"sstable_size_in_mb", "fanout_size", "single_sstable_uplevel", "min_threshold", "max_threshold",
		},
	},
	"TimeWindowCompactionStrategy": {
		thresholds: true,
		checks:     []func(compaction) error{checkCommonCompaction, checkTimeWindows, checkSizeTiers},
		known: []string{
			"timestamp_resolution", "compaction_window_unit", "compaction_window_size",
			"expired_sstable_check_frequency_seconds", "unsafe_aggressive_sstable_expiration",
			"min_sstable_size", "bucket_low", "bucket_high", "min_threshold", "max_threshold",
		},
	},
	"UnifiedCompactionStrategy": {
		checks: []func(compaction) error{checkCommonCompaction, checkUnified},
		known: []string{
			"scaling_parameters", "target_sstable_size", "base_shard_count", "sstable_growth", "min_sstable_size",
			"flush_size_override", "max_sstables_to_compact", "overlap_inclusion_method",
			"expired_sstable_check_frequency_seconds", "unsafe_aggressive_sstable_expiration",
		},
	},
}

// parseCompaction reads the compaction map: the class is written in full and thresholds are filled in.
func parseCompaction(m map[string]string) (map[string]string, error) {
	class, ok := m["class"]
	if !ok {
		return nil, cqlerr.Configf("Missing sub-option 'class' for the 'compaction' option")
	}
	if !strings.Contains(class, ".") {
		class = compactionPackage + class
	}
	s, ok := strategies[strings.TrimPrefix(class, compactionPackage)]
	if !ok || !strings.HasPrefix(class, compactionPackage) {
		return nil, unknownStrategy(class)
	}
	if err := checkOverlappingTombstones(m); err != nil {
		return nil, err
	}
	c := maps.Clone(m)
	c["class"] = class
	if s.thresholds {
		setDefault(c, "min_threshold", "4")
		setDefault(c, "max_threshold", "32")
	}
	return c, nil
}

// unknownStrategy refuses a class that is not a strategy: one that the JVM would find is told from one
// that it would not.
func unknownStrategy(class string) error {
	if strings.HasPrefix(class, "java.lang.") {
		return cqlerr.Configf("Compaction strategy class %s is not derived from AbstractReplicationStrategy", class)
	}
	return cqlerr.Configf("Unable to find compaction strategy class '%s'", class)
}

func checkOverlappingTombstones(m map[string]string) error {
	v, ok := m["provide_overlapping_tombstones"]
	if !ok {
		return nil
	}
	v = strings.ToUpper(v)
	if v != "NONE" && v != "ROW" && v != "CELL" {
		return cqlerr.Configf("Invalid value %s for 'provide_overlapping_tombstones' compaction sub-option - must be "+
			"one of the following [NONE, ROW, CELL].", v)
	}
	return nil
}

func setDefault(m map[string]string, key, value string) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

// validateCompaction checks a map that parseCompaction returned.
func validateCompaction(m map[string]string) error {
	name := strings.TrimPrefix(m["class"], compactionPackage)
	s := strategies[name]
	for _, check := range s.checks {
		if err := check(m); err != nil {
			return err
		}
	}
	if unknown := unknownKeys(m, slices.Concat(commonCompaction, s.known)...); len(unknown) > 0 {
		return cqlerr.Configf("Properties specified %s are not understood by %s", HashSet(unknown), name)
	}
	if s.thresholds {
		return checkThresholds(m)
	}
	return nil
}

// checkThresholds checks how many tables are compacted at least and at most.
func checkThresholds(m compaction) error {
	for _, key := range []string{"min_threshold", "max_threshold"} {
		if !isNumeric(m[key]) {
			return cqlerr.Configf("Invalid value %s for '%s' compaction sub-option - must be an integer", m[key], key)
		}
	}
	least, ok := parseJavaInt(m["min_threshold"])
	if !ok {
		return outOfRange("min_threshold", m["min_threshold"])
	}
	most, ok := parseJavaInt(m["max_threshold"])
	if !ok {
		return outOfRange("max_threshold", m["max_threshold"])
	}
	switch {
	case least <= 0 || most <= 0:
		return cqlerr.Configf("Disabling compaction by setting compaction thresholds to 0 has been removed, set the " +
			"compaction option 'enabled' to false instead.")
	case least == 1:
		return cqlerr.Configf("Min compaction threshold cannot be less than 2 (got %d)", least)
	case least > most:
		return cqlerr.Configf("Min compaction threshold (got %d) cannot be greater than max compaction threshold (got %d)",
			least, most)
	}
	return nil
}

// checkCommonCompaction checks what all strategies have.
func checkCommonCompaction(m compaction) error {
	threshold := 0.0
	if v, ok := m["tombstone_threshold"]; ok {
		f, ok := javafloat.ParseJava(v)
		if !ok {
			return notParsable(v, "int (base10)", "tombstone_threshold")
		}
		threshold = f
	}
	if threshold < 0 {
		return cqlerr.Configf("tombstone_threshold must be greater than 0, but was %f", threshold)
	}
	interval, err := m.integer("tombstone_compaction_interval", 64, 0)
	if err != nil {
		return err
	}
	if interval < 0 {
		return cqlerr.Configf("tombstone_compaction_interval must be greater than 0, but was %d", interval)
	}
	if v, ok := m["unchecked_tombstone_compaction"]; ok && !isBoolean(v) {
		return cqlerr.Configf("'unchecked_tombstone_compaction' should be either 'true' or 'false', not '%s'", v)
	}
	if v, ok := m["log_all"]; ok && !isBoolean(v) {
		return cqlerr.Configf("'log_all' should either be 'true' or 'false', not %s", v)
	}
	if v, ok := m["enabled"]; ok && !isBoolean(v) {
		return cqlerr.Configf("enabled should either be 'true' or 'false', not %s", v)
	}
	return nil
}

func isBoolean(s string) bool { return strings.EqualFold(s, "true") || strings.EqualFold(s, "false") }

func isTrue(s string) bool { return strings.EqualFold(s, "true") }
