package system

import (
	"crypto/md5"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// declaration is a table as the files of this package declare it. Columns are names and types with commas between
// them. Stored cells name a column by its place, so a new column goes to the end.
type declaration struct {
	name, comment            string
	key, clustering, columns string
	options                  func(*schema.TableOptions) // differences from the rest of the keyspace
	index                    *schema.Index
	settable                 string // the one column that UPDATE may set
}

// Compaction strategies that some tables have.
const (
	leveled    = "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"
	timeWindow = "org.apache.cassandra.db.compaction.TimeWindowCompactionStrategy"
)

// keyspaceDeclaration is a keyspace with the common properties of its tables.
type keyspaceDeclaration struct {
	name        string
	replication map[string]string // nil: a virtual keyspace
	tables      []declaration

	// firstStoreID is the number in the store of the first table; the others follow. All are below
	// schema.FirstUserStoreID, and a table keeps its number for ever, so a new one goes to the end.
	firstStoreID  uint64
	writable      bool // statements may write to its virtual tables
	gcGrace       int
	flushPeriodMs int
}

func local() map[string]string {
	return map[string]string{"class": "org.apache.cassandra.locator.LocalStrategy"}
}

func simple(factor string) map[string]string {
	return map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": factor}
}

// keyspaces has all keyspaces of the server.
var keyspaces = buildAll([]keyspaceDeclaration{
	{
		name: "system", replication: local(), tables: systemTables,
		firstStoreID: 400, flushPeriodMs: 3600000,
	},
	{
		name: "system_schema", replication: local(), tables: schemaTables,
		firstStoreID: 500, gcGrace: 604800, flushPeriodMs: 3600000,
	},
	{name: "system_auth", replication: simple("1"), tables: authTables, firstStoreID: 200, gcGrace: 7776000},
	{
		name: "system_distributed", replication: simple("3"), tables: distributedTables,
		firstStoreID: 300, gcGrace: 864000,
	},
	{name: "system_traces", replication: simple("2"), tables: traceTables, firstStoreID: 100},
	{name: "system_virtual_schema", tables: virtualSchemaTables, firstStoreID: 600},
	{name: "system_views", tables: slices.Concat(viewTables, repairViewTables), firstStoreID: 700},
})

// Definitions are the keyspaces that come with the server, for schema.New and schema.Decode.
func Definitions() []*schema.Keyspace { return slices.Clone(keyspaces) }

// table returns a table of the server by its names.
func table(keyspace, name string) *schema.Table {
	for _, k := range keyspaces {
		if t := k.Tables[name]; k.Name == keyspace && t != nil {
			return t
		}
	}
	panic(fmt.Sprintf("no table %s.%s is declared", keyspace, name))
}

func buildAll(declarations []keyspaceDeclaration) []*schema.Keyspace {
	built := make([]*schema.Keyspace, len(declarations))
	for i, d := range declarations {
		built[i] = d.build()
	}
	return built
}

func (d keyspaceDeclaration) build() *schema.Keyspace {
	k := &schema.Keyspace{
		Name: d.name, DurableWrites: true, Replication: d.replication, Virtual: d.replication == nil,
		Tables: make(map[string]*schema.Table, len(d.tables)),
	}
	for i, t := range d.tables {
		options := schema.DefaultTableOptions()
		options.Comment = t.comment
		options.GCGraceSeconds = d.gcGrace
		options.MemtableFlushPeriodInMs = d.flushPeriodMs
		if t.options != nil {
			t.options(&options)
		}
		columns := parseColumns(t.key, schema.PartitionKey)
		columns = append(columns, parseColumns(t.clustering, schema.Clustering)...)
		columns = append(columns, parseColumns(t.columns, schema.Regular)...)
		var indexes []*schema.Index
		if t.index != nil {
			indexes = append(indexes, t.index)
		}
		k.Tables[t.name] = schema.NewTable(schema.Table{
			Keyspace: d.name, Name: t.name, ID: nameID(d.name, t.name), StoreID: d.firstStoreID + uint64(i),
			Columns: columns, Options: options, Virtual: k.Virtual, Writable: d.writable,
			Settable: t.settable, Indexes: indexes,
		})
	}
	return k
}

// nameID is the id of a table that is the same on every node: an MD5 UUID of its names.
func nameID(keyspace, name string) [16]byte {
	id := md5.Sum([]byte(keyspace + name))
	id[6] = id[6]&0x0f | 0x30
	id[8] = id[8]&0x3f | 0x80
	return id
}

// parseColumns reads names and types: a int, b frozen<list<text>>.
func parseColumns(text string, kind schema.ColumnKind) []*schema.Column {
	var columns []*schema.Column
	for _, item := range splitTypes(text) {
		name, typeText, ok := strings.Cut(item, " ")
		if !ok {
			panic(fmt.Sprintf("column %q has no type", item))
		}
		columns = append(columns, &schema.Column{Name: name, Type: parseType(strings.TrimSpace(typeText), false), Kind: kind})
	}
	return columns
}

// splitTypes splits at the commas that are not inside angle brackets.
func splitTypes(text string) []string {
	var items []string
	depth, start := 0, 0
	for i, r := range text + "," {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth > 0 {
				continue
			}
			if item := strings.TrimSpace(text[start:i]); item != "" {
				items = append(items, item)
			}
			start = i + 1
		}
	}
	return items
}

// parseType reads a type as system_schema shows it. Types are all declared here, so a mistake is a panic
// when the program starts.
func parseType(text string, frozen bool) types.Type {
	name, inner, parametrized := strings.Cut(text, "<")
	if !parametrized {
		t, ok := types.Native(name)
		if !ok {
			panic(fmt.Sprintf("no type %q", text))
		}
		return t
	}
	args := splitTypes(strings.TrimSuffix(inner, ">"))
	if name == "frozen" {
		return parseType(args[0], true)
	}
	elems := make([]types.Type, len(args))
	for i, arg := range args {
		elems[i] = parseType(arg, false)
	}
	switch name {
	case "list":
		return &types.List{Elem: elems[0], Frozen: frozen}
	case "set":
		return &types.Set{Elem: elems[0], Frozen: frozen}
	case "map":
		return &types.Map{Key: elems[0], Value: elems[1], Frozen: frozen}
	case "tuple":
		return &types.Tuple{Elems: elems}
	}
	panic(fmt.Sprintf("no type %q", text))
}
