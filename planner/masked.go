package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// selectAnything plans SELECT. If the table has masked columns it is planned a second time, for those who may not see
// what they hold.
func (p *planning) selectAnything(s *cql.Select) (Plan, error) {
	plan, err := p.selectRows(s)
	if err != nil || !p.env.Masks {
		return plan, err
	}
	clear := plan.(*Select)
	masks := p.masksOf(clear.Table)
	if len(masks) == 0 {
		return plan, nil
	}
	again := newPlanning(p.env)
	again.masked = func(c *schema.Column) (expr.Expr, error) { return expr.MaskedColumn(c, masks[c.Name]) }
	hidden, err := again.selectRows(s)
	if err != nil {
		clear.MaskRefused = err
		return clear, nil
	}
	clear.Masked = hidden.(*Select)
	clear.Masked.Selection.Columns = clear.Selection.Columns
	return clear, nil
}

// masksOf are the masks of a table's columns by their names; nil: it has none. A view has those of its base.
func (p *planning) masksOf(t *schema.Table) map[string]*schema.Mask {
	from := t
	if t.View != nil {
		if base := p.env.Catalog.Table(t.Keyspace, t.View.Base); base != nil {
			from = base
		}
	}
	var masks map[string]*schema.Mask
	for _, c := range from.Columns {
		if c.Mask != nil {
			if masks == nil {
				masks = map[string]*schema.Mask{}
			}
			masks[c.Name] = c.Mask
		}
	}
	return masks
}
