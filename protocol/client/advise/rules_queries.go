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

// evidence has the numbers of a form.
func (f *form) evidence() Evidence {
	return Evidence{
		Form: f.text, Count: f.count, RowsRead: f.rows, Returned: f.returned, Tombstones: f.tombstones,
		File: f.place.file, Line: f.place.line,
	}
}

// finding is a finding of a form's table with its evidence.
func (f *form) finding(message, better string) Finding {
	return Finding{Table: f.table.FullName(), Message: message, Evidence: []Evidence{f.evidence()}, Better: better}
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
		filters := strings.Join(p.Filters, " AND ")
		if f.refused > 0 && len(p.Filters) > 0 {
			message := "the query is refused, because its rows have to be compared with " + filters
			all = append(all, f.finding(message, l.cql(tableForQuery(q, f.table))))
			return
		}
		if !q.AllowFiltering || len(p.Filters) == 0 || hasToken(q) {
			return
		}
		narrow := p.Partitions > 0 || p.Index != ""
		if narrow && (f.average(f.rows) < minFilteredRows || f.rows < minRowsPerRow*max(f.returned, 1)) {
			return
		}
		message := "every partition of the table is read, and rows are compared with " + filters
		if narrow {
			message = fmt.Sprintf("%d rows are read for each one that matches %s", f.rows/max(f.returned, 1), filters)
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
			if c == nil || !strings.HasPrefix(p.Index, c.Index+" (") || !isLegacy(*c) && c.IndexKind != "SASIIndex" {
				continue
			}
			message := "the index " + c.Index + " is asked on every node, because the partition key is not given"
			all = append(all, f.finding(message, l.cql(tableForQuery(q, f.table))))
			return
		}
	})
	return all
}

func checkIn(l *look) (all []Finding) {
	l.selects(func(f *form, q *cql.Select, _ *model.Plan) {
		in := slices.ContainsFunc(q.Where, func(r cql.Relation) bool {
			return r.Op == cql.In && contains(f.table.OfKind("partition_key"), r.Columns[0].Name)
		})
		if !in || !l.often(f.wide) {
			return
		}
		message := "one coordinator reads up to %d partitions for a query: run one query for each of them, or put their " +
			"rows into one partition"
		all = append(all, f.finding(fmt.Sprintf(message, f.most), ""))
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
		message := "%d texts with values were parsed and planned: prepare the statement, and bind values"
		all = append(all, f.finding(fmt.Sprintf(message, f.unprepared), ""))
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
		perRow := f.tombstones / max(f.returned, 1)
		if f.average(f.tombstones) < minTombstones || perRow < minTombstonesPerRow || l.isQueue(f.table) {
			return
		}
		all = append(all, f.finding(fmt.Sprintf("%d tombstones are read for each row", perRow), ""))
	})
	return all
}

// isQueue reports whether rows are deleted after they were read, and queries pass the tombstones that they leave.
func (l *look) isQueue(t *Table) bool {
	if l.taken(t) < minExecutions || len(t.OfKind("clustering")) == 0 {
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

// taken counts deletions of single rows in the partition that the client has read last.
func (l *look) taken(t *Table) (n int) {
	last := map[string][]string{}
	for _, s := range l.steps {
		if s.form.table != t || len(s.keys) != 1 {
			continue
		}
		switch d := s.form.statement.(type) {
		case *cql.Select:
			last[s.client] = s.keys
		case *cql.Delete:
			if slices.Equal(last[s.client], s.keys) && len(d.Targets) == 0 && t.isRow(d.Where) {
				n++
			}
		}
	}
	return n
}

func checkQueue(l *look) (all []Finding) {
	for _, t := range l.Tables {
		if !l.isQueue(t) {
			continue
		}
		f := Finding{Table: t.FullName(), Message: "rows are written, read and deleted as in a queue, and reads pass the " +
			"tombstones of deleted rows: use a queue, or partitions by time that are read once and expire as a whole"}
		for _, one := range l.forms {
			_, deletes := one.statement.(*cql.Delete)
			if one.table == t && (deletes || one.tombstones > 0) {
				f.Evidence = append(f.Evidence, one.evidence())
			}
		}
		if !t.hasBucket() && t.isTimeSeries() {
			p := withBucket(t, "_by_hour", "hour", "timestamp")
			p.options = []string{"default_time_to_live = 86400", "compaction = " + timeWindows("HOURS")}
			f.Better = l.cql(p)
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
		hasView := slices.ContainsFunc(l.Tables, func(v *Table) bool { return v.Of == t.Name && v.Keyspace == t.Keyspace })
		if u == nil || u.selects < enoughSelects || hasView {
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
				addWords(named, s.If.String())
			case *cql.Delete:
				addWords(named, s.If.String())
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
