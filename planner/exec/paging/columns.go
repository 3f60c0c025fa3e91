package paging

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// askedPart is an element or a slice of a collection that a SELECT asks for, with the key it begins at.
type askedPart struct {
	from []byte
	text string
}

// askedColumns are the columns that a SELECT asks for. A column has parts if the SELECT asks for those alone.
type askedColumns map[*schema.Column][]askedPart

// columnsText lists the columns that a command reads, without those of the primary key: static columns first, each kind
// in the order of names. It is * for a SELECT that asks for all columns.
func (c *Command) columnsText() string {
	p := c.Plan
	if p.Asked == nil {
		return "*"
	}
	asked := askedColumns{}
	for _, c := range p.Selection.Plain {
		asked[c] = nil
	}
	for _, e := range p.Selection.Exprs {
		c.askParts(asked, e)
	}
	for _, e := range p.Selection.Exprs {
		askWhole(asked, e)
	}
	for _, f := range p.Where.Filters {
		for _, c := range f.Columns() {
			asked[c] = nil
		}
	}
	var columns []*schema.Column
	for c := range asked {
		if !c.Kind.IsKey() {
			columns = append(columns, c)
		}
	}
	slices.SortFunc(columns, func(a, b *schema.Column) int {
		if a.Kind != b.Kind {
			return cmp.Compare(a.Kind, b.Kind)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return each(columns, func(c *schema.Column) string {
		name := quote.Name(c.Name)
		parts := asked[c]
		if len(parts) == 0 {
			return name
		}
		order := expr.KeyType(c.Type).Compare
		slices.SortStableFunc(parts, func(a, b askedPart) int { return order(a.from, b.from) })
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = name + "[" + part.text + "]"
		}
		return strings.Join(slices.Compact(texts), ", ")
	})
}

// partOf is the column that an expression takes one part of; nil: none whose parts are cells.
func partOf(e expr.Expr) *schema.Column {
	var of expr.Expr
	switch e := e.(type) {
	case *expr.Element:
		of = e.Of
	case *expr.Slice:
		of = e.Of
	}
	if c, ok := of.(*expr.Column); ok && types.IsMultiCell(c.Column.Type) {
		return c.Column
	}
	return nil
}

// askParts notes the parts of collections that an expression uses.
func (c *Command) askParts(asked askedColumns, e expr.Expr) {
	if column := partOf(e); column != nil {
		asked[column] = append(asked[column], c.askedPart(e))
		return
	}
	for _, part := range expr.Parts(e) {
		c.askParts(asked, part)
	}
}

func (c *Command) askedPart(e expr.Expr) askedPart {
	if e, ok := e.(*expr.Element); ok {
		v, _ := e.Key.Eval(c.X) // if it fails, it failed for a row before, or there was no row
		return askedPart{from: v.Bytes, text: c.valueText(e.Key)}
	}
	s := e.(*expr.Slice)
	var part askedPart
	if s.From != nil {
		v, _ := s.From.Eval(c.X)
		part.from, part.text = v.Bytes, c.valueText(s.From)
	}
	part.text += ":"
	if s.To != nil {
		part.text += c.valueText(s.To)
	}
	return part
}

// askWhole notes the columns that an expression uses as a whole.
func askWhole(asked askedColumns, e expr.Expr) {
	if partOf(e) != nil {
		return
	}
	if c, ok := e.(*expr.Column); ok {
		asked[c.Column] = nil
	}
	for _, part := range expr.Parts(e) {
		askWhole(asked, part)
	}
}
