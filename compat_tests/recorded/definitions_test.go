package recorded

import (
	"fmt"
	"regexp"
	"strings"
)

// tableRows are rows of a table of definitions.
type tableRows struct {
	name string
	rows []row
}

// printTables is a file of rows by table, a line for each row.
func (c *cassandra) printTables(file string, tables []tableRows) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\"recorded from\": \"%s\"", stampOf(file))
	for _, t := range tables {
		fmt.Fprintf(&b, ",\n%q: [", t.name)
		for i, r := range t.rows {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n" + c.encode(r))
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return b.String()
}

// stampOf is the server that a file was recorded from.
func stampOf(file string) string {
	said := stamp.FindStringSubmatch(file)
	if said == nil {
		return "nothing"
	}
	return strings.TrimPrefix(said[0], said[1])
}

// definitionTables are the tables of system_schema that are recorded.
var definitionTables = []string{"keyspaces", "tables", "columns", "dropped_columns", "indexes"}

// define reads the definitions of some keyspaces from some tables of system_schema.
func (c *cassandra) define(tables []string, keyspaces ...string) []tableRows {
	var all []tableRows
	for _, table := range tables {
		t := tableRows{name: table}
		for _, k := range keyspaces {
			r := c.must("SELECT * FROM system_schema." + table + " WHERE keyspace_name = " + quote(k))
			t.rows = append(t.rows, rows(r)...)
		}
		all = append(all, t)
	}
	return all
}

// definitions reads the definitions of the server's own keyspaces, stored and virtual.
func definitions(c *cassandra, file string) string {
	all := c.define(definitionTables, "system", "system_schema", "system_auth", "system_distributed", "system_traces")
	virtual := tableRows{name: "virtual_tables"}
	columns := tableRows{name: "virtual_columns"}
	for _, k := range []string{"system_views", "system_virtual_schema"} {
		where := " WHERE keyspace_name = " + quote(k)
		for _, r := range rows(c.must("SELECT * FROM system_virtual_schema.tables" + where)) {
			r["id"] = c.virtualID(k, r["table_name"].(string))
			virtual.rows = append(virtual.rows, r)
		}
		columns.rows = append(columns.rows, rows(c.must("SELECT * FROM system_virtual_schema.columns"+where))...)
	}
	return c.printTables(file, append(all, virtual, columns))
}

var tableID = regexp.MustCompile(`ID = ([0-9a-f-]{36})`)

// virtualID is the id of a virtual table, which only DESCRIBE tells.
func (c *cassandra) virtualID(keyspace, table string) string {
	c.t.Helper()
	text := c.describe("TABLE "+name(keyspace)+"."+name(table), withInternals)
	id := tableID.FindStringSubmatch(text)
	if id == nil {
		c.t.Fatalf("no id in %s", text)
	}
	return id[1]
}

// userTables asks for the definitions of some of the described tables.
func userTables(c *cassandra, file string) string {
	var was struct {
		Tables []struct {
			Name string `json:"table_name"`
		} `json:"tables"`
	}
	c.decode(file, &was)
	wanted := map[string]bool{}
	for _, t := range was.Tables {
		wanted[t.Name] = true
	}
	c.makeShapes(wanted)
	return c.printTables(file, c.define([]string{"keyspaces", "tables", "columns"}, shapes))
}
