package shell

import (
	"context"
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/diagram"
	"github.com/cqld/cqld/protocol/client/model"
)

// isQualified reports whether tokens are a name, or a keyspace, a point and a name.
func isQualified(tokens []token) bool {
	switch len(tokens) {
	case 1:
		return tokens[0].isName()
	case 3:
		return tokens[0].isName() && tokens[1].text == "." && tokens[2].isName()
	}
	return false
}

// describes reports whether the arguments of DESCRIBE are of one of its forms.
func describes(a arguments) bool {
	words := a.words()
	if n := len(words); n > 2 && words[n-2] == "WITH" && words[n-1] == "INTERNALS" {
		a.tokens, words = a.tokens[:n-2], words[:n-2]
	}
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "KEYSPACES", "TABLES", "COLUMNFAMILIES", "TYPES", "FUNCTIONS", "AGGREGATES", "CLUSTER", "SCHEMA":
		return len(words) == 1
	case "FULL":
		return len(words) == 2 && words[1] == "SCHEMA"
	case "ONLY":
		return len(words) > 1 && words[1] == "KEYSPACE" && (len(words) == 2 || len(words) == 3 && a.tokens[2].isName())
	case "KEYSPACE":
		return len(words) == 1 || len(words) == 2 && a.tokens[1].isName()
	case "TABLE", "COLUMNFAMILY", "INDEX", "TYPE", "FUNCTION", "AGGREGATE":
		return isQualified(a.tokens[1:])
	case "MATERIALIZED":
		return len(words) > 2 && words[1] == "VIEW" && isQualified(a.tokens[2:])
	}
	return isQualified(a.tokens)
}

// describeCommand prints the answer to DESCRIBE as text instead of a table.
func (s *Session) describeCommand(ctx context.Context, a arguments) error {
	if !describes(a) {
		return a.improper()
	}
	r, err := s.describe(ctx, a)
	if e, ok := cqlerr.As(err); ok {
		return shown(e.Message)
	}
	if err != nil {
		return err
	}
	switch strings.ToUpper(a.tokens[0].text) {
	case "TABLES", "COLUMNFAMILIES", "TYPES", "FUNCTIONS", "AGGREGATES":
		s.describeList(r)
	case "KEYSPACES":
		var names []string
		for row := range model.Records(r) {
			names = append(names, row.Text("name"))
		}
		s.print("\n%s\n", columnize(names))
	case "CLUSTER":
		s.describeCluster(r)
	default:
		for row := range model.Records(r) {
			s.print("\n")
			fmt.Fprint(s.out, row.Text("create_statement"))
			s.print("\n")
		}
	}
	s.printWarnings(r.Warnings)
	return nil
}

// describeList prints names under their keyspaces.
func (s *Session) describeList(r *client.Result) {
	var names []string
	keyspace := ""
	flush := func() {
		if len(names) == 0 {
			return
		}
		s.print("\n")
		if s.keyspace == "" {
			s.print("Keyspace %s\n---------%s\n", keyspace, strings.Repeat("-", diagram.TextWidth(keyspace)))
		}
		s.print("%s", columnize(names))
	}
	for row := range model.Records(r) {
		if row.Text("keyspace_name") != keyspace {
			flush()
			keyspace, names = row.Text("keyspace_name"), nil
		}
		names = append(names, row.Text("name"))
	}
	flush()
	if len(r.Rows) > 0 {
		s.print("\n")
	}
}

func (s *Session) describeCluster(r *client.Result) {
	for row := range model.Records(r) {
		s.print("\nCluster: %s\nPartitioner: %s\nSnitch: %s\n\n", row.Text("cluster"), row.Text("partitioner"),
			row.Text("snitch"))
		ranges, ok := row.Value("range_ownership")
		if !ok {
			continue
		}
		s.print("Range ownership:\n")
		for token, hosts := range types.Entries(ranges) {
			var all []string
			for host := range types.Elements(hosts) {
				all = append(all, string(host))
			}
			s.print(" %39s  [%s]\n", token, strings.Join(all, ", "))
		}
		s.print("\n")
	}
}

// columnsWidth is the width of lists of names.
const columnsWidth = 80

// columnize prints names in as few lines as fit into columns, from top to bottom.
func columnize(names []string) string {
	if len(names) == 0 {
		return "<empty>\n"
	}
	lines := 1
	var widths []int
	for ; lines < len(names); lines++ {
		widths = nil
		total := -2
		for at := 0; at < len(names); at += lines {
			width := 0
			for _, n := range names[at:min(at+lines, len(names))] {
				width = max(width, diagram.TextWidth(n))
			}
			widths = append(widths, width)
			total += width + 2
		}
		if total <= columnsWidth {
			break
		}
	}
	if lines == len(names) {
		widths = []int{0}
	}
	var b strings.Builder
	for line := range lines {
		for column := range widths {
			at := line + lines*column
			if at >= len(names) {
				break
			}
			if column > 0 {
				b.WriteString("  ")
			}
			b.WriteString(names[at])
			pad(&b, widths[column]-diagram.TextWidth(names[at]), ' ')
		}
		b.WriteByte('\n')
	}
	return b.String()
}
