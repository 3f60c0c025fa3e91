package schema

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/javafloat"
)

// CQL is the statement that makes the keyspace, as DESCRIBE shows it.
func (k *Keyspace) CQL() string {
	name := quote.Name(k.Name)
	if k.Virtual {
		return "/*\nWarning: Keyspace " + name + " is a virtual keyspace and cannot be recreated with CQL.\n" +
			"Structure, for reference:\nVIRTUAL KEYSPACE " + name + ";\n*/"
	}
	replication := maps.Clone(k.Replication)
	replication["class"] = strings.TrimPrefix(replication["class"], locatorPackage)
	return fmt.Sprintf("CREATE KEYSPACE %s WITH replication = %s  AND durable_writes = %t;",
		name, formatMap(replication), k.DurableWrites)
}

// CQL is the statement that makes the table, as DESCRIBE shows it; internals adds its id.
func (t *Table) CQL(internals bool) string {
	if t.View != nil {
		return t.viewCQL(internals)
	}
	name := quote.Name(t.Keyspace) + "." + quote.Name(t.Name)
	var b strings.Builder
	if t.Compact != NotCompact {
		b.WriteString("/*\nWarning: Table " + name +
			" omitted because it has constructs not compatible with CQL (was created via " +
			"legacy API).\nApproximate structure, for reference:\n(this should not be used to reproduce this schema)\n\n")
	}
	if t.Virtual {
		b.WriteString("/*\nWarning: Table " + name + " is a virtual table and cannot be recreated with CQL.\n" +
			"Structure, for reference:\nVIRTUAL TABLE ")
	} else {
		b.WriteString("CREATE TABLE ")
	}
	b.WriteString(name + " (\n    ")
	b.WriteString(strings.Join(t.describeColumns(internals), ",\n    "))
	b.WriteString("\n) WITH ")
	b.WriteString(strings.Join(t.describeOptions(internals), "\n    AND "))
	b.WriteString(";")
	if t.Virtual {
		b.WriteString("\n*/")
	}
	if internals {
		b.WriteString(t.describeDropped(name))
	}
	if t.Compact != NotCompact {
		b.WriteString("\n*/")
	}
	return b.String()
}

// describeColumns returns the definitions between the parentheses of CREATE TABLE. With internals, dropped columns
// come last, also if they were added again; describeDropped adds those.
func (t *Table) describeColumns(internals bool) []string {
	simpleKey := len(t.PartitionKey) == 1 && len(t.Clustering) == 0
	var lines []string
	for _, c := range t.InCreateOrder() {
		if internals && t.DroppedColumn(c.Name) != nil {
			continue
		}
		if t.hides(c) {
			continue
		}
		if t.Compact == CompactStatic && c.Kind == Static {
			declared := *c
			declared.Kind, c = Regular, &declared
		}
		line := c.definition()
		if c.Kind == PartitionKey && simpleKey {
			line += " PRIMARY KEY"
		}
		lines = append(lines, line)
	}
	if internals {
		for _, d := range t.Dropped {
			lines = append(lines, d.definition())
		}
	}
	if simpleKey {
		return lines
	}
	return append(lines, t.describeKey())
}

// describeKey is the PRIMARY KEY clause.
func (t *Table) describeKey() string {
	partition := quoteNames(t.PartitionKey)
	if len(t.PartitionKey) > 1 {
		partition = "(" + partition + ")"
	}
	if len(t.Clustering) > 0 && t.Compact != CompactStatic {
		partition += ", " + quoteNames(t.Clustering)
	}
	return "PRIMARY KEY (" + partition + ")"
}

// definition is the column as CREATE TABLE has it.
func (c *Column) definition() string {
	text := quote.Name(c.Name) + " " + c.Type.String()
	if c.Kind == Static {
		text += " static"
	}
	if c.Mask != nil {
		text += " MASKED WITH " + c.Mask.String()
	}
	return text
}

// describeDropped has the statements that drop columns, and add those again that there are again.
func (t *Table) describeDropped(name string) string {
	var b strings.Builder
	for _, d := range t.Dropped {
		fmt.Fprintf(&b, "\nALTER TABLE %s DROP %s USING TIMESTAMP %d;", name, quote.Name(d.Name), d.Time)
		if c := t.Column(d.Name); c != nil {
			fmt.Fprintf(&b, "\nALTER TABLE %s ADD %s;", name, c.definition())
		}
	}
	return b.String()
}

// InCreateOrder returns the columns as DESCRIBE shows them: multi-cell columns come after the others of their kind.
func (t *Table) InCreateOrder() []*Column {
	return slices.Concat(t.PartitionKey, t.Clustering, simpleFirst(t.Static), simpleFirst(t.Regular))
}

func simpleFirst(columns []*Column) []*Column {
	sorted := slices.Clone(columns)
	slices.SortStableFunc(sorted, func(a, b *Column) int {
		switch multiA, multiB := types.IsMultiCell(a.Type), types.IsMultiCell(b.Type); {
		case multiA == multiB:
			return 0
		case multiB:
			return -1
		}
		return 1
	})
	return sorted
}

func quoteNames(columns []*Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quote.Name(c.Name)
	}
	return strings.Join(names, ", ")
}

// describeOptions returns the items of the WITH clause.
func (t *Table) describeOptions(internals bool) []string {
	var items []string
	if t.Compact != NotCompact {
		items = append(items, "COMPACT STORAGE")
	}
	if internals {
		items = append(items, "ID = "+formatUUID(t.ID))
	}
	if len(t.Clustering) > 0 {
		order := make([]string, len(t.Clustering))
		for i, c := range t.Clustering {
			order[i] = quote.Name(c.Name) + " ASC"
			if c.Desc {
				order[i] = quote.Name(c.Name) + " DESC"
			}
		}
		items = append(items, "CLUSTERING ORDER BY ("+strings.Join(order, ", ")+")")
	}
	if t.Virtual {
		return append(items, "comment = "+quote.Text(t.Options.Comment))
	}
	o := t.Options
	for _, item := range []struct{ name, value string }{
		{"additional_write_policy", quote.Text(o.AdditionalWritePolicy)},
		{"allow_auto_snapshot", strconv.FormatBool(o.AllowAutoSnapshot)},
		{"bloom_filter_fp_chance", javafloat.Format(o.BloomFilterFPChance, 64)},
		{"caching", formatMap(o.Caching)},
		{"cdc", strconv.FormatBool(o.CDC)},
		{"comment", quote.Text(o.Comment)},
		{"compaction", formatMap(o.Compaction)},
		{"compression", formatMap(o.Compression)},
		{"memtable", quote.Text(o.Memtable)},
		{"crc_check_chance", javafloat.Format(o.CRCCheckChance, 64)},
		{"default_time_to_live", strconv.Itoa(o.DefaultTimeToLive)},
		{"extensions", formatExtensions(o.Extensions)},
		{"gc_grace_seconds", strconv.Itoa(o.GCGraceSeconds)},
		{"incremental_backups", strconv.FormatBool(o.IncrementalBackups)},
		{"max_index_interval", strconv.Itoa(o.MaxIndexInterval)},
		{"memtable_flush_period_in_ms", strconv.Itoa(o.MemtableFlushPeriodInMs)},
		{"min_index_interval", strconv.Itoa(o.MinIndexInterval)},
		{"read_repair", quote.Text(o.ReadRepair)},
		{"speculative_retry", quote.Text(o.SpeculativeRetry)},
	} {
		if t.View == nil || item.name != "default_time_to_live" { // a view's cells expire when the base table's do
			items = append(items, item.name+" = "+item.value)
		}
	}
	return items
}

// formatMap prints a map literal by key.
func formatMap(m map[string]string) string {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		items = append(items, quote.Text(k)+": "+quote.Text(m[k]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

func formatExtensions(m map[string][]byte) string {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		items = append(items, quote.Text(k)+": 0x"+hex.EncodeToString(m[k]))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

func formatUUID(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
