package advise

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/model"
)

// Schema has the tables of a server.
type Schema struct {
	Keyspaces []model.Keyspace
	Tables    []*Table // and views
	Peers     []Peer   // the other nodes of the cluster
}

// Peer is another node of the cluster.
type Peer struct{ Datacenter string }

// Table is a table or view, with its options and measured sizes.
type Table struct {
	*model.Table
	Settings  model.Settings
	Partition int64    // bytes of the largest partition that was measured; 0: not measured
	Dead      float64  // 99th percentile of tombstones in one read; 0: not measured
	Samples   []Sample // of columns with an index
}

// Sample is how many values a column has in some rows.
type Sample struct {
	Column         string
	Rows, Distinct int
}

// FullName is the name with its keyspace, as findings have it.
func (t *Table) FullName() string { return t.Keyspace + "." + t.Name }

// CQLName is the name with its keyspace, as statements have it.
func (t *Table) CQLName() string { return quote.Name(t.Keyspace) + "." + quote.Name(t.Name) }

// table returns the table with a full name, or nil.
func (s *Schema) table(fullName string) *Table {
	for _, t := range s.Tables {
		if t.FullName() == fullName {
			return t
		}
	}
	return nil
}

// named returns the only table with a name, or nil.
func (s *Schema) named(name string) (found *Table) {
	for _, t := range s.Tables {
		if t.Name == name {
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}

// readSchema reads the schema of one keyspace or of all.
func readSchema(ctx context.Context, query model.Query, only string) (*Schema, error) {
	all, err := model.Keyspaces(ctx, query)
	if err != nil {
		return nil, err
	}
	s := &Schema{}
	for _, k := range all {
		if only != "" && k.Name != only {
			continue
		}
		s.Keyspaces = append(s.Keyspaces, k)
		tables, err := model.Tables(ctx, query, k.Name, "")
		if err != nil {
			return nil, err
		}
		settings, err := model.TableSettings(ctx, query, k.Name)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			s.Tables = append(s.Tables, &Table{Table: t, Settings: settings[t.Name]})
		}
	}
	slices.SortFunc(s.Tables, func(a, b *Table) int { return strings.Compare(a.FullName(), b.FullName()) })
	return s, s.measure(ctx, query)
}

// measure reads the nodes, sizes and samples. A server that lacks or refuses one of them has none.
func (s *Schema) measure(ctx context.Context, query model.Query) error {
	peers, err := optional(query(ctx, "SELECT data_center FROM system.peers"))
	if err != nil {
		return err
	}
	for row := range model.Records(peers) {
		s.Peers = append(s.Peers, Peer{row.Text("data_center")})
	}
	sizes, err := optional(query(ctx, "SELECT keyspace_name, table_name, mebibytes FROM system_views.max_partition_size"))
	if err != nil {
		return err
	}
	for row := range model.Records(sizes) {
		if t := s.table(row.Text("keyspace_name") + "." + row.Text("table_name")); t != nil {
			t.Partition = row.Number("mebibytes") << 20
		}
	}
	dead, err := optional(query(ctx, "SELECT keyspace_name, table_name, p99th FROM system_views.tombstones_per_read"))
	if err != nil {
		return err
	}
	for row := range model.Records(dead) {
		if b, _ := row.Value("p99th"); len(b) == 8 {
			if t := s.table(row.Text("keyspace_name") + "." + row.Text("table_name")); t != nil {
				t.Dead = types.DecodeDouble(b)
			}
		}
	}
	for _, t := range s.Tables {
		if err := t.sample(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// sampleEnd ends a query of a sample. Its comment marks it among recorded statements.
const sampleEnd = " LIMIT 1000 /* sample of cqld advise */"

// sample counts the distinct values of columns with an index of the first kind, in the first rows of the table.
func (t *Table) sample(ctx context.Context, query model.Query) error {
	for _, c := range t.Columns {
		if !isLegacy(c) {
			continue
		}
		r, err := optional(query(ctx, "SELECT "+quote.Name(c.Name)+" FROM "+t.CQLName()+sampleEnd))
		if err != nil {
			return err
		}
		s, seen := Sample{Column: c.Name}, map[string]bool{}
		for row := range model.Records(r) {
			if b, _ := row.Value(c.Name); b != nil {
				s.Rows++
				seen[string(b)] = true
			}
		}
		s.Distinct = len(seen)
		t.Samples = append(t.Samples, s)
	}
	return nil
}

// optional is the result of a query that a server may refuse.
func optional(r *client.Result, err error) (*client.Result, error) {
	if _, fromServer := cqlerr.As(err); fromServer {
		return nil, nil
	}
	return r, err
}

// isLegacy reports whether a column has an index of the first kind.
func isLegacy(c model.Column) bool { return c.IndexKind == "COMPOSITES" || c.IndexKind == "KEYS" }

// isCounterTable reports whether the table has counters.
func (t *Table) isCounterTable() bool {
	return slices.ContainsFunc(t.Columns, func(c model.Column) bool { return c.Type == "counter" })
}

// isMoment reports whether a type has points in time, by which clients order events.
func isMoment(typ string) bool { return typ == "timestamp" || typ == "timeuuid" }

// isTimeSeries reports whether the rows of a partition are in the order of time.
func (t *Table) isTimeSeries() bool {
	clustering := t.OfKind("clustering")
	return len(clustering) > 0 && isMoment(clustering[0].Type)
}

// bucketWords matches the names of columns that split partitions.
var bucketWords = []string{
	"bucket", "shard", "slot", "window", "period", "partition", "epoch", "year", "quarter", "month", "week", "day",
	"date", "hour", "minute", "yyyy", "yyyymm", "yyyymmdd", "part", "chunk", "page", "segment", "block", "interval",
}

// isBucket reports whether a column of the partition key seems to split partitions: by its type, or a word in its name.
func isBucket(c model.Column) bool {
	return c.Type == "date" || c.Type == "timestamp" || hasWord(c, bucketWords)
}

// hasWord reports whether the name of a column has one of the words, which underscores and digits separate.
func hasWord(c model.Column, words []string) bool {
	separates := func(r rune) bool { return r == '_' || r >= '0' && r <= '9' }
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(c.Name), separates), func(word string) bool {
		return slices.Contains(words, word)
	})
}

// hasBucket reports whether a column of the partition key splits partitions.
func (t *Table) hasBucket() bool { return slices.ContainsFunc(t.OfKind("partition_key"), isBucket) }

// usesTWCS reports whether the table has time windows.
func (t *Table) usesTWCS() bool {
	return strings.HasSuffix(t.Settings.Compaction["class"], "TimeWindowCompactionStrategy")
}

// isCollection reports whether a type is a collection whose elements are stored as cells.
func isCollection(typ string) bool {
	return slices.Contains([]string{"list", "set", "map"}, baseType(typ))
}

// baseType is the word before the parameters of a type.
func baseType(typ string) string {
	before, _, _ := strings.Cut(typ, "<")
	return before
}

// elementTypes are the parameters of a type.
func elementTypes(typ string) (all []string) {
	_, inner, ok := strings.Cut(typ, "<")
	if !ok {
		return nil
	}
	inner = strings.TrimSuffix(inner, ">")
	depth, from := 0, 0
	for i, r := range inner {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(inner[from:i]))
				from = i + 1
			}
		}
	}
	return append(all, strings.TrimSpace(inner[from:]))
}

// ignoreWords finds the names of rules after cqld:ignore, which commas separate.
func ignoreWords() *regexp.Regexp {
	return regexp.MustCompile(`cqld:ignore\s+([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)`)
}

// ignored returns the names of rules that a comment ignores.
func ignored(comment string) (names []string) {
	if !strings.Contains(comment, "cqld:ignore") {
		return nil
	}
	for _, m := range ignoreWords().FindAllStringSubmatch(comment, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
