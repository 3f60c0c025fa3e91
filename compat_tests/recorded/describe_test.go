package recorded

import "regexp"

// description is the output of DESCRIBE for a table or a keyspace.
type description struct {
	Keyspace  string `json:"keyspace,omitempty"`
	Table     string `json:"table,omitempty"`
	Describe  string `json:"describe"`
	Internals string `json:"internals,omitempty"`
}

// describe is the first statement of a DESCRIBE, which creates the named object.
func (c *cassandra) describe(what, how string) string {
	c.t.Helper()
	r := c.must("DESCRIBE " + what + how)
	for i, column := range r.Columns {
		if column.Name == "create_statement" {
			return string(r.Rows[0][i])
		}
	}
	c.t.Fatalf("DESCRIBE %s has no statement", what)
	return ""
}

// withInternals shows the id of a table and its dropped columns too.
const withInternals = " WITH INTERNALS"

// systemDescriptions asks for tables and keyspaces of the server's own.
func systemDescriptions(c *cassandra, file string) string {
	return eachRecord(file, func(line string) string {
		var d description
		c.decode(line, &d)
		if d.Table == "" {
			d.Describe = c.describe("ONLY KEYSPACE "+name(d.Keyspace), "")
			return c.encode(d)
		}
		table := "TABLE " + name(d.Keyspace) + "." + name(d.Table)
		d.Describe, d.Internals = c.describe(table, ""), c.describe(table, withInternals)
		return c.encode(d)
	})
}

// shapes is the keyspace of the described tables.
const shapes = "shapes"

// bareName is the name of a column as DESCRIBE shows it, without quotes even where Cassandra asks for them.
var bareName = regexp.MustCompile(`(?m)^    ([a-z]\w*) `)

// create makes the table of a description, with its id.
func (c *cassandra) create(d description) {
	c.t.Helper()
	c.must(bareName.ReplaceAllString(d.Internals, `    "$1" `))
}

// userDescriptions makes each table from its description, with its id, and asks for the description.
func userDescriptions(c *cassandra, file string) string {
	c.keyspace(shapes)
	return eachRecord(file, func(line string) string {
		var d description
		c.decode(line, &d)
		c.create(d)
		table := "TABLE " + shapes + "." + name(d.Table)
		d.Describe, d.Internals = c.describe(table, ""), c.describe(table, withInternals)
		return c.encode(d)
	})
}

// makeShapes makes the named tables of the described ones.
func (c *cassandra) makeShapes(wanted map[string]bool) {
	c.keyspace(shapes)
	eachRecord(read(c.t, "cql/schema/testdata/describe.jsonl"), func(line string) string {
		var d description
		c.decode(line, &d)
		if wanted[d.Table] {
			c.create(d)
		}
		return line
	})
}
