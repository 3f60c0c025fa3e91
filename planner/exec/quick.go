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

// Quick reports whether executing a plan takes little time and never waits: then the goroutine that read the request
// runs it. Reads of one row are quick, and writes, which are handed to the store, unless they compute with values of
// any size, or change several rows that views are made of. Changes of counters wait for each other. Where the data is
// on other machines, reads wait for these, and conditions and what views read do too.
func (e *Executor) Quick(p planner.Plan) bool {
	switch p := p.(type) {
	case *planner.Select:
		return p.OneRow && !e.store.Remote() && p.Grouping == nil && !schema.IsServers(p.Table) && isQuickRead(p)
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

// Brief reports whether executing a plan is likely to take little time though it may take long: it reads rows of named
// partitions, or those that an index finds, and makes nothing of them but their number. The goroutine that read the
// request may begin it, on a turn that is brief.
func (e *Executor) Brief(p planner.Plan) bool {
	s, ok := p.(*planner.Select)
	return ok && s.Where.Token == nil && (s.Where.Partition != nil || s.Indexed) && s.Sorts == nil && s.Nearest == nil &&
		s.Grouping == nil && !s.Table.TakenByCode() && !schema.IsServers(s.Table) && !e.store.Remote() && isQuickRead(s) &&
		!slices.ContainsFunc(s.Selection.Aggregates, func(a *expr.Aggregate) bool { return a.Function != nil })
}

// maxRepeated is how many times a quick read may select each column, on average: its row is encoded without a pause.
const maxRepeated = 4

func isQuickRead(p *planner.Select) bool {
	return p.Masked == nil && len(p.Selection.Columns) <= maxRepeated*len(p.Table.Columns) &&
		!slices.ContainsFunc(p.Selection.Exprs, expr.Costly) && isQuickWhere(p.Where, true)
}

func (e *Executor) isQuickWrite(m *planner.Modification) bool {
	if m.Table.Counter || m.Table.TakenByCode() || m.JSON != nil || m.If != nil && (e.store.Remote() || !isQuickIf(m.If)) {
		return false
	}
	for _, sets := range [...][]planner.SetColumn{m.Statics, m.Sets} {
		for i := range sets {
			if expr.Costly(sets[i].Value) || expr.Costly(sets[i].Part) {
				return false
			}
		}
	}
	return isQuickWhere(m.Where, false)
}

// writesOneRow reports whether a modification changes or deletes at most one row, which it names by its whole key.
func writesOneRow(m *planner.Modification) bool {
	return m.OneRow && m.Where.Slice == nil && len(m.Where.Clustering) == len(m.Table.Clustering)
}

// isQuickIf reports whether conditions compare with values that are computed in no time. The store compares.
func isQuickIf(c *planner.Conditions) bool {
	for _, conditions := range [...][]*planner.Condition{c.Rows, c.Statics} {
		for _, condition := range conditions {
			if expr.Costly(condition.Part) || expr.Costly(condition.List) || len(condition.Values) > quickRows ||
				slices.ContainsFunc(condition.Values, expr.Costly) {
				return false
			}
		}
	}
	return true
}

// isQuickWhere reports whether a WHERE clause names few rows, by values that are computed in no time. If lists is set,
// IN ? is taken for few: a read that has it is never quick, but it may be brief.
func isQuickWhere(w *where.Clause, lists bool) bool {
	rows := 1
	for _, choices := range [...][]*where.Choice{w.Partition, w.Clustering} {
		for _, c := range choices {
			if rows *= max(1, len(c.Points)); rows > quickRows || !isQuickChoice(c) {
				return false
			}
			if c.List != nil && !(lists && where.IsPlain(c.List)) {
				return false
			}
		}
	}
	if w.Slice != nil && !isQuickRange(w.Slice) {
		return false
	}
	return !slices.ContainsFunc(w.Filters, func(f *where.Filter) bool {
		return f.Choice != nil && !isQuickChoice(f.Choice) || f.Range != nil && !isQuickRange(f.Range) ||
			f.Contains != nil && (expr.Costly(f.Contains.Key) || expr.Costly(f.Contains.Value)) ||
			f.Like != nil && expr.Costly(f.Like.Value)
	})
}

func isQuickChoice(c *where.Choice) bool {
	return !expr.Costly(c.List) && !slices.ContainsFunc(c.Points, isCostlyPoint)
}

func isQuickRange(r *where.Range) bool {
	return (r.Lower == nil || !isCostlyPoint(r.Lower.Point)) && (r.Upper == nil || !isCostlyPoint(r.Upper.Point))
}

func isCostlyPoint(p where.Point) bool {
	return expr.Costly(p.Tuple) || slices.ContainsFunc(p.Parts, expr.Costly)
}
