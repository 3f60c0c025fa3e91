package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/protocol/client"
)

// TestKeyColumns uses tables, indexes and views with 1 to 20 key columns: code that has room for a fixed number of
// them fails here. Each view is made of a row that is there and of one that is written later.
func TestKeyColumns(t *testing.T) {
	for _, engine := range []string{"memory", "folder"} {
		t.Run(engine, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			args := []string{"--data", dir}
			if engine == "memory" {
				args = []string{"--memory"}
			}
			log, ended, stop := startServe(t, nil, args...)
			c := dial(t, log.await(t, listening, ended))
			c.query("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
			var all []keyedTable
			for n := 1; n <= 20; n++ {
				for _, partition := range slices.Compact([]int{1, n}) {
					k := keyedTable{columns: n, partition: partition}
					k.create(c)
					all = append(all, k)
				}
			}
			for _, k := range all {
				k.check(c)
			}
			if engine == "memory" {
				return
			}
			if code := stop(); code != 0 {
				t.Fatalf("the server ends with %d:\n%s", code, log)
			}
			log, ended, _ = startServe(t, nil, args...)
			c = dial(t, log.await(t, listening, ended))
			for _, k := range all {
				k.check(c)
			}
		})
	}
}

// queries is a connection whose statements have to succeed.
type queries struct {
	*client.Conn
	t *testing.T
}

func dial(t *testing.T, addr string) queries {
	t.Helper()
	c, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return queries{c, t}
}

// query runs a statement, and returns how many rows it answers.
func (q queries) query(text string) int {
	q.t.Helper()
	r, err := q.Query(q.t.Context(), text, nil, nil)
	if err != nil {
		q.t.Fatalf("%s: %v", text, err)
	}
	return len(r.Rows)
}

// keyedTable is a table with a primary key of so many columns, the first of which are the partition key.
type keyedTable struct{ columns, partition int }

func (k keyedTable) name() string { return fmt.Sprintf("k.t%d_%d", k.columns, k.partition) }

// list is a text for each key column, with its number.
func (k keyedTable) list(format, separator string) string {
	var all []string
	for i := range k.columns {
		all = append(all, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return strings.Join(all, separator)
}

// key is the primary key, without the parentheses around it.
func (k keyedTable) key() string {
	names := strings.Split(k.list("k#", ","), ",")
	return "(" + strings.Join(names[:k.partition], ", ") + ")" + strings.Join(append([]string{""}, names[k.partition:]...), ", ")
}

// create makes the table with its indexes and views and two rows.
func (k keyedTable) create(c queries) {
	c.t.Helper()
	name, keys := k.name(), k.list("k#", ", ")
	c.query(fmt.Sprintf("CREATE TABLE %s (%s, v int, w int, x int, PRIMARY KEY (%s))", name, k.list("k# int", ", "), k.key()))
	insert := fmt.Sprintf("INSERT INTO %s (%s, v, w, x) VALUES (%s, %%[1]d, %%[1]d, %%[1]d)", name, keys, k.list("%[1]d", ", "))
	c.query(fmt.Sprintf(insert, 1))
	c.query("CREATE INDEX ON " + name + " (v)")
	c.query("CREATE INDEX ON " + name + " (w) USING 'sai'")
	if k.columns > 1 {
		c.query("CREATE INDEX ON " + name + fmt.Sprintf(" (k%d)", k.columns-1))
	}
	notNull := k.list("k# IS NOT NULL", " AND ")
	for i, key := range []string{"v, " + keys, "(v, " + keys + ")"} {
		c.query(fmt.Sprintf("CREATE MATERIALIZED VIEW %[1]s_%[2]d AS SELECT * FROM %[1]s WHERE v IS NOT NULL AND %[3]s PRIMARY KEY (%[4]s)",
			name, i, notNull, key))
	}
	c.query(fmt.Sprintf(insert, 2))
}

// check finds each row in every way.
func (k keyedTable) check(c queries) {
	c.t.Helper()
	for row := 1; row <= 2; row++ {
		where := k.list(fmt.Sprintf("k# = %d", row), " AND ")
		for _, text := range []string{
			k.name() + " WHERE " + where,
			k.name() + fmt.Sprintf(" WHERE v = %d", row),
			k.name() + fmt.Sprintf(" WHERE w = %d", row),
			k.name() + fmt.Sprintf(" WHERE k%d = %d ALLOW FILTERING", k.columns-1, row),
			k.name() + fmt.Sprintf("_0 WHERE v = %d AND %s", row, where),
			k.name() + fmt.Sprintf("_1 WHERE v = %d AND %s", row, where),
		} {
			// CREATE waits for a view that is built, but on a busy machine for a limited time.
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
				n := c.query("SELECT * FROM " + text)
				if n == 1 {
					break
				}
				if time.Now().After(end) {
					c.t.Fatalf("%s: %d rows", text, n)
				}
			}
		}
	}
}
