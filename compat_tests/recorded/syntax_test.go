package recorded

import (
	"context"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// verdicts records whether statements parse: a statement is a line, with \n for a line break; the next line is a tab
// and ok or the syntax error, and perhaps our own wording. It prepares the statements without a keyspace in use, which
// changes nothing; any other error means that the statement was parsed.
func verdicts(c *cassandra, file string) string {
	head, body, _ := strings.Cut(file, "\n\n")
	var b strings.Builder
	b.WriteString(head + "\n")
	seen := map[string]bool{}
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(line, "\tours: "):
			b.WriteString(line + "\n")
		case line == "" || line[0] == '\t': // an old answer
		case seen[line]:
			c.t.Errorf("%s\nis there twice", line)
		default:
			seen[line] = true
			b.WriteString("\n" + line + "\n\t" + c.parses(strings.ReplaceAll(line, `\n`, "\n")) + "\n")
		}
	}
	return b.String()
}

// nullPointer is the exception that Cassandra's parser throws when it continues after a syntax error.
const nullPointer = "NullPointerException"

func (c *cassandra) parses(statement string) string {
	ctx, cancel := context.WithTimeout(c.t.Context(), answerTime)
	defer cancel()
	_, err := c.conn.Prepare(ctx, statement, "")
	e, ok := cqlerr.As(err)
	switch {
	case err == nil:
		return "ok"
	case !ok:
		c.t.Fatalf("%s\n%v", statement, err)
	case e.Code == cqlerr.SyntaxError:
		message, _, isNull := strings.Cut(e.Message, nullPointer)
		if isNull {
			message += nullPointer // Java omits the rest once it has compiled the code
		}
		return strings.ReplaceAll(message, "\n", `\n`)
	}
	return "ok"
}
