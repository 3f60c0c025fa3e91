package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/protocol/client/model"
)

// often reports whether there are enough executions to draw conclusions.
func (l *look) often(n int64) bool { return n >= minExecutions || l.o.Script && n > 0 }

// evidence is what a form has read.
func (f *form) evidence(detail string, args ...any) Evidence {
	return Evidence{
		Form: f.text, Count: f.count, RowsRead: f.rows, Returned: f.returned, Tombstones: f.tombstones, Line: f.line,
		Detail: fmt.Sprintf(detail, args...),
	}
}

// finding is a finding of a form's table with its evidence.
func (f *form) finding(message, better string) Finding {
	return Finding{Table: f.table.FullName(), Message: message, Evidence: []Evidence{f.evidence("")}, Better: better}
}

// average is the average of a sum over the executions of a form.
func (f *form) average(sum int64) int64 { return sum / max(f.count, 1) }

// selects calls fn for each form of a SELECT of a table.
func (l *look) selects(fn func(f *form, q *cql.Select, p *model.Plan)) {
	for _, f := range l.forms {
		if q, ok := f.statement.(*cql.Select); ok {
			fn(f, q, model.PlanOf(q, f.table.Table))
		}
	}
}

// hasToken reports whether a query reads a range of tokens, as programs do that read a table in parts.
func hasToken(q *cql.Select) bool {
	return slices.ContainsFunc(q.Where, func(r cql.Relation) bool { return r.Token })
}

func checkFiltering(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, p *model.Plan) {
		if !q.AllowFiltering || len(p.Filters) == 0 || hasToken(q) {
			return
		}
		narrow := p.Partitions > 0 || p.Index != ""
		if narrow && (f.average(f.rows) < minFilteredRows || f.rows < minRowsPerRow*max(f.returned, 1)) {
			return
		}
		message := "every partition of the table is read, and rows are compared with " + strings.Join(p.Filters, " AND ")
		if narrow {
			message = fmt.Sprintf("%d rows are read for each one that matches %s", f.rows/max(f.returned, 1), strings.Join(p.Filters, " AND "))
		}
		all = append(all, f.finding(message, l.cql(tableForQuery(q, f.table))))
	})
	return all
}

func checkScan(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, p *model.Plan) {
		if len(q.Where) > 0 || q.Limit != nil || p.Index != "" || !l.often(f.whole) || f.average(f.rows) < minScannedRows {
			return
		}
		all = append(all, f.finding(fmt.Sprintf("all rows of all partitions are read, %d on average", f.average(f.rows)), ""))
	})
	return all
}

func checkMissingTable(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, p *model.Plan) {
		if p.Partitions > 0 || p.Index == "" || hasToken(q) || !l.often(f.count) {
			return
		}
		for _, r := range q.Where {
			c := f.table.Column(r.Columns[0].Name)
			if c != nil && c.Index != "" && strings.Contains(p.Index, c.Index+" (") && (isLegacy(*c) || c.IndexKind == "SASIIndex") {
				all = append(all, f.finding("the index "+c.Index+" is asked on every node, because the partition key is not given",
					l.cql(tableForQuery(q, f.table))))
				return
			}
		}
	})
	return all
}

func checkIn(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, _ *model.Plan) {
		in := slices.ContainsFunc(q.Where, func(r cql.Relation) bool {
			return r.Op == cql.In && contains(f.table.OfKind("partition_key"), r.Columns[0].Name)
		})
		if !in || !l.often(f.count) || f.average(f.partitions) < minInPartitions {
			return
		}
		message := fmt.Sprintf("one coordinator reads %d partitions for a query, up to %d: run one query for each, concurrently, or "+
			"a table with these rows in one partition", f.average(f.partitions), f.most)
		all = append(all, f.finding(message, ""))
	})
	return all
}

func checkStar(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, _ *model.Plan) {
		if len(q.Selectors) > 0 || len(f.table.Columns) < wideColumns || !l.often(f.count) {
			return
		}
		all = append(all, f.finding(fmt.Sprintf("all %d columns are read and sent", len(f.table.Columns)), ""))
	})
	return all
}

func checkUnprepared(l *look) (all []Finding) {
	if l.o.Script {
		return nil
	}
	for _, f := range l.forms {
		if f.unprepared < minUnprepared || len(f.texts) < minUnpreparedTexts {
			continue
		}
		all = append(all, f.finding(fmt.Sprintf("%d texts with values were parsed and planned: prepare the statement, and bind values",
			f.unprepared), ""))
	}
	return all
}

func checkTombstones(l *look) (all []Finding) {
	for _, t := range l.Tables {
		if t.Dead >= minTombstonesRead {
			all = append(all, Finding{
				Table: t.FullName(), Message: fmt.Sprintf("one read in a hundred reads %.0f tombstones or more", t.Dead),
				Evidence: []Evidence{{Detail: "system_views.tombstones_per_read"}},
			})
		}
	}
	l.selects(func(f *form, _ *cql.Select, _ *model.Plan) {
		if f.average(f.tombstones) < minTombstones || f.tombstones < minTombstonesPerRow*max(f.returned, 1) || l.isQueue(f.table) {
			return
		}
		all = append(all, f.finding(fmt.Sprintf("%d tombstones are read for each row", f.tombstones/max(f.returned, 1)), ""))
	})
	return all
}

// isQueue reports whether rows are deleted, and reads pass the tombstones that they leave.
func (l *look) isQueue(t *Table) bool {
	u := l.activity[t]
	if u == nil || u.deletes < minExecutions || len(t.OfKind("clustering")) == 0 {
		return false
	}
	var tombstones, returned int64
	l.selects(func(f *form, _ *cql.Select, _ *model.Plan) {
		if f.table == t {
			tombstones += f.tombstones
			returned += f.returned
		}
	})
	return tombstones >= minTombstones && tombstones >= minTombstonesPerRow*max(returned, 1)
}

func checkQueue(l *look) (all []Finding) {
	for _, t := range l.Tables {
		if !l.isQueue(t) {
			continue
		}
		f := Finding{Table: t.FullName(), Message: "rows are written, read and deleted as in a queue, and reads pass the tombstones of " +
			"all deleted rows: use a queue, or partitions by time that are read once and expire as a whole"}
		for _, one := range l.forms {
			_, deletes := one.statement.(*cql.Delete)
			if one.table == t && (deletes || one.tombstones > 0) {
				f.Evidence = append(f.Evidence, one.evidence(""))
			}
		}
		if !t.hasBucket() && t.isTimeSeries() {
			f.Better = l.cql(withBucket(t, "_by_hour", "hour", "timestamp"))
		}
		all = append(all, f)
	}
	return all
}

func checkUnusedTable(l *look) (all []Finding) {
	if l.Statements < enoughStatements || 2*len(l.activity) < len(l.Tables) {
		return nil
	}
	for _, t := range l.Tables {
		used := l.activity[t] != nil || t.Of != "" && l.activity[l.table(t.Keyspace+"."+t.Of)] != nil
		for view := range l.activity {
			used = used || view.Of == t.Name && view.Keyspace == t.Keyspace
		}
		if !used {
			all = append(all, Finding{
				Table: t.FullName(), Message: fmt.Sprintf("none of %d observed statements reads or writes it", l.Statements),
			})
		}
	}
	return all
}

func checkUnreadColumn(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u := l.activity[t]
		if u == nil || u.selects < enoughSelects || slices.ContainsFunc(l.Tables, func(v *Table) bool { return v.Of == t.Name && v.Keyspace == t.Keyspace }) {
			continue
		}
		named, whole := map[string]bool{}, false
		for _, f := range l.forms {
			if f.table != t {
				continue
			}
			switch s := f.statement.(type) {
			case *cql.Select:
				whole = whole || len(s.Selectors) == 0
				addWords(named, f.text)
			case *cql.Update:
				addWords(named, cql.Conditions(s.If).String())
			case *cql.Delete:
				addWords(named, cql.Conditions(s.If).String())
			}
		}
		var unread []string
		for _, c := range slices.Concat(t.OfKind("regular"), t.OfKind("static")) {
			if !named[c.Name] && c.Index == "" {
				unread = append(unread, c.Name)
			}
		}
		if !whole && len(unread) > 0 {
			all = append(all, Finding{
				Table:   t.FullName(),
				Message: fmt.Sprintf("none of %d observed queries reads %s", u.selects, strings.Join(unread, ", ")),
			})
		}
	}
	return all
}

// addWords adds the names in a text of CQL.
func addWords(words map[string]bool, text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		words[word], words[strings.ToLower(word)] = true, true
	}
}
