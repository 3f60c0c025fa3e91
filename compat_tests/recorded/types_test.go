package recorded

import (
	"encoding/hex"
	"strings"
)

// literals records the encoding of literals: type, kind of literal, text, then the bytes or the error.
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

// utf8 records which byte sequences are text. Valid ones are above the dash, the others below.
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
