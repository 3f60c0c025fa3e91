package recorded

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// levels runs a file of statements, which begin with ">", at all consistency levels, and writes the answers below them.
// Conditional statements run at each pair of a commit level and a serial level. A line that begins with "=" is the
// replication of a keyspace for the statements below it. {k} is replaced by a different key in each execution: a write
// that Cassandra left unfinished must not affect the next one.
func levels(c *cassandra, file string) string {
	var b strings.Builder
	key := 0
	c.free(ownKeyspace)
	for line := range strings.Lines(file) {
		text := strings.TrimSuffix(line, "\n")
		replication, isKeyspace := strings.CutPrefix(text, "= ")
		statement, isStatement := strings.CutPrefix(text, "> ")
		switch {
		case isKeyspace:
			b.WriteString(line)
			c.must("DROP KEYSPACE IF EXISTS " + ownKeyspace)
			c.must("CREATE KEYSPACE " + ownKeyspace + " WITH replication = " + replication)
			c.must("USE " + ownKeyspace)
			c.must("CREATE TABLE t (k int, c int, v int, s int static, PRIMARY KEY (k, c))")
			c.must("CREATE TABLE n (k int PRIMARY KEY, v counter)")
		case isStatement:
			b.WriteString(line)
			serial := []cqlerr.Consistency{0}
			if strings.Contains(statement, " IF ") {
				serial = []cqlerr.Consistency{cqlerr.Serial, cqlerr.LocalSerial}
			}
			for _, level := range allLevels {
				for _, s := range serial {
					key++
					name := level.String()
					if s != 0 {
						name += " " + s.String()
					}
					fmt.Fprintf(&b, "%s: %s\n", name, c.atLevel(strings.ReplaceAll(statement, "{k}", strconv.Itoa(key)), level, s))
				}
			}
		case strings.HasPrefix(line, "#"):
			b.WriteString(line)
		}
	}
	return b.String()
}

// allLevels are the consistency levels of the protocol.
var allLevels = []cqlerr.Consistency{
	cqlerr.Any, cqlerr.One, cqlerr.Two, cqlerr.Three, cqlerr.Quorum, cqlerr.All, cqlerr.LocalQuorum, cqlerr.EachQuorum,
	cqlerr.Serial, cqlerr.LocalSerial, cqlerr.LocalOne, cqlerr.NodeLocal,
}

// replica is the address of the node, which some errors name.
var replica = regexp.MustCompile(`/127\.\d+\.\d+\.\d+:\d+`)

// atLevel is the answer to a statement at a consistency level.
func (c *cassandra) atLevel(text string, level, serial cqlerr.Consistency) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	m := &protocol.Query{Query: text}
	m.Parameters.Consistency = level
	if serial != 0 {
		m.Parameters.Flags, m.Parameters.SerialConsistency = protocol.WithSerialConsistency, serial
	}
	_, err := c.conn.Do(ctx, m)
	var e *cqlerr.Error
	switch {
	case err == nil:
		return "ok"
	case !errors.As(err, &e):
		c.t.Fatalf("%s at %s: %v", text, level, err)
	}
	message := replica.ReplaceAllString(e.Message, "/{node}")
	switch d := e.Detail.(type) {
	case cqlerr.UnavailableDetail:
		return fmt.Sprintf("unavailable %s %d %d: %s", d.Consistency, d.Required, d.Alive, message)
	case cqlerr.TimeoutDetail:
		return fmt.Sprintf("timeout %04x %s %d %d %s: %s",
			uint32(e.Code), d.Consistency, d.Received, d.BlockFor, d.WriteType, message)
	}
	return fmt.Sprintf("error %04x: %s", uint32(e.Code), message)
}
