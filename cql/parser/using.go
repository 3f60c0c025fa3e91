package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// using builds a USING clause, which may be missing. Of an option given twice the last one counts.
func (b *builder) using(c grammar.IUsingClauseContext) cql.Using {
	var u cql.Using
	if c == nil {
		return u
	}
	for _, item := range c.GetItems() {
		if item.GetTimestamp() != nil {
			u.Timestamp = b.limit(item.GetValue())
		} else {
			u.TTL = b.limit(item.GetValue())
		}
	}
	return u
}
