package planner

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// Use sets the session's keyspace.
type Use struct{ Keyspace string }

// IsUse reports whether a text begins as USE does, before it is parsed.
func IsUse(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > len("use") && strings.EqualFold(text[:3], "use") && strings.ContainsRune(" \t\r\n\"", rune(text[3]))
}

// CheckUse refuses to use a keyspace that does not exist.
func CheckUse(c *schema.Catalog, keyspace string) error {
	if c.Keyspace(keyspace) == nil {
		return cqlerr.Invalidf("Keyspace '%s' does not exist", keyspace)
	}
	return nil
}

// use plans USE, also of a keyspace that is not there: whether it is shows when the statement runs. A prepared
// USE counts as unqualified, as Cassandra has it.
func (p *planning) use(s *cql.Use) Plan {
	p.scope.Qualified = false
	return &Use{Keyspace: s.Keyspace}
}
