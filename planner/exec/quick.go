package exec

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// quickRows is how many rows a quick statement may name.
const quickRows = 100

// Quick reports whether executing a plan never waits, and computes for little time between two steps of its turn: then
// the goroutine that reads a connection may execute it, a read with a budget. Plans are not quick that compute with
// values of any size, compare vectors, call the code of a virtual table, or write several rows that views are made of.
// Changes of counters wait for each other. Where the data is on other machines, reads wait for these, and so do
// conditions and the reads of views.
func (e *Executor) Quick(p planner.Plan) bool {
	switch p := p.(type) {
	case *planner.Select:
		return !e.store.Remote() && isQuickRead(p)
	case *planner.Modification:
		return e.isQuickWrite(p) && (!e.store.HasViews(p.Table) || writesOneRow(p) && !e.store.Remote())
	case *planner.Batch:
		return !slices.ContainsFunc(p.Statements, func(m *planner.Modification) bool {
			return !e.isQuickWrite(m) || e.store.HasViews(m.Table)
		})
	case *planner.Use:
		return true
	}
	return false
}

// maxRepeated is how many times a quick read may select each column, on average: its row is encoded without a pause.
const maxRepeated = 4

func isQuickRead(p *planner.Select) bool {
	return !p.Table.TakenByCode() && !schema.IsServers(p.Table) && p.Nearest == nil && p.Masked == nil &&
		!expr.Costly(p.Limit) && !expr.Costly(p.PerPartitionLimit) &&
		len(p.Selection.Columns) <= maxRepeated*len(p.Table.Columns) && !slices.ContainsFunc(p.Selection.Exprs, expr.Costly) &&
		!slices.ContainsFunc(p.Selection.Aggregates, func(a *expr.Aggregate) bool { return a.Function != nil }) &&
		isQuickWhere(p.Where, true)
}

func (e *Executor) isQuickWrite(m *planner.Modification) bool {
	if m.Table.Counter || m.Table.TakenByCode() || m.Costly || m.If != nil && (e.store.Remote() || !isQuickIf(m.If)) {
		return false
	}
	return isQuickWhere(m.Where, false)
}

// writesOneRow reports whether a modification changes or deletes at most one row, which it names by its whole key.
func writesOneRow(m *planner.Modification) bool {
	return m.OneRow && m.Where.Slice == nil && len(m.Where.Clustering) == len(m.Table.Clustering)
}

// isQuickIf reports whether conditions compare with few values. The store compares.
func isQuickIf(c *planner.Conditions) bool {
	return !slices.ContainsFunc(slices.Concat(c.Rows, c.Statics), func(c *planner.Condition) bool { return len(c.Values) > quickRows })
}

// isQuickWhere reports whether a WHERE clause names few rows, by values that are computed in no time. IN ? names any
// number of rows. A read may have it, if lists is set: it makes a step of its turn for each partition.
func isQuickWhere(w *where.Clause, lists bool) bool {
	rows := 1
	for _, choices := range [...][]*where.Choice{w.Partition, w.Clustering} {
		for _, c := range choices {
			if rows *= max(1, len(c.Points)); rows > quickRows || c.Costly() {
				return false
			}
			if c.List != nil && !(lists && where.IsPlain(c.List)) {
				return false
			}
		}
	}
	return !w.Slice.Costly() && !slices.ContainsFunc(w.Filters, func(f *where.Filter) bool {
		return f.Choice != nil && f.Choice.Costly() || f.Range.Costly() ||
			f.Contains != nil && (expr.Costly(f.Contains.Key) || expr.Costly(f.Contains.Value)) ||
			f.Like != nil && expr.Costly(f.Like.Value)
	})
}
