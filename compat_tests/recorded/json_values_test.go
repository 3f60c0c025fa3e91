package recorded

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// jsonTexts records how JSON texts are parsed. It passes them to from_json for a text column: a JSON string is stored,
// and the error for any other value has its Java class and text. Text and answer are in Go's quotes.
func jsonTexts(c *cassandra, file string) string {
	c.keyspace(ownKeyspace)
	c.must("CREATE TABLE t (k int PRIMARY KEY, v text)")
	return eachLine(file, func(line string) string {
		quoted, _, _ := strings.Cut(line, "\t")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			c.t.Fatal(err)
		}
		_, err = c.try("INSERT INTO t (k, v) VALUES (1, from_json(?))", []byte(text))
		return quoted + "\t" + strconv.Quote(c.readJSON(text, err))
	})
}

// readJSON is Cassandra's result of parsing a JSON text, from the stored value or from the error.
func (c *cassandra) readJSON(text string, err error) string {
	if err == nil {
		v := c.must("SELECT v FROM t WHERE k = 1").Rows[0][0]
		if v == nil {
			return "null"
		}
		return "String " + string(v)
	}
	e, _ := cqlerr.As(err)
	if value, ok := strings.CutPrefix(e.Message, "org.apache.cassandra.serializers.MarshalException: Expected a UTF-8 string, but got a "); ok {
		return strings.Replace(value, ": ", " ", 1)
	}
	_, reason, _ := strings.Cut(e.Message, "Could not decode JSON string '"+text+"': ")
	return "error " + reason
}

// jsonValues asks which values INSERT JSON reads, and how they are printed again: type, JSON, then the bytes and JSON,
// or the complaint about the value ("error"), or another one ("refused").
func jsonValues(c *cassandra, file string) string {
	columns := c.columns(file)
	return eachLine(file, func(line string) string {
		fields := strings.Split(line, "\t")
		again := append(fields[:2:2], c.jsonValue(columns[fields[0]], fields[1])...)
		if last := fields[len(fields)-1]; strings.HasPrefix(last, "ours: ") {
			again = append(again, last)
		}
		return strings.Join(again, "\t")
	})
}

// jsonValue writes a value to a column as JSON, and returns its bytes and JSON, or an error.
func (c *cassandra) jsonValue(column, json string) []string {
	if _, err := c.try("INSERT INTO t JSON ?", []byte(`{"k": 1, "`+column+`": `+json+`}`)); err != nil {
		e, _ := cqlerr.As(err)
		reason, ok := strings.CutPrefix(e.Message, "Error decoding JSON value for "+column+": ")
		if ok {
			return []string{"error " + strings.ReplaceAll(reason, "\n", `\n`)}
		}
		return []string{"refused " + e.Message}
	}
	value := c.must("SELECT " + column + " FROM t WHERE k = 1").Rows[0][0]
	if value == nil {
		return []string{"null"}
	}
	return []string{printBytes(value), c.printedJSON(column)}
}

// printedJSON is how SELECT JSON prints a column.
func (c *cassandra) printedJSON(column string) string {
	r, err := c.try("SELECT JSON " + column + " FROM t WHERE k = 1")
	if err != nil {
		return verdict(err, "")
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(r.Rows[0][0]), `{"`+column+`": `), "}")
}

// jsonPrinted asks for values as SELECT JSON prints them: type, bytes, JSON.
func jsonPrinted(c *cassandra, file string) string {
	columns := c.columns(file)
	return eachLine(file, func(line string) string {
		fields := strings.Split(line, "\t")
		column := columns[fields[0]]
		c.must("INSERT INTO t (k, "+column+") VALUES (1, ?)", c.unhex(fields[1]))
		fields[2] = c.printedJSON(column)
		return strings.Join(fields, "\t")
	})
}
