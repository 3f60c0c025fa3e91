package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/protocol/client/model"
)

// oftenBatch reports whether there are enough batches to draw conclusions.
func (l *look) oftenBatch(n int64) bool { return n >= minBatches || l.o.Script && n > 0 }

// finding is a finding of a batch.
func (b *batch) finding(message string) Finding {
	return Finding{Table: b.table.FullName(), Message: message, Evidence: []Evidence{{
		Form: b.text, Count: b.count, File: b.place.file, Line: b.place.line,
		Detail: fmt.Sprintf("%d statements for %d partitions on average", b.statements/b.count, b.partitions/b.count),
	}}}
}

// isBulk reports whether a batch only inserts rows of one table.
func (b *batch) isBulk() bool {
	for f := range b.children {
		if _, ok := f.statement.(*cql.Insert); !ok {
			return false
		}
	}
	return b.logged && len(b.tables) == 1
}

func checkBatch(l *look) (all []Finding) {
	for _, b := range l.batches {
		if !l.oftenBatch(b.wide) || b.isBulk() {
			continue
		}
		all = append(all, b.finding("one coordinator writes many partitions: concurrent single statements are cheaper"))
	}
	return all
}

func checkBulk(l *look) (all []Finding) {
	for _, b := range l.batches {
		if !l.oftenBatch(b.bulk) || !b.isBulk() {
			continue
		}
		all = append(all, b.finding("unrelated rows are loaded in a logged batch, which writes them twice: send single "+
			"statements concurrently, or unlogged batches of one partition"))
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
			message := "each row gets a tombstone for " + strings.Join(columns, ", ") + ": leave the column out"
			all = append(all, f.finding(message, ""))
		case f.nulls >= minExecutions:
			message := "%d bound values are null, and leave tombstones: bind unset values, or leave the columns out"
			all = append(all, f.finding(fmt.Sprintf(message, f.nulls), ""))
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
		message := "%s gets %d additions for each key, and is always read as a whole: make the elements rows"
		all = append(all, f.finding(fmt.Sprintf(message, c.Name, appends/len(f.keys)), l.cql(p)))
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
		f := Finding{Table: t.FullName(), Message: fmt.Sprintf("%d of %d conditional writes are of partition %s, where "+
			"they run one after the other, with four round trips between replicas", n, total, key)}
		for _, one := range l.forms {
			if isConditional(one.statement) && one.table == t {
				f.Evidence = append(f.Evidence, one.evidence())
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

// eachStep calls fn with each execution and the two before it by the same client: of the same table, and of any table.
func (l *look) eachStep(fn func(sameTable, before, s step)) {
	type session struct {
		client string
		table  *Table
	}
	ofTable, ofClient := map[session]step{}, map[string]step{}
	for _, s := range l.steps {
		at := session{s.client, s.form.table}
		fn(ofTable[at], ofClient[s.client], s)
		ofTable[at], ofClient[s.client] = s, s
	}
}

// isPair reports whether two executions are of the same single partition.
func isPair(a, b step) bool { return a.form != nil && len(b.keys) == 1 && slices.Equal(a.keys, b.keys) }

// pair counts executions of a form that come directly before or after a query.
type pair struct {
	query *form
	count int64
}

// pairFindings are the findings of forms whose executions are mostly in pairs with a query.
func (l *look) pairFindings(pairs map[*form]*pair, message string) (all []Finding) {
	for _, f := range l.forms {
		p := pairs[f]
		if p == nil || p.count < minPairs || float64(p.count) < minPairShare*float64(f.count) {
			continue
		}
		one := f.finding(fmt.Sprintf(message, p.count, f.count), "")
		one.Evidence = append(one.Evidence, p.query.evidence())
		all = append(all, one)
	}
	return all
}

// countPair counts a pair of a form that writes and a query.
func countPair(pairs map[*form]*pair, write, query *form) {
	if pairs[write] == nil {
		pairs[write] = &pair{query: query}
	}
	pairs[write].count++
}

// readsRow reports whether a form is a SELECT by the whole primary key.
func readsRow(f *form) bool {
	q, ok := f.statement.(*cql.Select)
	return ok && f.table.isRow(q.Where)
}

// isRow reports whether relations give the whole primary key.
func (t *Table) isRow(where []cql.Relation) bool {
	given := map[string]bool{}
	for _, r := range where {
		for _, c := range r.Columns {
			given[c.Name] = r.Op == cql.Eq && !r.Token
		}
	}
	keys := slices.Concat(t.OfKind("partition_key"), t.OfKind("clustering"))
	return !slices.ContainsFunc(keys, func(c model.Column) bool { return !given[c.Name] })
}

func checkReadBeforeWrite(l *look) []Finding {
	pairs := map[*form]*pair{}
	l.eachStep(func(before, _, s step) {
		if !isPair(before, s) || !readsRow(before.form) || isConditional(s.form.statement) || s.form.table.isCounterTable() {
			return
		}
		switch s.form.statement.(type) {
		case *cql.Insert, *cql.Update:
			countPair(pairs, s.form, before.form)
		}
	})
	return l.pairFindings(pairs, "%d of %d writes follow a query of the same row by the same client: others may write in "+
		"between; write without the query, or each fact as a row")
}

// isCounterUpdate reports whether a form changes counters.
func isCounterUpdate(f *form) bool {
	_, ok := f.statement.(*cql.Update)
	return ok && f.table.isCounterTable()
}

func checkSequence(l *look) []Finding {
	pairs, increments := map[*form]*pair{}, map[string]*form{}
	l.eachStep(func(sameTable, before, s step) {
		if isPair(sameTable, s) && isCounterUpdate(sameTable.form) && readsRow(s.form) {
			increments[s.client] = sameTable.form
			return
		}
		if _, inserts := s.form.statement.(*cql.Insert); inserts && increments[s.client] != nil {
			countPair(pairs, increments[s.client], before.form)
		}
		delete(increments, s.client)
	})
	return l.pairFindings(pairs, "%d of %d increments are followed by a query of the counter and an INSERT, as if it "+
		"made numbers: two clients can read the same one; use uuid() or now()")
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
				f := s.form.finding("counters of partition "+s.keys[0]+" are changed after they were deleted, so their values "+
					"are undefined", "")
				found = &f
			}
		}
		if found != nil {
			all = append(all, *found)
		}
	}
	return all
}
