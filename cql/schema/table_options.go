package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
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

func atLeast(option string, value, minimum int) error {
	if value < minimum {
		return cqlerr.Configf("%s must be greater than or equal to %d (got %d)", option, minimum, value)
	}
	return nil
}

// defaultBloomFilter is bloom_filter_fp_chance where the clause does not give it; it is higher for the many tables of
// levels.
func defaultBloomFilter(compaction map[string]string) float64 {
	if compaction["class"] == compactionPackage+"LeveledCompactionStrategy" {
		return 0.1
	}
	return 0.01
}

// tableProperty is one option of the WITH clause: how its value is read into the options.
type tableProperty struct {
	name string
	read func(o *TableOptions, p Property) error
}

// property reads an option into a field of TableOptions.
func property[T any](name string, read func(Property) (T, error), field func(*TableOptions) *T) tableProperty {
	return tableProperty{name, func(o *TableOptions, p Property) error {
		value, err := read(p)
		if err == nil {
			*field(o) = value
		}
		return err
	}}
}

// tableProperties are in the order in which Cassandra reads them, which decides the error of a clause
// with several mistakes. extensions is accepted and ignored, whatever its value, and id is read by TableID.
var tableProperties = []tableProperty{
	property("allow_auto_snapshot", Property.boolean, func(o *TableOptions) *bool { return &o.AllowAutoSnapshot }),
	property("bloom_filter_fp_chance", Property.double, func(o *TableOptions) *float64 { return &o.BloomFilterFPChance }),
	property("caching", mapped(parseCaching), func(o *TableOptions) *map[string]string { return &o.Caching }),
	property("comment", Property.text, func(o *TableOptions) *string { return &o.Comment }),
	property("compaction", mapped(parseCompaction), func(o *TableOptions) *map[string]string { return &o.Compaction }),
	property("compression", mapped(parseCompression), func(o *TableOptions) *map[string]string { return &o.Compression }),
	property("memtable", readMemtable, func(o *TableOptions) *string { return &o.Memtable }),
	property("default_time_to_live", Property.integer, func(o *TableOptions) *int { return &o.DefaultTimeToLive }),
	property("gc_grace_seconds", Property.integer, func(o *TableOptions) *int { return &o.GCGraceSeconds }),
	property("incremental_backups", Property.boolean, func(o *TableOptions) *bool { return &o.IncrementalBackups }),
	property("max_index_interval", Property.integer, func(o *TableOptions) *int { return &o.MaxIndexInterval }),
	property("memtable_flush_period_in_ms", Property.integer,
		func(o *TableOptions) *int { return &o.MemtableFlushPeriodInMs }),
	property("min_index_interval", Property.integer, func(o *TableOptions) *int { return &o.MinIndexInterval }),
	property("speculative_retry", readSpeculativeRetry, func(o *TableOptions) *string { return &o.SpeculativeRetry }),
	property("additional_write_policy", readSpeculativeRetry,
		func(o *TableOptions) *string { return &o.AdditionalWritePolicy }),
	property("crc_check_chance", Property.double, func(o *TableOptions) *float64 { return &o.CRCCheckChance }),
	property("cdc", Property.boolean, func(o *TableOptions) *bool { return &o.CDC }),
	property("read_repair", readReadRepair, func(o *TableOptions) *string { return &o.ReadRepair }),
	{"extensions", nil},
	{"id", nil},
}

// ParseTableOptions reads the properties of a WITH clause over base. Values that do not have the option's form are
// refused; Cassandra does this before it knows whether keyspace and table exist. Unknown names are left to
// CheckTableProperties, values out of range to Validate.
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

// AlterTableOptions reads the properties of a WITH clause that changes a table. bloom_filter_fp_chance does not
// follow the compaction strategy then.
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

// readMemtable accepts the one memtable configuration of Cassandra's default settings.
func readMemtable(p Property) (string, error) {
	s, err := p.text()
	if err == nil && s != "default" {
		err = cqlerr.Configf(`Memtable configuration "%s" not found.`, s)
	}
	return s, err
}

func readReadRepair(p Property) (string, error) {
	s, err := p.text()
	upper := strings.ToUpper(s)
	if err == nil && upper != "BLOCKING" && upper != "NONE" {
		err = cqlerr.Configf("Invalid value '%s' for read_repair: only 'BLOCKING' and 'NONE' are allowed", s)
	}
	return upper, err
}

// mapped reads a property whose value is a map of sub-options.
func mapped(parse func(map[string]string) (map[string]string, error)) func(Property) (map[string]string, error) {
	return func(p Property) (map[string]string, error) {
		m, err := p.mapping()
		if err != nil {
			return nil, err
		}
		return parse(m)
	}
}

// Property is one name = value of a WITH clause, with every literal as its text: 'x' is x, 1.0 is 1.0.
type Property struct {
	Name string
	Text string            // of a literal
	Map  map[string]string // of a map, even an empty one; nil for a literal
}

// text is the value of a property that is not a map.
func (p Property) text() (string, error) {
	if p.Map != nil {
		return "", cqlerr.Syntaxf("Invalid value for property '%s'. It should be a string", p.Name)
	}
	return p.Text, nil
}

// mapping is the value of a property that is a map.
func (p Property) mapping() (map[string]string, error) {
	if p.Map == nil {
		return nil, NotAMap(p.Name)
	}
	return p.Map, nil
}

func (p Property) boolean() (bool, error) {
	s, err := p.text()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(s) {
	case "1", "true", "yes":
		return true, nil
	case "0", "false", "no":
		return false, nil
	}
	return false, cqlerr.Syntaxf("Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or "+
		"'yes'. Negative values can be '0', 'false' or 'no'.", s, p.Name)
}

func (p Property) integer() (int, error) {
	s, err := p.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, cqlerr.Syntaxf("Invalid integer value %s for '%s'", s, p.Name)
	}
	return int(n), nil
}

func (p Property) double() (float64, error) {
	s, err := p.text()
	if err != nil {
		return 0, err
	}
	f, ok := javafloat.ParseJava(s)
	if !ok {
		return 0, cqlerr.Syntaxf("Invalid double value %s for '%s'", s, p.Name)
	}
	return f, nil
}

// NotAMap refuses a value of a property that should be a map.
func NotAMap(name string) error {
	return cqlerr.Syntaxf("Invalid value for property '%s'. It should be a map.", name)
}

// UnknownProperty refuses a property that no rule knows.
func UnknownProperty(name string) error { return cqlerr.Syntaxf("Unknown property '%s'", name) }

// parseJavaInt reads a 32 bit integer as Java's Integer.parseInt does.
func parseJavaInt(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// isNumeric reports whether s is digits only, and some.
func isNumeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isJavaSpace reports whether Java's String.trim removes r.
func isJavaSpace(r rune) bool { return r <= ' ' }

// parseCaching reads the caching map. A missing sub-option is NONE.
func parseCaching(m map[string]string) (map[string]string, error) {
	if unknown := unknownKeys(m, "keys", "rows_per_partition"); len(unknown) > 0 {
		return nil, cqlerr.Configf("Invalid caching sub-options %s: only 'keys' and 'rows_per_partition' are allowed",
			HashSet(unknown))
	}
	caching := map[string]string{"keys": "NONE", "rows_per_partition": "NONE"}
	if keys, ok := m["keys"]; ok {
		caching["keys"] = strings.ToUpper(keys)
		if caching["keys"] != "ALL" && caching["keys"] != "NONE" {
			return nil, cqlerr.Configf("Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
				keys)
		}
	}
	if rows, ok := m["rows_per_partition"]; ok {
		r, err := parseRowsPerPartition(rows)
		if err != nil {
			return nil, err
		}
		caching["rows_per_partition"] = r
	}
	return caching, nil
}

// parseRowsPerPartition prints zero rows as NONE and the most as ALL.
func parseRowsPerPartition(s string) (string, error) {
	switch upper := strings.ToUpper(s); upper {
	case "ALL", "NONE":
		return upper, nil
	}
	if !isNumeric(s) {
		return "", cqlerr.Configf("Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', "+
			"'NONE', and integer values are allowed", s)
	}
	n, ok := parseJavaInt(s)
	switch {
	case !ok:
		return "", outOfRange("rows_per_partition", s)
	case n == 0:
		return "NONE", nil
	case n == 1<<31-1:
		return "ALL", nil
	}
	return strconv.Itoa(n), nil
}

// outOfRange refuses a sub-option whose digits are too many for 32 bits, which Cassandra does not expect.
func outOfRange(key, digits string) error {
	return cqlerr.Configf("The value of '%s' is out of range: %s", key, digits)
}

// unknownKeys returns the keys of m that are not among known, by name.
func unknownKeys(m map[string]string, known ...string) []string {
	var unknown []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, k) {
			unknown = append(unknown, k)
		}
	}
	return unknown
}
