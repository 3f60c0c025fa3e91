package system

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// fillSAIIndexes makes system_views.sai_column_indexes. An index can be queried while it is built: reads do without it.
func fillSAIIndexes(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	for _, k := range c.Keyspaces() {
		started := false
		for _, t := range k.Tables {
			for _, x := range t.Indexes {
				if x.Kind() != schema.SAI || len(x.Targets) == 0 {
					continue
				}
				if !started {
					w.partition(types.EncodeText(k.Name))
					started = true
				}
				of, key := schema.IndexedType(t.Column(x.Column()), x.Part())
				w.row(types.EncodeText(x.Name))
				w.text("analyzer", analyzer(x))
				w.text("column_name", x.Column())
				w.bool("is_building", n.isBuilding(t, x))
				w.bool("is_queryable", true)
				w.bool("is_string", key != nil || isLiteral(of))
				w.text("table_name", t.Name)
			}
		}
	}
}

// analyzer names what prepares texts for comparison, as Cassandra does.
func analyzer(x *schema.Index) string {
	given := false
	option := func(name string, value bool) bool {
		if text, ok := x.Options[name]; ok {
			given, value = true, strings.EqualFold(text, "true")
		}
		return value
	}
	caseSensitive, normalized, ascii := option("case_sensitive", true), option("normalize", false), option("ascii", false)
	if !given {
		return "NoOpAnalyzer"
	}
	return fmt.Sprintf("NonTokenizingAnalyzer{caseSensitive=%t, normalized=%t, ascii=%t}",
		caseSensitive, normalized, ascii)
}

// isLiteral reports whether Cassandra compares values of a type as a whole only: texts, booleans, and what is made of
// other values.
func isLiteral(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType, *types.Vector:
		return true
	}
	return t == types.Text || t == types.ASCII || t == types.Boolean
}
