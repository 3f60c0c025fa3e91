package where

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/planner/expr"
)

// relationText is a relation as error texts show it: its columns are in quotes where they need them, its values are
// as expr.Text has them.
func relationText(rel *cql.Relation) string {
	columns := make([]string, len(rel.Columns))
	for i, c := range rel.Columns {
		columns[i] = c.String()
	}
	text := strings.Join(columns, ", ")
	switch {
	case rel.Token:
		text = "token(" + text + ")"
	case rel.Tuple:
		text = "(" + text + ")"
	case rel.Key != nil:
		text += "[" + expr.Text(rel.Key) + "]"
	}
	return text + " " + RelationRest(nil, rel)
}

// RelationRest is the part of a relation's text that follows its columns. Something may be known of its values.
func RelationRest(known *expr.Info, rel *cql.Relation) string {
	text := rel.Op.String()
	switch {
	case rel.Values.Parts != nil:
		return text + " (" + known.Texts(rel.Values) + ")"
	case rel.Value != nil:
		return text + " " + known.Text(rel.Value)
	}
	return text
}
