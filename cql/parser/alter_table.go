package parser

import (
	"fmt"
	"strconv"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) tableChange(c grammar.ITableChangeContext) cql.TableChange {
	switch {
	case c.GetKind() != nil:
		return &cql.AlterColumnType{Column: b.name(c.GetColumn()), Type: b.typeName(c.GetKind())}
	case c.GetMasking() != nil:
		return &cql.MaskColumn{
			IfExists: c.GetExists() != nil, Column: b.name(c.GetColumn()), Mask: b.mask(c.GetMasking().GetMask()),
		}
	case c.GetAdded() != nil:
		return b.addColumns(c)
	case c.GetDropped() != nil:
		d := &cql.DropColumns{IfExists: c.GetExists() != nil, Columns: names(b, c.GetDropped())}
		if t := c.GetTimestamp(); t != nil {
			d.Timestamp = b.literalToken(t, cql.IntegerLiteral)
			if _, err := strconv.ParseInt(d.Timestamp.Text, 10, 64); err != nil {
				b.failJava("NumberFormatException", fmt.Sprintf(`For input string: "%s"`, d.Timestamp.Text))
			}
		}
		return d
	case c.GetCompact() != nil:
		return &cql.DropCompactStorage{}
	case c.GetRenames() != nil:
		return &cql.RenameColumns{IfExists: c.GetExists() != nil, Renames: b.renames(c.GetRenames())}
	default:
		return &cql.SetTableOptions{Properties: b.properties(c.GetOptions().GetItems())}
	}
}

func (b *builder) addColumns(c grammar.ITableChangeContext) *cql.AddColumns {
	a := &cql.AddColumns{IfNotExists: c.GetNotExists() != nil}
	for _, column := range c.GetAdded() {
		a.Columns = append(a.Columns, cql.ColumnDefinition{
			Span:   span(column),
			Name:   b.name(column.GetName()),
			Type:   b.typeName(column.GetKind()),
			Static: column.GetStatic() != nil,
			Mask:   b.mask(column.GetMask()),
		})
	}
	return a
}

func (b *builder) renames(contexts []grammar.IRenameContext) []cql.Rename {
	out := make([]cql.Rename, len(contexts))
	for i, c := range contexts {
		out[i] = cql.Rename{From: b.name(c.GetFrom()), To: b.name(c.GetTo())}
	}
	return out
}
