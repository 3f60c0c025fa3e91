package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// selectAnything plans SELECT. If the table has masked columns it is planned a second time, for those who may not see
// masked values.
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
	again.masked = func(c *schema.Column) (expr.Expr, error) { return again.terms.MaskedColumn(c, masks[c.Name]) }
	hidden, err := again.selectRows(s)
	p.out.Masking = again.called()
	if err != nil {
		clear.MaskRefused = err
		return clear, nil
	}
	clear.Masked = hidden.(*Select)
	clear.Masked.Selection.Columns = clear.Selection.Columns
	return clear, nil
}

// maskConditions notes which masked columns a conditional write may tell of.
func (p *planning) maskConditions(m *Modification, rs *where.Restrictions) {
	if m.If == nil || !p.env.Masks {
		return
	}
	masks := p.masksOf(m.Table)
	for _, c := range m.Table.Columns {
		if masks[c.Name] != nil {
			m.If.Masked = append(m.If.Masked, c)
		}
	}
	m.If.Restricted = listColumns(m.If.Masked, func(c *schema.Column) bool { return m.If.compares(c) || rs.RestrictsColumn(c) })
}

// compares reports whether a condition compares a column.
func (c *Conditions) compares(column *schema.Column) bool {
	of := func(cond *Condition) bool { return cond.Column == column }
	return slices.ContainsFunc(c.Rows, of) || slices.ContainsFunc(c.Statics, of)
}

// listColumns lists the columns that are of interest, as error texts do; "": none is.
func listColumns(columns []*schema.Column, listed func(*schema.Column) bool) string {
	var names []string
	for _, c := range columns {
		if listed(c) {
			names = append(names, quote.Name(c.Name))
		}
	}
	if names == nil {
		return ""
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// masksOf are the masks of a table's columns by their names; nil: it has none. A view has the masks of its base.
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
