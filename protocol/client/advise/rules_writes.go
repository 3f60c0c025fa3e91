package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol/client/model"
)

// minBatches is how many batches of the same forms are enough, unless they are of a script.
const minBatches = 3

// finding is a finding of a batch.
func (b *batch) finding(message string) Finding {
	return Finding{Table: b.table.FullName(), Message: message, Evidence: []Evidence{{
		Form: b.text, Count: b.count, Line: b.line, Detail: fmt.Sprintf("%d statements for %d partitions in each", b.statements/b.count,
			b.partitions/b.count),
	}}}
}

// isBulk reports whether a batch only inserts rows of one table into several partitions.
func (b *batch) isBulk() bool {
	for f := range b.children {
		if _, ok := f.statement.(*cql.Insert); !ok {
			return false
		}
	}
	return b.logged && len(b.tables) == 1 && b.partitions >= minBulkPartitions*b.count
}

func checkBatch(l *look) (all []Finding) {
	for _, b := range l.batches {
		if b.count < minBatches && !l.o.Script || b.partitions < minBatchPartitions*b.count || b.isBulk() {
			continue
		}
		all = append(all, b.finding("one coordinator writes many partitions: single statements, concurrently, take less time and memory"))
	}
	return all
}

func checkBulk(l *look) (all []Finding) {
	for _, b := range l.batches {
		if b.count < minBatches && !l.o.Script || !b.isBulk() {
			continue
		}
		all = append(all, b.finding("rows that do not depend on each other are loaded in a logged batch, which writes them twice: use single "+
			"statements, concurrently, or unlogged batches of one partition"))
	}
	return all
}

func checkNulls(l *look) (all []Finding) {
	for _, f := range l.forms {
		s, ok := f.statement.(*cql.Insert)
		if !ok {
			continue
		}
		var columns []string
		for i, v := range s.Values {
			if lit, ok := v.(*cql.Literal); ok && lit.Kind == cql.NullLiteral && i < len(s.Columns) {
				columns = append(columns, s.Columns[i].Name)
			}
		}
		switch {
		case len(columns) > 0 && l.often(f.count):
			all = append(all, f.finding("each row gets a tombstone for "+strings.Join(columns, ", ")+": leave the column out", ""))
		case f.nulls >= minExecutions:
			all = append(all, f.finding(fmt.Sprintf("%d bound values are null, and leave tombstones: bind unset values, or leave the columns "+
				"out", f.nulls), ""))
		}
	}
	return all
}

// updates calls fn for each assignment of an UPDATE to an unfrozen collection.
func (l *look) updates(fn func(f *form, c *model.Column, a *cql.Assignment)) {
	for _, f := range l.forms {
		s, ok := f.statement.(*cql.Update)
		if !ok {
			continue
		}
		for i := range s.Set {
			if c := f.table.Column(s.Set[i].Column.Name); c != nil && isCollection(c.Type) {
				fn(f, c, &s.Set[i])
			}
		}
	}
}

func checkLists(l *look) (all []Finding) {
	proposed := map[string]bool{}
	l.updates(func(f *form, c *model.Column, a *cql.Assignment) {
		if baseType(c.Type) != "list" || !l.often(f.count) {
			return
		}
		message := "a retry adds an element to the list " + c.Name + " twice: use a set, unless order and repetition matter"
		switch {
		case a.Key != nil || a.Op == cql.Subtract:
			message = "Cassandra reads the list " + c.Name + " before it writes: elements of a set or map need no read"
		case a.Op == cql.Assign:
			return
		}
		set := free(f.table, c.Name+"_set", "set<"+elementTypes(c.Type)[0]+">")
		better := "ALTER TABLE " + f.table.CQLName() + " ADD " + quote.Name(set.Name) + " " + set.Type + ";"
		if proposed[better] {
			better = ""
		}
		proposed[better] = true
		all = append(all, f.finding(message, better))
	})
	return all
}

func checkGrowing(l *look) (all []Finding) {
	type column struct {
		t    *Table
		name string
	}
	removed := map[column]bool{}
	l.updates(func(f *form, c *model.Column, a *cql.Assignment) {
		if a.Op == cql.Subtract || a.Op == cql.Assign && a.Key == nil {
			removed[column{f.table, c.Name}] = true
		}
	})
	l.updates(func(f *form, c *model.Column, a *cql.Assignment) {
		t := f.table
		if a.Op != cql.Append && a.Op != cql.Prepend || removed[column{t, c.Name}] || l.expires(t) ||
			len(t.OfKind("clustering")) > 0 && c.Kind != "static" {
			return
		}
		appends := 0
		for _, n := range f.keys {
			appends += n
		}
		if len(f.keys) == 0 || appends < minAppends*len(f.keys) {
			return
		}
		p := &proposal{keyspace: t.Keyspace, name: t.Name + "_" + c.Name, partition: t.OfKind("partition_key")}
		params := elementTypes(c.Type)
		entry, _ := element(t, *c, cql.ContainsKey)
		switch baseType(c.Type) {
		case "list":
			p.clustering = []model.Column{free(t, "added", "timeuuid")}
			p.others = []model.Column{entry}
		case "set":
			p.clustering = []model.Column{entry}
		case "map":
			p.clustering = []model.Column{entry}
			p.others = []model.Column{free(t, "value", params[len(params)-1])}
		}
		all = append(all, f.finding(fmt.Sprintf("%s grows by %d elements for each key, and is always read as a whole: give the elements "+
			"rows of their own", c.Name, appends/len(f.keys)), l.cql(p)))
	})
	return all
}

func checkHotConditions(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u := l.activity[t]
		if u == nil {
			continue
		}
		total := 0
		for _, n := range u.conditional {
			total += n
		}
		key, n := most(u.conditional)
		if n < minHotConditions || float64(n) < minHotShare*float64(total) {
			continue
		}
		f := Finding{Table: t.FullName(), Message: fmt.Sprintf("%d of %d conditional writes are of partition %s: each takes four round trips "+
			"between replicas, one after the other", n, total, key)}
		for _, one := range l.forms {
			if isConditional(one.statement) && one.table == t {
				f.Evidence = append(f.Evidence, one.evidence(""))
			}
		}
		all = append(all, f)
	}
	return all
}

// isConditional reports whether a statement has an IF clause.
func isConditional(statement cql.Statement) bool {
	switch s := statement.(type) {
	case *cql.Insert:
		return s.If.Any()
	case *cql.Update:
		return s.If.Any()
	case *cql.Delete:
		return s.If.Any()
	}
	return false
}

// pairs counts, for each form that writes, how many executions follow (or precede, if after is true) a query of the
// same row by the same client. A client's next statement of the same table counts.
func (l *look) pairs(writes func(*form) bool, after bool) (reads map[*form]*form, counts map[*form]int64) {
	reads, counts = map[*form]*form{}, map[*form]int64{}
	last := map[string]step{}
	for _, s := range l.steps {
		at := s.client + " " + s.form.table.FullName()
		before, ok := last[at]
		last[at] = s
		if !ok || len(s.keys) != 1 || !slices.Equal(before.keys, s.keys) {
			continue
		}
		read, write := before.form, s.form
		if after {
			read, write = write, read
		}
		if readsRow(read) && writes(write) {
			counts[write]++
			reads[write] = read
		}
	}
	return reads, counts
}

// readsRow reports whether a form is a SELECT by the whole primary key.
func readsRow(f *form) bool {
	q, ok := f.statement.(*cql.Select)
	if !ok {
		return false
	}
	for _, c := range slices.Concat(f.table.OfKind("partition_key"), f.table.OfKind("clustering")) {
		if !slices.ContainsFunc(q.Where, func(r cql.Relation) bool {
			return r.Op == cql.Eq && !r.Token && slices.ContainsFunc(r.Columns, func(one cql.ColumnRef) bool { return one.Name == c.Name })
		}) {
			return false
		}
	}
	return true
}

// pairFindings are the findings of forms whose executions are mostly in pairs with a query.
func (l *look) pairFindings(writes func(*form) bool, after bool, message string) (all []Finding) {
	reads, counts := l.pairs(writes, after)
	for _, f := range l.forms {
		n := counts[f]
		if n < minPairs || float64(n) < minPairShare*float64(f.count) {
			continue
		}
		one := f.finding(fmt.Sprintf(message, n, f.count), "")
		one.Evidence = append(one.Evidence, reads[f].evidence(""))
		all = append(all, one)
	}
	return all
}

func checkReadBeforeWrite(l *look) []Finding {
	return l.pairFindings(func(f *form) bool {
		switch f.statement.(type) {
		case *cql.Insert, *cql.Update:
			return !isConditional(f.statement) && !f.table.isCounterTable()
		}
		return false
	}, false, "%d of %d writes follow a query of the same row by the same client: others may write between the two; write facts as rows of "+
		"their own, or without the query")
}

// isCounterUpdate reports whether a form changes counters.
func isCounterUpdate(f *form) bool {
	_, ok := f.statement.(*cql.Update)
	return ok && f.table.isCounterTable()
}

func checkSequence(l *look) []Finding {
	return l.pairFindings(isCounterUpdate, true, "%d of %d increments are followed by a query of the counter, as if it made numbers: two "+
		"clients can read the same one; use uuid() or now()")
}

func checkDeletedCounter(l *look) (all []Finding) {
	for _, t := range l.Tables {
		u := l.activity[t]
		if u == nil || !t.isCounterTable() || u.deletes == 0 {
			continue
		}
		deleted := map[string]bool{}
		var found *Finding
		for _, s := range l.steps {
			if s.form.table != t || len(s.keys) != 1 {
				continue
			}
			if _, ok := s.form.statement.(*cql.Delete); ok {
				deleted[s.keys[0]] = true
			} else if isCounterUpdate(s.form) && deleted[s.keys[0]] && found == nil && len(t.OfKind("clustering")) == 0 {
				f := s.form.finding("counters of partition "+s.keys[0]+" are changed after they were deleted: Cassandra does not define their "+
					"values", "")
				found = &f
			}
		}
		if found != nil {
			all = append(all, *found)
		}
	}
	return all
}
