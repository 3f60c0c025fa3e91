package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// Truncate removes all rows of a table.
type Truncate struct{ Table *schema.Table }

// truncate plans TRUNCATE.
func (p *planning) truncate(s *cql.Truncate) (Plan, error) {
	t, err := p.scope.Table(s.Table)
	if err != nil {
		return nil, err
	}
	if t.View != nil {
		return nil, cqlerr.Invalidf("Cannot TRUNCATE materialized view directly; must truncate base table instead")
	}
	if t.Virtual {
		return nil, cqlerr.Invalidf("Truncation is not supported by table %s.%s", t.Keyspace, t.Name)
	}
	if schema.IsServers(t) {
		return nil, RowsNotModifiable(t)
	}
	return &Truncate{Table: t}, nil
}
