package recorded

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
)

var pageOf = regexp.MustCompile(`^\[page (\d+)\] `)

// pages runs a file of statements, which begin with ">" and perhaps the size of a page in brackets, and writes the
// answers below them, page by page.
func pages(c *cassandra, file string) string {
	c.keyspace("script")
	head, _, _ := strings.Cut(file, "\n> ")
	var b strings.Builder
	b.WriteString(head + "\n")
	for line := range strings.Lines(strings.TrimPrefix(file, head)) {
		statement, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			if strings.HasPrefix(line, "#") {
				b.WriteString(line)
			}
			continue
		}
		o := &client.QueryOptions{}
		text := statement
		if m := pageOf.FindStringSubmatch(statement); m != nil {
			size, _ := strconv.ParseInt(m[1], 10, 32)
			o.PageSize, text = int32(size), statement[len(m[0]):]
		}
		b.WriteString("> " + statement + "\n" + c.answer(text, o))
	}
	return b.String()
}

// answer is the answer to a statement, with all its pages.
func (c *cassandra) answer(text string, o *client.QueryOptions) string {
	var b strings.Builder
	for first := true; ; first = false {
		r, err := c.query(text, nil, o)
		if err != nil {
			e, _ := cqlerr.As(err)
			return fmt.Sprintf("%serror %04x: %s\n", b.String(), uint32(e.Code), e.Message)
		}
		if len(r.Columns) == 0 {
			return "ok\n"
		}
		if first {
			var names []string
			for _, column := range r.Columns {
				names = append(names, column.Name)
			}
			b.WriteString(strings.Join(names, " | ") + "\n")
			for _, w := range r.Warnings {
				b.WriteString("warning: " + w + "\n")
			}
		} else {
			b.WriteString("-- page\n")
		}
		for _, values := range r.Rows {
			var cells []string
			for i, v := range values {
				cell := "null"
				if v != nil {
					cell = r.Columns[i].Type.Format(v)
				}
				cells = append(cells, cell)
			}
			b.WriteString(strings.Join(cells, " | ") + "\n")
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			return b.String()
		}
	}
}
