package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// property is an option of WITH: a text or a map.
type property struct {
	Name string            `json:"name"`
	Text string            `json:"text,omitempty"`
	Map  map[string]string `json:"map"`
}

func (p property) String() string {
	if p.Map == nil {
		return name(p.Name) + " = " + quote(p.Text)
	}
	var entries []string
	for _, k := range slices.Sorted(maps.Keys(p.Map)) {
		entries = append(entries, quote(k)+": "+quote(p.Map[k]))
	}
	return name(p.Name) + " = {" + strings.Join(entries, ", ") + "}"
}

// with is a WITH of the properties, if there are any.
func with(props []property) string {
	var all []string
	for _, p := range props {
		all = append(all, p.String())
	}
	if len(all) == 0 {
		return ""
	}
	return " WITH " + strings.Join(all, " AND ")
}

// failure is a recorded error.
type failure struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func failureOf(err error) *failure {
	e, _ := cqlerr.As(err)
	return &failure{fmt.Sprintf("0x%04x", uint32(e.Code)), e.Message}
}

// tableOptions records the result of CREATE TABLE with properties: the columns of system_schema.tables with their
// names, or the error.
func tableOptions(c *cassandra, file string) string {
	type record struct {
		Props  json.RawMessage `json:"props"`
		Stored *row            `json:"stored,omitempty"`
		Error  *failure        `json:"error,omitempty"`
		Ours   *failure        `json:"ours,omitempty"`
	}
	c.keyspace(ownKeyspace)
	tables := 0
	return eachRecord(file, func(line string) string {
		var was record
		var props []property
		c.decode(line, &was)
		c.decode(string(was.Props), &props)
		again := record{Props: was.Props, Ours: was.Ours}
		table := fmt.Sprintf("t%d", tables)
		if _, err := c.try("CREATE TABLE " + table + " (k int PRIMARY KEY, v int)" + with(props)); err != nil {
			again.Error = failureOf(err)
			return c.encode(again)
		}
		again.Stored = c.storedOptions(table, props)
		if tables++; tables == manyTables {
			tables = 0
			c.must("DROP KEYSPACE " + ownKeyspace)
			c.must("CREATE KEYSPACE " + ownKeyspace + simple)
		}
		return c.encode(again)
	})
}

// manyTables is how many tables are made before they are dropped, all at once because that costs less.
const manyTables = 50

// storedOptions reads the options that properties name, and beside compaction the one whose default depends
// on it.
func (c *cassandra) storedOptions(table string, props []property) *row {
	r := c.must("SELECT * FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?",
		[]byte(ownKeyspace), []byte(table))
	all, stored := rows(r)[0], row{}
	for _, p := range props {
		if v, ok := all[p.Name]; ok && p.Name != "id" {
			stored[p.Name] = v
		}
		if p.Name == "compaction" {
			stored["bloom_filter_fp_chance"] = all["bloom_filter_fp_chance"]
		}
	}
	return &stored
}

// keyspaceOptions records the result of CREATE KEYSPACE with a name and properties: the row of system_schema.keyspaces,
// the warnings and DESCRIBE, or the error.
func keyspaceOptions(c *cassandra, file string) string {
	type record struct {
		Name     string          `json:"name"`
		Props    json.RawMessage `json:"props"`
		Stored   row             `json:"stored,omitempty"`
		Warnings []string        `json:"warnings,omitempty"`
		Describe string          `json:"describe,omitempty"`
		Error    *failure        `json:"error,omitempty"`
		Ours     *failure        `json:"ours,omitempty"`
	}
	c.keyspace("existing")
	c.free("k")
	return eachRecord(file, func(line string) string {
		var was record
		var props []property
		c.decode(line, &was)
		c.decode(string(was.Props), &props)
		again := record{Name: was.Name, Props: was.Props, Ours: was.Ours}
		created, err := c.try("CREATE KEYSPACE " + name(was.Name) + with(props))
		if err != nil {
			again.Error = failureOf(err)
			return c.encode(again)
		}
		again.Warnings = created.Warnings
		again.Stored = rows(c.must("SELECT * FROM system_schema.keyspaces WHERE keyspace_name = " + quote(was.Name)))[0]
		delete(again.Stored, "keyspace_name")
		again.Describe = c.describe("KEYSPACE "+name(was.Name), "")
		c.must("DROP KEYSPACE " + name(was.Name))
		return c.encode(again)
	})
}
