package drivers

import (
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/protocol/client"
)

var cassandra = flag.String("cassandra", "", "compare what drivers make of definitions with that of the Cassandra at this address")

// TestGocqlMetadata makes the schemas of compat_tests/schemas on both servers and compares the metadata that gocql
// reads.
func TestGocqlMetadata(t *testing.T) {
	if *cassandra == "" {
		t.Skip("needs -cassandra")
	}
	host, port := address(t)
	ours := connectMetadata(t, net.JoinHostPort(host, strconv.Itoa(port)))
	theirs := connectMetadata(t, *cassandra)
	alike, waiting := 0, 0
	for _, s := range metadataSchemas(t) {
		t.Run(s.keyspace, func(t *testing.T) {
			err := ours.make(t, s)
			if err != nil && strings.Contains(err.Error(), "is not supported by cqld yet") {
				waiting++
				return
			}
			defer theirs.run(t, "DROP KEYSPACE IF EXISTS "+s.keyspace)
			if err != nil || theirs.make(t, s) != nil {
				t.Fatal(err)
			}
			got, want := ours.metadata(t, s), theirs.metadata(t, s)
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("line %d of\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			alike++
		})
	}
	t.Logf("%d schemas alike, %d are not supported yet", alike, waiting)
}

// metadataNode is a server with a connection that makes schemas and a session that looks at them.
type metadataNode struct {
	addr    string
	session *gocql.Session
}

func connectMetadata(t *testing.T, addr string) *metadataNode {
	t.Helper()
	c := gocql.NewCluster(addr)
	c.ProtoVersion, c.NumConns = 4, 1
	c.Timeout, c.ConnectTimeout = 2*time.Minute, 20*time.Second
	s, err := c.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &metadataNode{addr, s}
}

// run runs a statement that has to be taken.
func (n *metadataNode) run(t *testing.T, cql string) {
	t.Helper()
	if err := n.session.Query(cql).Exec(); err != nil {
		t.Fatalf("%s: %v", cql, err)
	}
}

// metadataSchema is a schema of compat_tests/schemas.
type metadataSchema struct {
	keyspace   string // as CQL writes it
	statements []string
}

// metadataMark is a line that says something of a schema.
var metadataMark = regexp.MustCompile(`(?m)^(pending|not fed back): .*\n`)

func metadataSchemas(t *testing.T) (all []metadataSchema) {
	t.Helper()
	paths, err := filepath.Glob("../schemas/testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(content), "\n== ")[1:] {
			title, body, _ := strings.Cut(part, "\n")
			body, _, _ = strings.Cut(body, "\n----\n")
			s := metadataSchema{keyspace: strings.TrimSuffix(title, " internals")}
			for text := range strings.SplitSeq(metadataMark.ReplaceAllString(body, "")+"\n", ";\n") {
				if text = strings.TrimSpace(text); text != "" {
					s.statements = append(s.statements, text)
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// make makes a schema on a connection that uses its keyspace.
func (n *metadataNode) make(t *testing.T, s metadataSchema) error {
	t.Helper()
	first := createKeyspace(s.keyspace)
	if strings.HasPrefix(s.statements[0], "CREATE KEYSPACE") {
		first, s.statements = s.statements[0], s.statements[1:]
	}
	n.run(t, first)
	conn, err := client.Dial(t.Context(), n.addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, cql := range append([]string{"USE " + s.keyspace}, s.statements...) {
		if _, err := conn.Query(t.Context(), cql, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", cql, err)
		}
	}
	return nil
}

// metadata prints gocql's metadata of a schema, without random ids.
func (n *metadataNode) metadata(t *testing.T, s metadataSchema) (lines []string) {
	t.Helper()
	name, quoted := strings.CutPrefix(s.keyspace, `"`)
	if name = strings.TrimSuffix(name, `"`); !quoted {
		name = strings.ToLower(name)
	}
	k, err := n.session.KeyspaceMetadata(name)
	if err != nil {
		t.Fatal(err)
	}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	say("%s %t %s %v", k.Name, k.DurableWrites, k.StrategyClass, k.StrategyOptions)
	for _, name := range slices.Sorted(maps.Keys(k.Tables)) {
		table := k.Tables[name]
		say("table %s %v", name, table.OrderedColumns)
		for _, columns := range [][]*gocql.ColumnMetadata{table.PartitionKey, table.ClusteringColumns} {
			for _, c := range columns {
				say("key %s", c.Name)
			}
		}
		for _, column := range slices.Sorted(maps.Keys(table.Columns)) {
			say("column %+v", *table.Columns[column])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.UserTypes)) {
		say("type %+v", *k.UserTypes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(k.Functions)) {
		say("function %+v", *k.Functions[name])
	}
	for _, name := range slices.Sorted(maps.Keys(k.Aggregates)) {
		say("aggregate %+v", *k.Aggregates[name])
	}
	for _, name := range slices.Sorted(maps.Keys(k.MaterializedViews)) {
		view := *k.MaterializedViews[name]
		base := view.BaseTable
		view.BaseTable, view.BaseTableId, view.Id = nil, gocql.UUID{}, gocql.UUID{}
		say("view %+v of %s", view, base.Name)
	}
	return lines
}
