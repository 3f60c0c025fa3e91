package recorded

import (
	"strings"

	"github.com/cqld/cqld/compat_tests/script"
	"github.com/cqld/cqld/protocol"
)

// statements runs a file of statements, one per line, and writes the answer after each: the lines of a script, with
// tabs before them.
func statements(c *cassandra, file string) string {
	c.t.Helper()
	ctx := c.t.Context()
	r, err := script.Open(ctx, c.addr, "statements", script.Mode{Version: protocol.V5, PageSize: 5000})
	if err != nil {
		c.t.Fatal(err)
	}
	again := eachLine(file, func(line string) string {
		statement, _, _ := strings.Cut(line, "\t")
		answer := r.Run(ctx, &script.Block{Kind: script.Query, Statements: []string{statement}})
		if strings.HasPrefix(answer[0], "error server:") || strings.HasPrefix(answer[0], "error connection:") {
			c.t.Errorf("%s: that is no answer: %s", statement, answer[0])
		}
		return statement + "\t" + strings.Join(answer, "\t")
	})
	if err := r.Drop(ctx); err != nil {
		c.t.Fatal(err)
	}
	return again
}
