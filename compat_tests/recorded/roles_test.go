package recorded

import "strings"

// roles records the errors of refused statements: after a tab the error when they run and, after another, when they are
// prepared.
func roles(c *cassandra, file string) string {
	c.t.Helper()
	return eachLine(file, func(line string) string {
		statement, _, _ := strings.Cut(line, "\t")
		_, run := c.try(statement)
		_, prepared := c.conn.Prepare(c.t.Context(), statement, "")
		if !refused(run) || !refused(prepared) {
			c.t.Fatalf("%s: run: %v, prepared: %v", statement, run, prepared)
		}
		return statement + "\t" + verdict(run, "") + "\t" + verdict(prepared, "")
	})
}
