package system

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// fillFunctions makes system_schema.functions.
func fillFunctions(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, f := range k.Functions {
			names := make([][]byte, len(f.ArgNames))
			for i, n := range f.ArgNames {
				names[i] = types.EncodeText(n)
			}
			w.row(types.EncodeText(f.Name), typeNames(f.Args))
			w.set("argument_names", types.NewList(names))
			w.text("body", f.Body)
			w.bool("called_on_null_input", f.CalledOnNull)
			w.text("language", f.Language)
			w.text("return_type", f.Returns.String())
		}
	})
}

// fillAggregates makes system_schema.aggregates.
func fillAggregates(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, a := range k.Aggregates {
			w.row(types.EncodeText(a.Name), typeNames(a.Args))
			w.textOrNull("final_func", a.FinalFunction)
			if a.Initial != nil {
				w.text("initcond", a.StateType.Format(a.Initial))
			}
			w.text("return_type", a.Returns.String())
			w.text("state_func", a.StateFunction)
			w.text("state_type", a.StateType.String())
		}
	})
}

// typeNames is a list of the names of types.
func typeNames(all []types.Type) []byte {
	names := make([][]byte, len(all))
	for i, t := range all {
		names[i] = types.EncodeText(t.String())
	}
	return types.NewList(names)
}
