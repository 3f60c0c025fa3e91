package recorded

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// literals asks what a literal becomes: type, kind of literal, text, then its bytes or the error.
func literals(c *cassandra, file string) string {
	columns := c.columns(file)
	return eachLine(file, func(line string) string {
		fields := strings.Split(line, "\t")
		literal := fields[2]
		if fields[1] == "STRING" {
			literal = quote(literal)
		}
		column := columns[fields[0]]
		_, err := c.try("INSERT INTO t (k, " + column + ") VALUES (1, " + literal + ")")
		if err != nil {
			fields[3] = strings.TrimPrefix(verdict(err, ""), "server ")
		} else {
			fields[3] = printBytes(c.must("SELECT " + column + " FROM t WHERE k = 1").Rows[0][0])
		}
		return strings.Join(fields, "\t")
	})
}

// printBytes writes bytes as the files have them.
func printBytes(b []byte) string {
	if len(b) == 0 {
		return "empty"
	}
	return hex.EncodeToString(b)
}

// validate asks which bytes are values: type, bytes, then ok or the error.
func validate(c *cassandra, file string) string {
	columns := c.columns(file)
	return eachLine(file, func(line string) string {
		fields := strings.Split(line, "\t")
		_, err := c.try("INSERT INTO t (k, "+columns[fields[0]]+") VALUES (1, ?)", c.unhex(fields[1]))
		fields[2] = verdict(err, "ok")
		return strings.Join(fields, "\t")
	})
}

// texts asks how values print, as CAST prints them and as JSON those that cannot be cast: type, bytes, text.
func texts(c *cassandra, file string) string {
	columns := c.columns(file)
	return eachLine(file, func(line string) string {
		fields := strings.Split(line, "\t")
		column := columns[fields[0]]
		c.must("INSERT INTO t (k, "+column+") VALUES (1, ?)", c.unhex(fields[1]))
		if r, err := c.try("SELECT CAST(" + column + " AS text) FROM t WHERE k = 1"); err == nil {
			fields[2] = string(r.Rows[0][0])
			return strings.Join(fields, "\t")
		}
		fields[2] = string(c.must("SELECT to_json(" + column + ") FROM t WHERE k = 1").Rows[0][0])
		if strings.HasPrefix(fields[2], `"`) {
			if err := json.Unmarshal([]byte(fields[2]), &fields[2]); err != nil {
				c.t.Fatal(err)
			}
		}
		return strings.Join(fields, "\t")
	})
}

// utf8 asks which byte sequences are text. They stand above the dash, the others below.
func utf8(c *cassandra, file string) string {
	c.keyspace(ownKeyspace)
	c.must("CREATE TABLE t (k int PRIMARY KEY, v text)")
	var taken, rest []string
	comment := ""
	for line := range strings.Lines(file) {
		sequence := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			comment += line
		case sequence == "-":
		default:
			if _, err := c.try("INSERT INTO t (k, v) VALUES (1, ?)", c.unhex(sequence)); err == nil {
				taken = append(taken, sequence)
			} else {
				rest = append(rest, sequence)
			}
		}
	}
	return comment + strings.Join(taken, "\n") + "\n-\n" + strings.Join(rest, "\n") + "\n"
}

// order asks for the clustering order of values: type, then the values, equal ones joined by an equals sign.
func order(c *cassandra, file string) string {
	c.keyspace(ownKeyspace)
	return eachLine(file, func(line string) string {
		typ, list, _ := strings.Cut(line, "\t")
		values := strings.Fields(strings.ReplaceAll(list, "=", " "))
		return typ + "\t" + c.ordered(typ, values)
	})
}

// ordered writes each value as the clustering of a row that has the number of the value written last: equal
// values find the same number.
func (c *cassandra) ordered(typ string, values []string) string {
	c.must("CREATE TABLE o (k int, c " + typ + ", n int, PRIMARY KEY (k, c))")
	defer c.must("DROP TABLE o")
	for i, v := range values {
		c.must("INSERT INTO o (k, c, n) VALUES (1, ?, ?)", c.unhex(v), []byte{0, 0, byte(i >> 8), byte(i)})
	}
	equal := map[int32][]string{}
	for _, v := range values {
		found := c.must("SELECT n FROM o WHERE k = 1 AND c = ?", c.unhex(v))
		n := types.DecodeInt(found.Rows[0][0])
		equal[n] = append(equal[n], v)
	}
	var groups []string
	for _, row := range c.must("SELECT n FROM o WHERE k = 1").Rows {
		groups = append(groups, strings.Join(equal[types.DecodeInt(row[0])], "="))
	}
	return strings.Join(groups, " ")
}
