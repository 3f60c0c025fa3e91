package advise

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client/model"
)

// Traffic is the sum of observed statements.
type Traffic struct {
	Statements int // that concern tables of the schema
	forms      []*form
	batches    []*batch
	steps      []step            // in order
	activity   map[*Table]*usage // of tables with statements
}

// form is all statements that differ only in their values. Statements of batches are counted too, but read nothing.
type form struct {
	text       string // the first one's, with ? for values
	statement  cql.Statement
	table      *Table // nil: it is none of the schema
	place      place  // of the first one
	count      int64
	rows       int64 // read
	returned   int64
	tombstones int64 // read
	nulls      int64 // bound to markers of an INSERT
	whole      int64 // executions that have read all partitions
	refused    int64 // executions without the ALLOW FILTERING that they need
	unprepared int64 // executions of texts with values
	texts      map[string]int
	keys       map[string]int // executions by partition key
	most       int            // partitions of one execution
	wide       int64          // executions with minInPartitions or more
}

// maxTexts is how many texts of a form are distinguished.
const maxTexts = 100

// batch is all batches of the same forms.
type batch struct {
	text       string
	table      *Table // the first one
	place      place
	logged     bool
	children   map[*form]bool
	tables     []*Table
	count      int64
	statements int64
	partitions int64
	wide       int64 // batches with minBatchPartitions or more
	bulk       int64 // batches with minBulkPartitions or more
}

// step is one execution, for rules about the order of statements. Clients on one host count as one, because drivers
// use several connections.
type step struct {
	client string // its host
	form   *form
	keys   []string
}

// usage counts the statements of a table by their effects.
type usage struct {
	selects, inserts, updates, deletes int64
	withTTL                            int64          // of inserts and updates
	inserted                           map[string]int // by partition key
	conditional                        map[string]int // writes by partition key
}

// observe sums statements up.
func observe(all []model.Statement, s *Schema, source *Source) *Traffic {
	o := &observer{
		schema: s, source: source, byText: map[string]*form{}, byBatch: map[string]*batch{},
		lists: regexp.MustCompile(`\?(?:, ?\?)+`),
	}
	o.activity = map[*Table]*usage{}
	for i := range all {
		o.takeStatement(&all[i])
	}
	return &o.Traffic
}

// observer makes a Traffic.
type observer struct {
	Traffic
	schema  *Schema
	source  *Source
	byText  map[string]*form
	byBatch map[string]*batch
	lists   *regexp.Regexp // of values: their lengths are not part of a form
}

// takeStatement adds a statement.
func (o *observer) takeStatement(st *model.Statement) {
	if st.Opcode == "PREPARE" || strings.HasSuffix(st.Text, sampleEnd) {
		return
	}
	if st.Opcode == "BATCH" {
		var texts []string
		for _, piece := range parser.Split(st.Text) {
			texts = append(texts, piece.Text)
		}
		o.takeBatch(st, texts, st.BatchType != "unlogged")
		return
	}
	f := o.form(st.Text, st.Table)
	if b, ok := f.statement.(*cql.Batch); ok {
		var texts []string
		for _, child := range b.Statements {
			texts = append(texts, child.String())
		}
		o.takeBatch(st, texts, b.Kind != cql.UnloggedBatch)
		return
	}
	if f.table == nil {
		return
	}
	o.Statements++
	o.countExecution(f, st, st.Partitions)
	f.rows += st.Rows
	f.returned += st.Returned
	f.tombstones += st.Tombstones
	f.most = max(f.most, len(st.Partitions))
	if len(st.Partitions) >= minInPartitions {
		f.wide++
	}
	if st.FullScan {
		f.whole++
	}
	if strings.Contains(st.Err, "ALLOW FILTERING") {
		f.refused++
	}
	f.nulls += st.Nulls
	if text := strings.TrimSpace(st.Text); !st.Prepared && model.Form(text) != strings.TrimRight(text, "; ") {
		f.unprepared++
		if len(f.texts) < maxTexts {
			f.texts[text]++
		}
	}
	host, _, _ := net.SplitHostPort(st.Client)
	o.steps = append(o.steps, step{host, f, st.Partitions})
}

// countExecution counts an execution of a statement, or of one in a batch.
func (o *observer) countExecution(f *form, st *model.Statement, keys []string) {
	f.count++
	for _, k := range keys {
		f.keys[k]++
	}
	if f.place.line == 0 {
		f.place = o.source.statement(st.Text)
	}
	o.countUse(f, st, keys)
}

// takeBatch adds a batch with the texts of its statements.
func (o *observer) takeBatch(st *model.Statement, texts []string, logged bool) {
	b := &batch{logged: logged, children: map[*form]bool{}}
	for _, text := range texts {
		if f := o.form(text, st.Table); f.table != nil {
			b.children[f] = true
			if !slices.Contains(b.tables, f.table) {
				b.tables = append(b.tables, f.table)
			}
		}
	}
	if len(b.tables) == 0 {
		return
	}
	o.Statements++
	b.text = "BEGIN BATCH "
	if !logged {
		b.text = "BEGIN UNLOGGED BATCH "
	}
	byText := func(a, b *form) int { return strings.Compare(a.text, b.text) }
	for _, f := range slices.SortedFunc(maps.Keys(b.children), byText) {
		b.text += f.text + "; "
	}
	b.text += "APPLY BATCH"
	if known := o.byBatch[b.text]; known != nil {
		b = known
	} else {
		b.table, b.place = b.tables[0], o.source.statement(st.Text)
		o.byBatch[b.text] = b
		o.batches = append(o.batches, b)
	}
	b.count++
	b.statements += int64(len(texts))
	b.partitions += int64(len(st.Partitions))
	if len(st.Partitions) >= minBatchPartitions {
		b.wide++
	}
	if len(st.Partitions) >= minBulkPartitions {
		b.bulk++
	}
	for i, text := range texts {
		f := o.form(text, st.Table)
		if f.table == nil {
			continue
		}
		var keys []string
		switch {
		case len(b.tables) > 1:
		case len(st.Partitions) == 1:
			keys = st.Partitions
		case len(st.Partitions) == len(texts):
			keys = st.Partitions[i : i+1]
		}
		o.countExecution(f, st, keys)
		if i == 0 {
			f.nulls += st.Nulls
		}
	}
}

// form returns the form of a text. table is the recorded one, which may be "".
func (o *observer) form(text, table string) *form {
	original := text
	text = model.Form(text)
	key := table + " " + o.lists.ReplaceAllString(text, "?, ?")
	f := o.byText[key]
	if f != nil {
		return f
	}
	f = &form{text: text, keys: map[string]int{}, texts: map[string]int{}}
	o.byText[key] = f
	statement, _, err := parser.Parse(text)
	if err != nil { // ? is not allowed in place of each literal
		statement, _, err = parser.Parse(original)
	}
	if err != nil {
		return f
	}
	f.statement = statement
	if name := tableOf(statement); name.Name != "" {
		keyspace, recorded, _ := strings.Cut(table, ".")
		switch {
		case name.Keyspace != "":
			f.table = o.schema.table(name.Keyspace + "." + name.Name)
		case recorded == name.Name:
			f.table = o.schema.table(keyspace + "." + name.Name)
		default:
			f.table = o.schema.named(name.Name)
		}
	}
	if f.table != nil {
		o.forms = append(o.forms, f)
	}
	return f
}

// tableOf returns the table that a statement reads or writes.
func tableOf(statement cql.Statement) (name cql.QualifiedName) {
	switch s := statement.(type) {
	case *cql.Select:
		return s.Table
	case *cql.Insert:
		return s.Table
	case *cql.Update:
		return s.Table
	case *cql.Delete:
		return s.Table
	}
	return name
}

// countUse adds an execution to the usage of its table.
func (o *observer) countUse(f *form, st *model.Statement, keys []string) {
	u := o.activity[f.table]
	if u == nil {
		u = &usage{inserted: map[string]int{}, conditional: map[string]int{}}
		o.activity[f.table] = u
	}
	var conditions cql.Conditions
	var using cql.Using
	switch s := f.statement.(type) {
	case *cql.Select:
		u.selects++
	case *cql.Insert:
		u.inserts++
		conditions, using = s.If, s.Using
		if st.Err == "" {
			for _, k := range keys {
				u.inserted[k]++
			}
		}
	case *cql.Update:
		u.updates++
		conditions, using = s.If, s.Using
	case *cql.Delete:
		u.deletes++
		conditions = s.If
	}
	if using.TTL != nil {
		u.withTTL++
	}
	if conditions.Any() {
		for _, k := range keys {
			u.conditional[k]++
		}
	}
}

// most returns the key with the highest count.
func most(counts map[string]int) (key string, n int) {
	for k, c := range counts {
		if c > n || c == n && k < key {
			key, n = k, c
		}
	}
	return key, n
}
