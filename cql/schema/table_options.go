package schema

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// TableOptions are the WITH options of a table, each as system_schema.tables shows it. Maps are shared
// between tables and never changed.
type TableOptions struct {
	AdditionalWritePolicy   string
	AllowAutoSnapshot       bool
	BloomFilterFPChance     float64
	Caching                 map[string]string
	CDC                     bool
	Comment                 string
	Compaction              map[string]string
	Compression             map[string]string
	CRCCheckChance          float64
	DefaultTimeToLive       int
	Extensions              map[string][]byte
	GCGraceSeconds          int
	IncrementalBackups      bool
	MaxIndexInterval        int
	Memtable                string
	MemtableFlushPeriodInMs int
	MinIndexInterval        int
	ReadRepair              string
	SpeculativeRetry        string
}

// MaxTimeToLive is the longest TTL in seconds: twenty years.
const MaxTimeToLive = 20 * 365 * 24 * 60 * 60

// DefaultTableOptions are the options of CREATE TABLE without a WITH clause.
func DefaultTableOptions() TableOptions {
	return TableOptions{
		AdditionalWritePolicy: "99p",
		AllowAutoSnapshot:     true,
		BloomFilterFPChance:   0.01,
		Caching:               map[string]string{"keys": "ALL", "rows_per_partition": "NONE"},
		Compaction: map[string]string{
			"class":         compactionPackage + "SizeTieredCompactionStrategy",
			"min_threshold": "4", "max_threshold": "32",
		},
		Compression:        map[string]string{"class": compressionPackage + "LZ4Compressor", "chunk_length_in_kb": "16"},
		CRCCheckChance:     1,
		GCGraceSeconds:     864000,
		IncrementalBackups: true,
		MaxIndexInterval:   2048,
		Memtable:           "default",
		MinIndexInterval:   128,
		ReadRepair:         "BLOCKING",
		SpeculativeRetry:   "99p",
	}
}

// Validate refuses values that an option may not have. Cassandra does this when it knows that the table
// does not exist, before it looks at the columns.
func (o TableOptions) Validate() error {
	if err := validateCompaction(o.Compaction); err != nil {
		return err
	}
	if o.BloomFilterFPChance <= minBloomFilter || o.BloomFilterFPChance > 1 {
		return cqlerr.Configf("bloom_filter_fp_chance must be larger than %s and less than or equal to 1.0 (got %s)",
			javafloat.Format(minBloomFilter, 64), javafloat.Format(o.BloomFilterFPChance, 64))
	}
	if o.CRCCheckChance < 0 || o.CRCCheckChance > 1 {
		return cqlerr.Configf("crc_check_chance must be larger than or equal to 0 and smaller than or equal "+
			"to 1.0 (got %s)", javafloat.Format(o.CRCCheckChance, 64))
	}
	if err := atLeast("default_time_to_live", o.DefaultTimeToLive, 0); err != nil {
		return err
	}
	if o.DefaultTimeToLive > MaxTimeToLive {
		return cqlerr.Configf("default_time_to_live must be less than or equal to %d (got %d)",
			MaxTimeToLive, o.DefaultTimeToLive)
	}
	if err := atLeast("gc_grace_seconds", o.GCGraceSeconds, 0); err != nil {
		return err
	}
	if err := atLeast("min_index_interval", o.MinIndexInterval, 1); err != nil {
		return err
	}
	if o.MaxIndexInterval < o.MinIndexInterval {
		return cqlerr.Configf("max_index_interval must be greater than or equal to min_index_interval (%d) (got %d)",
			o.MinIndexInterval, o.MaxIndexInterval)
	}
	return atLeast("memtable_flush_period_in_ms", o.MemtableFlushPeriodInMs, 0)
}

// minBloomFilter is the false positive chance that no bloom filter of Cassandra's can reach.
const minBloomFilter = 6.71e-5

func atLeast(option string, value, least int) error {
	if value < least {
		return cqlerr.Configf("%s must be greater than or equal to %d (got %d)", option, least, value)
	}
	return nil
}

// defaultBloomFilter is the chance of a table that does not say: levels are many, so theirs is higher.
func defaultBloomFilter(compaction map[string]string) float64 {
	if compaction["class"] == compactionPackage+"LeveledCompactionStrategy" {
		return 0.1
	}
	return 0.01
}
