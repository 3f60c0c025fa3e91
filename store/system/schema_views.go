package system

import (
	"math"
	"strconv"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// fillViews makes system_schema.views.
func fillViews(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, t := range k.Views {
			w.row(types.EncodeText(t.Name))
			w.uuid("base_table_id", t.View.BaseID)
			w.text("base_table_name", t.View.Base)
			w.uuid("id", t.ID)
			w.bool("include_all_columns", t.View.All)
			w.text("where_clause", t.View.WhereText())
			fillOptions(w, &t.Options)
		}
	})
}

// fillBuiltViews makes system.built_views: the views that have all rows.
func fillBuiltViews(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for name, view := range k.Views {
			if n.viewBuilt(view) {
				w.row(types.EncodeText(name))
				w.bool("status_replicated", true)
			}
		}
	})
}

// fillViewBuilds makes system.view_builds_in_progress: the view that is being built, as one range of all tokens.
func fillViewBuilds(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	b := n.build()
	if b == nil || b.View == nil {
		return
	}
	first := strconv.FormatInt(math.MinInt64, 10)
	w.partition(types.EncodeText(b.View.Keyspace))
	w.row(types.EncodeText(b.View.Name), types.EncodeText(first), types.EncodeText(first))
	w.bigint("keys_built", b.Rows)
	w.text("last_token", strconv.FormatInt(b.Token, 10))
}

// fillViewBuildStatus makes system_distributed.view_build_status.
func fillViewBuildStatus(n *node, w *writer, session store.Session, c *schema.Catalog) {
	for _, k := range c.Keyspaces() {
		for name, view := range k.Views {
			status := "STARTED"
			if n.viewBuilt(view) {
				status = "SUCCESS"
			}
			key := types.AppendCompositeKey(nil, types.EncodeText(k.Name))
			w.partition(types.AppendCompositeKey(key, types.EncodeText(name)))
			for _, on := range append(n.peers(session), n.self(session)) {
				w.row(on.HostID[:])
				w.text("status", status)
			}
		}
	}
}
