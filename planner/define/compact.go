package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// checkCompact refuses what tables with COMPACT STORAGE cannot have outside of their keys.
func checkCompact(others []*schema.Column, static, clustered bool) error {
	switch {
	case slices.ContainsFunc(others, func(c *schema.Column) bool { return types.IsMultiCell(c.Type) }):
		return cqlerr.Invalidf("Non-frozen collections and UDTs are not supported with COMPACT STORAGE")
	case static:
		return cqlerr.Invalidf("Static columns are not supported in COMPACT STORAGE tables")
	case !clustered && len(others) == 0:
		return cqlerr.Invalidf("No definition found that is not part of the PRIMARY KEY")
	case clustered && len(others) > 1:
		return cqlerr.Invalidf("COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the "+
			"PRIMARY KEY (got: %s)", strings.Join(schema.ColumnNames(others), ", "))
	}
	return nil
}

// dropCompactStorage is the table as an ordinary one.
func dropCompactStorage(t *schema.Table) (*schema.Table, error) {
	if t.Compact == schema.NotCompact {
		return nil, cqlerr.Invalidf("Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE")
	}
	return t.WithoutCompactStorage(), nil
}
