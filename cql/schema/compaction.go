package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// compactionPackage is where Cassandra looks for a strategy that is named without a package.
const compactionPackage = "org.apache.cassandra.db.compaction."

// strategy describes one compaction strategy: its checks in the order of Cassandra's, and the sub-options it takes.
// The compaction itself is not ours; options are kept.
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

// unknownStrategy refuses a class that is not a strategy. The text depends on whether the JVM has a class of that
// name.
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
	minimum, ok := parseJavaInt(m["min_threshold"])
	if !ok {
		return outOfRange("min_threshold", m["min_threshold"])
	}
	maximum, ok := parseJavaInt(m["max_threshold"])
	if !ok {
		return outOfRange("max_threshold", m["max_threshold"])
	}
	switch {
	case minimum <= 0 || maximum <= 0:
		return cqlerr.Configf("Disabling compaction by setting compaction thresholds to 0 has been removed, set the " +
			"compaction option 'enabled' to false instead.")
	case minimum == 1:
		return cqlerr.Configf("Min compaction threshold cannot be less than 2 (got %d)", minimum)
	case minimum > maximum:
		return cqlerr.Configf("Min compaction threshold (got %d) cannot be greater than max compaction threshold (got %d)",
			minimum, maximum)
	}
	return nil
}

// checkCommonCompaction checks the sub-options of all strategies.
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
	const interval = "tombstone_compaction_interval"
	return cmp.Or(
		m.checkInteger(interval, 64, 0, interval+" must be greater than 0, but was %d"),
		m.checkBoolean("unchecked_tombstone_compaction",
			"'unchecked_tombstone_compaction' should be either 'true' or 'false', not '%s'"),
		m.checkBoolean("log_all", "'log_all' should either be 'true' or 'false', not %s"),
		m.checkBoolean("enabled", "enabled should either be 'true' or 'false', not %s"),
	)
}

// checkBoolean checks a sub-option that is true or false.
func (m compaction) checkBoolean(key, complaint string) error {
	if v, ok := m[key]; ok && !isBoolean(v) {
		return cqlerr.Configf(complaint, v)
	}
	return nil
}

// checkInteger checks a sub-option that is a number of that many bits and has a minimum.
func (m compaction) checkInteger(key string, bits int, minimum int64, complaint string) error {
	n, err := m.integer(key, bits, minimum)
	if err == nil && n < minimum {
		err = cqlerr.Configf(complaint, n)
	}
	return err
}

func isBoolean(s string) bool { return strings.EqualFold(s, "true") || strings.EqualFold(s, "false") }

func isTrue(s string) bool { return strings.EqualFold(s, "true") }

// integer reads a sub-option that is a number of that many bits, or returns otherwise if it is not given.
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

// float reads a sub-option that is a number, or returns otherwise if it is not given.
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
	if err := m.checkInteger("min_sstable_size", 64, 0, "min_sstable_size must be non negative: %d"); err != nil {
		return err
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
	if top := math.Pow(float64(fanout), 8) * float64(size<<20); top > math.MaxInt64 {
		return cqlerr.Configf("At most %d bytes may be in a compaction level; your maxSSTableSize must be absurdly "+
			"high to compute %s", math.MaxInt64, strconv.FormatFloat(top, 'f', -1, 64))
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
	const frequency = "expired_sstable_check_frequency_seconds"
	if err := cmp.Or(
		m.checkInteger("compaction_window_size", 32, 1, "%d must be greater than 1 for compaction_window_size"),
		m.checkInteger(frequency, 64, 0, frequency+" must not be negative, but was %d"),
	); err != nil {
		return err
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

// checkUnified checks the sub-options of UnifiedCompactionStrategy.
func checkUnified(m compaction) error {
	return cmp.Or(checkScaling(m), checkShards(m), checkUnifiedSizes(m), checkUnifiedExpiry(m), checkOverlap(m))
}

var scalingParameter = regexp.MustCompile(`^(?:N|([LT])([0-9]+)|([+-]?[0-9]+))$`)

// checkScaling checks the list of fan factors, one for each level.
func checkScaling(m compaction) error {
	v, ok := m["scaling_parameters"]
	if !ok {
		return nil
	}
	for item := range strings.SplitSeq(v, ",") {
		item = strings.TrimSpace(item)
		parts := scalingParameter.FindStringSubmatch(item)
		if parts == nil {
			return cqlerr.Configf("Scaling parameter %s must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+", item)
		}
		for _, number := range parts[2:] {
			if number == "" {
				continue
			}
			n, ok := parseJavaInt(number)
			if !ok {
				return cqlerr.Configf(compactionPackage+"UnifiedCompactionStrategy.validateOptions() threw an error: "+
					`java.lang.NumberFormatException For input string: "%s"`, number)
			}
			if parts[1] != "" && n < 2 {
				return cqlerr.Configf("Fan factor cannot be lower than 2 in %s", item)
			}
		}
	}
	return nil
}

func checkShards(m compaction) error {
	if err := m.checkInteger("base_shard_count", 32, 1,
		"Invalid configuration, base_shard_count should be positive: %d"); err != nil {
		return err
	}
	if v, ok := m["sstable_growth"]; ok {
		f, ok := javafloat.ParseJava(v)
		if !ok {
			return cqlerr.Configf("sstable_growth is not a valid number between 0 and 1: %s", numberComplaint(v))
		}
		if f < 0 || f > 1 {
			return cqlerr.Configf("sstable_growth %s must be between 0 and 1", v)
		}
	}
	_, err := m.integer("max_sstables_to_compact", 32, 0)
	return err
}

// checkUnifiedSizes checks the sizes of tables: the least must leave room below the one aimed at.
func checkUnifiedSizes(m compaction) error {
	const mebibyte = 1 << 20
	target := 1024.0 * mebibyte
	for _, key := range []string{"target_sstable_size", "flush_size_override"} {
		v, ok := m[key]
		if !ok {
			continue
		}
		size, complaint := parseSize(v)
		if complaint != "" {
			return cqlerr.Configf("%s %s is not a valid size in bytes: %s", key, v, complaint)
		}
		if size < mebibyte {
			return cqlerr.Configf("%s %s is not acceptable, size must be at least %s", key, v, formatSize(mebibyte))
		}
		if key == "target_sstable_size" {
			target = size
		}
	}
	v, ok := m["min_sstable_size"]
	if !ok {
		return nil
	}
	size, complaint := parseSize(v)
	switch {
	case complaint != "":
		return cqlerr.Configf("%s is not a valid size in bytes for min_sstable_size", v)
	case size < 0:
		return cqlerr.Configf("Invalid configuration, min_sstable_size should be greater than or equal to 0 (zero)")
	case size > target*math.Sqrt(0.5):
		return cqlerr.Configf("Invalid configuration, min_sstable_size (%s) should be less than 70%% of the "+
			"targetSSTableSize (%s)", formatSize(size), formatSize(target))
	}
	return nil
}

func checkUnifiedExpiry(m compaction) error {
	if v, ok := m["expired_sstable_check_frequency_seconds"]; ok {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return notParsable(v, "long (base10)", "expired_sstable_check_frequency_seconds")
		}
		if n <= 0 {
			return cqlerr.Configf("Invalid configuration, expired_sstable_check_frequency_seconds should be positive: %d", n)
		}
	}
	return m.checkBoolean("unsafe_aggressive_sstable_expiration",
		"unsafe_aggressive_sstable_expiration should either be 'true' or 'false', not %s")
}

func checkOverlap(m compaction) error {
	v, ok := m["overlap_inclusion_method"]
	if !ok {
		return nil
	}
	switch strings.ToUpper(v) {
	case "NONE", "SINGLE", "TRANSITIVE":
		return nil
	}
	return cqlerr.Configf("Invalid overlap inclusion method %s. The valid options are [NONE, SINGLE, TRANSITIVE].", v)
}

// sizeText is a size with a decimal or binary unit: 1GiB, 1.5 GB, 100B.
var sizeText = regexp.MustCompile(`^\s*(.*?)\s*([kKMGTPE]?)(i?)B$`)

// parseSize reads a size in bytes, or returns Java's complaint.
func parseSize(s string) (size float64, complaint string) {
	parts := sizeText.FindStringSubmatch(s)
	if parts == nil {
		return 0, s + " does not end in unit B"
	}
	f, ok := javafloat.ParseJava(parts[1])
	if !ok {
		return 0, numberComplaint(parts[1])
	}
	base := 1000.0
	if parts[3] != "" {
		base = 1024
	}
	power := 0
	if parts[2] != "" {
		power = strings.Index("KMGTPE", strings.ToUpper(parts[2])) + 1
	}
	return f * math.Pow(base, float64(power)), ""
}

// formatSize prints a size as Cassandra does: 800.000MiB.
func formatSize(size float64) string {
	unit := ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	return fmt.Sprintf("%.3f%sB", size, unit)
}

// numberComplaint is Java's message about text that is not a floating point number.
func numberComplaint(s string) string {
	if strings.TrimFunc(s, isJavaSpace) == "" {
		return "empty String"
	}
	return `For input string: "` + s + `"`
}
