package system

import (
	"crypto/md5"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// particular sets properties of single tables.
var particular = map[string]func(*schema.Table){
	"system.batches":            func(t *schema.Table) { t.Options.Compaction["min_threshold"] = "2" },
	"system.compaction_history": func(t *schema.Table) { t.Options.DefaultTimeToLive = 604800 },
	"system.paxos": func(t *schema.Table) {
		t.Indexes = []*schema.Index{paxosIndex}
		t.Options.Compaction["class"] = "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"
	},
	"system_distributed.parent_repair_history": keepMonth,
	"system_distributed.repair_history":        keepMonth,
	"system_schema.tables":                     func(t *schema.Table) { t.Settable = "extensions" },
	"system_schema.views":                      func(t *schema.Table) { t.Settable = "extensions" },
}

// keepMonth sets the options of the histories of repairs: a month of days.
func keepMonth(t *schema.Table) {
	t.Options.Compaction = map[string]string{
		"class":                  "org.apache.cassandra.db.compaction.TimeWindowCompactionStrategy",
		"compaction_window_size": "1", "compaction_window_unit": "DAYS",
		"min_threshold": "4", "max_threshold": "32",
	}
	t.Options.DefaultTimeToLive = 2592000
}

// keyspaceDeclaration is a keyspace with the common properties of its tables.
type keyspaceDeclaration struct {
	name        string
	replication map[string]string // nil: a virtual keyspace
	tables      string            // as in tables.go

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
	{name: "system_views", tables: viewTables + repairViewTables, firstStoreID: 700},
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

// declarationLine has the name, the partition key, the clustering columns and the comment of a table.
var declarationLine = regexp.MustCompile(`^(\w+) \(([^)]*)\)(?: \(([^)]*)\))? ?(.*)$`)

func (d keyspaceDeclaration) build() *schema.Keyspace {
	k := &schema.Keyspace{
		Name: d.name, DurableWrites: true, Replication: d.replication, Virtual: d.replication == nil,
		Tables: map[string]*schema.Table{},
	}
	var declared []*schema.Table
	var columns []string // that are no keys, of each table
	for line := range strings.SplitSeq(d.tables, "\n") {
		switch own, indented := strings.CutPrefix(line, "\t"); {
		case line == "":
		case indented && strings.HasPrefix(own, "-- "):
			declared[len(declared)-1].Options.Comment = own[len("-- "):]
		case indented:
			columns[len(columns)-1] += " " + own
		default:
			m := declarationLine.FindStringSubmatch(line)
			t := &schema.Table{
				Keyspace: d.name, Name: m[1], ID: nameID(d.name, m[1]), StoreID: d.firstStoreID + uint64(len(declared)),
				Columns: append(parseColumns(m[2], schema.PartitionKey), parseColumns(m[3], schema.Clustering)...),
				Options: schema.DefaultTableOptions(), Virtual: k.Virtual, Writable: d.writable,
			}
			t.Options.Comment, t.Options.GCGraceSeconds, t.Options.MemtableFlushPeriodInMs = m[4], d.gcGrace, d.flushPeriodMs
			declared, columns = append(declared, t), append(columns, "")
		}
	}
	for i, t := range declared {
		t.Columns = append(t.Columns, parseColumns(columns[i], schema.Regular)...)
		if set := particular[d.name+"."+t.Name]; set != nil {
			set(t)
		}
		k.Tables[t.Name] = schema.NewTable(*t)
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

// controlKeyspace is the keyspace of controlTables.
var controlKeyspace = keyspaceDeclaration{
	name: schema.ControlKeyspace, tables: controlTables, firstStoreID: 800, writable: true,
}.build()

// Controls is the keyspace of tables that control a server for tests. It is not among Definitions.
func Controls() *schema.Keyspace { return controlKeyspace }
