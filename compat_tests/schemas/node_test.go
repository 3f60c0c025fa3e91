package schemas

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// node is a server that is asked.
type node struct {
	t    *testing.T
	conn *client.Conn
}

// answerTime is how long a statement may take: definitions are slow where other processes are busy.
const answerTime = 2 * time.Minute

func connect(t *testing.T, addr string) *node {
	t.Helper()
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &node{t, conn}
}

func (n *node) run(cql string) (*client.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return n.conn.Query(ctx, cql, nil, nil)
}

// must runs a statement that has to succeed.
func (n *node) must(cql string) *client.Result {
	n.t.Helper()
	r, err := n.run(cql)
	if err != nil {
		n.t.Fatalf("%.300s: %v", cql, err)
	}
	return r
}

// make makes a schema, and tells the first refusal.
func (n *node) make(s *schema) error {
	if !strings.HasPrefix(s.statements[0], "CREATE KEYSPACE") {
		n.must("CREATE KEYSPACE " + s.name + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		n.must("USE " + s.name)
	}
	for i, statement := range s.statements {
		if _, err := n.run(statement); err != nil {
			return fmt.Errorf("%.300s: %w", statement, err)
		}
		if i == 0 {
			n.must("USE " + s.name)
		}
	}
	return nil
}

// drop removes a schema, from a connection that does not use it.
func (n *node) drop(s *schema) { n.must("DROP KEYSPACE IF EXISTS " + s.name) }

// described is the output of DESCRIBE for the schema: kind, name and text of each element.
func (n *node) described(s *schema) string {
	n.t.Helper()
	how := ""
	if s.internals {
		how = " WITH INTERNALS"
	}
	var b strings.Builder
	for _, row := range n.must("DESCRIBE KEYSPACE " + s.name + how).Rows {
		fmt.Fprintf(&b, "-- %s %s\n%s\n", row[1], row[2], row[3])
	}
	return strings.TrimSpace(b.String())
}

// definitionTables are the tables about a keyspace.
var definitionTables = []string{
	"keyspaces", "tables", "columns", "types", "dropped_columns", "indexes", "views", "functions", "aggregates", "triggers",
	"column_masks",
}

// drawn are columns whose values are drawn when a table is made.
var drawn = []string{"id", "base_table_id", "dropped_time"}

// definitions are the rows about the schema, without random ids.
func (n *node) definitions(s *schema) string {
	n.t.Helper()
	own := strings.Trim(s.name, `"`)
	if own == s.name {
		own = strings.ToLower(own)
	}
	var b strings.Builder
	for _, table := range definitionTables {
		r := n.must("SELECT * FROM system_schema." + table + " WHERE keyspace_name = " + types.Text.Format([]byte(own)))
		for _, row := range r.Rows {
			b.WriteString(table)
			for i, v := range row {
				c := r.Columns[i]
				if v != nil && !slices.Contains(drawn, c.Name) {
					b.WriteString(" " + c.Name + " = " + c.Type.Format(v))
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// feed runs the output of DESCRIBE.
func (n *node) feed(described string) error {
	for _, element := range strings.Split("\n"+described, "\n-- ")[1:] {
		_, text, _ := strings.Cut(element, "\n")
		text = strings.ReplaceAll(text, ";\nALTER TABLE ", ";\x00ALTER TABLE ")
		for statement := range strings.SplitSeq(text, "\x00") {
			if _, err := n.run(statement); err != nil {
				return fmt.Errorf("%.300s: %w", statement, err)
			}
		}
	}
	return nil
}
