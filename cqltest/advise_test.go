package cqltest_test

import (
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// reported keeps what Advise reports of a test.
type reported struct {
	testing.TB
	errors, logs []string
}

func (r *reported) Helper() {}

func (r *reported) Error(a ...any) {
	r.errors = append(r.errors, a[0].(interface{ String() string }).String())
}

func (r *reported) Log(a ...any) {
	if f, ok := a[0].(interface{ String() string }); ok {
		r.logs = append(r.logs, f.String())
	} else {
		r.logs = append(r.logs, a[0].(string))
	}
}

// TestAdvise reports faults of recorded statements and of the schema, and ignores the rules that it is given.
func TestAdvise(t *testing.T) {
	s := cqltest.RunT(t)
	s.Exec(t, `CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.flags (active boolean PRIMARY KEY, names set<text>);
		CREATE TABLE shop.items (id int PRIMARY KEY, name text, tags list<text>)`)
	var schema reported
	s.Advise(&schema)
	if len(schema.errors) != 1 || !strings.HasPrefix(schema.errors[0], "shop.flags: boolean-partition-key (warning): ") ||
		len(schema.logs) != 1 || !strings.Contains(schema.logs[0], "no statements were recorded") {
		t.Errorf("without statements: errors %q, logs %q", schema.errors, schema.logs)
	}
	s.Record()
	s.Advise(t, "boolean-partition-key")
	c := dial(t, s, client.Options{})
	for _, text := range []string{
		"SELECT id FROM shop.items WHERE name = 'tea' ALLOW FILTERING", "UPDATE shop.items SET tags = tags + ['x'] WHERE id = 1",
	} {
		for range 10 {
			if _, err := c.Query(t.Context(), text, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	var all reported
	s.Advise(&all, "boolean-partition-key")
	if len(all.errors) != 1 || !strings.Contains(all.errors[0], "allow-filtering (warning): every partition of the table is read") ||
		!strings.Contains(all.errors[0], "(10 times") || !strings.Contains(all.errors[0], "CREATE TABLE shop.items_by_name (") {
		t.Errorf("errors %q", all.errors)
	}
	if len(all.logs) != 1 || !strings.HasPrefix(all.logs[0], "shop.items: list-column (note): ") {
		t.Errorf("logs %q", all.logs)
	}
}
