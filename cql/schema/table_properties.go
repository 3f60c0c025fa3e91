package schema

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// tableProperty is one option of the WITH clause: how its value is read into the options.
type tableProperty struct {
	name string
	read func(o *TableOptions, p Property) error
}

// tableProperties are in the order in which Cassandra reads them, which decides the error of a clause
// that has several. extensions is accepted and ignored, whatever its value, and id is read by TableID.
var tableProperties = []tableProperty{
	{"allow_auto_snapshot", func(o *TableOptions, p Property) (err error) {
		o.AllowAutoSnapshot, err = p.boolean()
		return err
	}},
	{"bloom_filter_fp_chance", func(o *TableOptions, p Property) (err error) {
		o.BloomFilterFPChance, err = p.double()
		return err
	}},
	{"caching", readCaching},
	{"comment", func(o *TableOptions, p Property) (err error) {
		o.Comment, err = p.text()
		return err
	}},
	{"compaction", readCompaction},
	{"compression", readCompression},
	{"memtable", readMemtable},
	{"default_time_to_live", func(o *TableOptions, p Property) (err error) {
		o.DefaultTimeToLive, err = p.integer()
		return err
	}},
	{"gc_grace_seconds", func(o *TableOptions, p Property) (err error) {
		o.GCGraceSeconds, err = p.integer()
		return err
	}},
	{"incremental_backups", func(o *TableOptions, p Property) (err error) {
		o.IncrementalBackups, err = p.boolean()
		return err
	}},
	{"max_index_interval", func(o *TableOptions, p Property) (err error) {
		o.MaxIndexInterval, err = p.integer()
		return err
	}},
	{"memtable_flush_period_in_ms", func(o *TableOptions, p Property) (err error) {
		o.MemtableFlushPeriodInMs, err = p.integer()
		return err
	}},
	{"min_index_interval", func(o *TableOptions, p Property) (err error) {
		o.MinIndexInterval, err = p.integer()
		return err
	}},
	{"speculative_retry", func(o *TableOptions, p Property) (err error) {
		o.SpeculativeRetry, err = readSpeculativeRetry(p)
		return err
	}},
	{"additional_write_policy", func(o *TableOptions, p Property) (err error) {
		o.AdditionalWritePolicy, err = readSpeculativeRetry(p)
		return err
	}},
	{"crc_check_chance", func(o *TableOptions, p Property) (err error) {
		o.CRCCheckChance, err = p.double()
		return err
	}},
	{"cdc", func(o *TableOptions, p Property) (err error) {
		o.CDC, err = p.boolean()
		return err
	}},
	{"read_repair", readReadRepair},
	{"extensions", nil},
	{"id", nil},
}

// ParseTableOptions reads the properties of a WITH clause over base. Values that do not have the option's
// form are refused; Cassandra does this before it knows whether keyspace and table exist. Names it does
// not know are for CheckTableProperties, what a value may not be for Validate.
func ParseTableOptions(base TableOptions, props []Property) (TableOptions, error) {
	o := base
	given := make(map[string]Property, len(props))
	for _, p := range props {
		given[p.Name] = p
	}
	for _, t := range tableProperties {
		p, ok := given[t.name]
		if !ok || t.read == nil {
			continue
		}
		if err := t.read(&o, p); err != nil {
			return o, err
		}
	}
	_, chosen := given["bloom_filter_fp_chance"]
	if o.BloomFilterFPChance == -1 || !chosen && given["compaction"].Map != nil {
		o.BloomFilterFPChance = defaultBloomFilter(o.Compaction)
	}
	return o, nil
}

// AlterTableOptions reads the properties of a WITH clause that changes a table. What a Bloom filter is to reach does
// not follow the compaction then.
func AlterTableOptions(old TableOptions, props []Property) (TableOptions, error) {
	o, err := ParseTableOptions(old, props)
	if !slices.ContainsFunc(props, func(p Property) bool { return p.Name == "bloom_filter_fp_chance" }) {
		o.BloomFilterFPChance = old.BloomFilterFPChance
	}
	return o, err
}

// CheckTableProperties refuses a property that tables do not have, once the table may be created.
func CheckTableProperties(props []Property) error {
	return checkKnown(props, IsTableProperty)
}

// IsTableProperty reports whether tables have a property of that name.
func IsTableProperty(name string) bool {
	return slices.ContainsFunc(tableProperties, func(t tableProperty) bool { return t.name == name })
}

// checkKnown refuses the first property that is not known, in the order of a Java hash map.
func checkKnown(props []Property, known func(string) bool) error {
	names := make([]string, len(props))
	for i, p := range props {
		names[i] = p.Name
	}
	for _, name := range hashOrder(names) {
		if !known(name) {
			return UnknownProperty(name)
		}
	}
	return nil
}

// TableID returns the id that a WITH clause chooses for a table, if it does. Cassandra reads it after the
// columns have been judged.
func TableID(props []Property) (id [16]byte, given bool, err error) {
	for _, p := range props {
		if p.Name != "id" {
			continue
		}
		s, err := p.text()
		if err != nil {
			return id, true, err
		}
		id, ok := types.ParseJavaUUID(s)
		if !ok {
			return id, true, cqlerr.Configf("Invalid table id")
		}
		return id, true, nil
	}
	return id, false, nil
}

// readMemtable knows the one memtable configuration of Cassandra's default settings.
func readMemtable(o *TableOptions, p Property) error {
	s, err := p.text()
	if err != nil {
		return err
	}
	if s != "default" {
		return cqlerr.Configf(`Memtable configuration "%s" not found.`, s)
	}
	o.Memtable = s
	return nil
}

func readReadRepair(o *TableOptions, p Property) error {
	s, err := p.text()
	if err != nil {
		return err
	}
	upper := strings.ToUpper(s)
	if upper != "BLOCKING" && upper != "NONE" {
		return cqlerr.Configf("Invalid value '%s' for read_repair: only 'BLOCKING' and 'NONE' are allowed", s)
	}
	o.ReadRepair = upper
	return nil
}

// readCaching takes a missing sub-option for NONE once the map is given.
func readCaching(o *TableOptions, p Property) error {
	m, err := p.mapping()
	if err != nil {
		return err
	}
	o.Caching, err = parseCaching(m)
	return err
}

func readCompaction(o *TableOptions, p Property) error {
	m, err := p.mapping()
	if err != nil {
		return err
	}
	o.Compaction, err = parseCompaction(m)
	return err
}

func readCompression(o *TableOptions, p Property) error {
	m, err := p.mapping()
	if err != nil {
		return err
	}
	o.Compression, err = parseCompression(m)
	return err
}
