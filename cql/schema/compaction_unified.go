package schema

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// checkUnified checks the sub-options of UnifiedCompactionStrategy.
func checkUnified(m compaction) error {
	for _, check := range []func(compaction) error{
		checkScaling, checkShards, checkUnifiedSizes, checkUnifiedExpiry, checkOverlap,
	} {
		if err := check(m); err != nil {
			return err
		}
	}
	return nil
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
	shards, err := m.integer("base_shard_count", 32, 4)
	if err != nil {
		return err
	}
	if shards <= 0 {
		return cqlerr.Configf("Invalid configuration, base_shard_count should be positive: %d", shards)
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
	_, err = m.integer("max_sstables_to_compact", 32, 0)
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
	if v, ok := m["unsafe_aggressive_sstable_expiration"]; ok && !isBoolean(v) {
		return cqlerr.Configf("unsafe_aggressive_sstable_expiration should either be 'true' or 'false', not %s", v)
	}
	return nil
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

// numberComplaint is what Java says of text that is not a floating point number.
func numberComplaint(s string) string {
	if strings.TrimFunc(s, isJavaSpace) == "" {
		return "empty String"
	}
	return `For input string: "` + s + `"`
}
