package diagram

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/protocol/client/model"
)

// Pattern is an access pattern: a query that a table serves.
type Pattern struct {
	Name  string // Q1 if it is named in the model, T1 if it was seen in traffic
	Text  string
	Table string // keyspace.table; "" if no table serves it
	From  string // the keyspace.table that clients read before, or ""
	Count int64  // how often it was seen in traffic
}

// label returns the text at an arrow.
func (p Pattern) label() string {
	if p.Count > 0 {
		return p.Name + " ×" + strconv.FormatInt(p.Count, 10)
	}
	return p.Name
}

// compareNames orders Q2 before Q10, and before T1.
func compareNames(a, b string) int {
	number := func(name string) int {
		n := 0
		for _, r := range name {
			if r >= '0' && r <= '9' && n < 1<<30 {
				n = 10*n + int(r-'0')
			}
		}
		return n
	}
	return cmp.Or(strings.Compare(a[:min(1, len(a))], b[:min(1, len(b))]), number(a)-number(b), strings.Compare(a, b))
}

// named matches a pattern with its name and text, atEnd the tables in parentheses at the end of the text.
var (
	named = regexp.MustCompile(`^\s*(Q[0-9]{1,6}[a-z]?)\s*[:.：]\s*(.*?)\s*$`)
	atEnd = regexp.MustCompile(`^(.*?)\s*\(([^()]*)\)$`)
)

// InComments returns the patterns that the comments of tables name. Each line of a comment, or part between semicolons,
// may name one:
//
//	Q1: hotels near a point of interest
//	Q2: a hotel (hotels_by_poi -> hotels)
//
// The table is the one with the comment unless the text ends with another one in parentheses. An arrow there begins at
// the table that clients have read before.
func InComments(all []*model.Table) []Pattern {
	m := newMerger(all)
	for _, t := range all {
		for part := range strings.FieldsFuncSeq(t.Comment, func(r rune) bool { return r == ';' || r == '\n' }) {
			m.add(part, t.Keyspace, t.Name)
		}
	}
	return m.patterns()
}

// created matches the begin of a statement that creates a table or view.
var created = regexp.MustCompile(`(?i)^\s*CREATE\s+(?:TABLE|MATERIALIZED\s+VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?` +
	`((?:"(?:[^"]|"")*"|\w+)(?:\.(?:"(?:[^"]|"")*"|\w+))?)`)

// InFile returns the patterns that lines of comments name in a file of statements, in the syntax of InComments:
//
//	-- Q1: hotels near a point of interest (hotels_by_poi)
//
// The table in parentheses may be missing if the comment is directly above the statement that creates the table. Lines
// with the same name belong together: the first has the text.
func InFile(text string, all []*model.Table) []Pattern {
	m := newMerger(all)
	var above []string // lines of comments directly above
	for l := range strings.Lines(text) {
		comment := strings.TrimSpace(l)
		if rest := strings.TrimLeft(comment, "-/"); len(rest) <= len(comment)-2 {
			above = append(above, rest)
			continue
		}
		keyspace, table := "", ""
		if found := created.FindStringSubmatch(l); found != nil {
			if t := m.resolve(found[1], ""); t != nil {
				keyspace, table = t.Keyspace, t.Name
			}
		}
		for _, one := range above {
			m.add(one, keyspace, table)
		}
		above = nil
	}
	for _, one := range above {
		m.add(one, "", "")
	}
	return m.patterns()
}

// merger collects patterns by name.
type merger struct {
	tables []*model.Table
	names  []string
	texts  map[string]string
	served map[string][]Pattern
}

func newMerger(all []*model.Table) *merger {
	return &merger{tables: all, texts: map[string]string{}, served: map[string][]Pattern{}}
}

// add adds the pattern of a line, if it names one. The table is the one in parentheses, or else the given one if it is
// not "".
func (m *merger) add(line, keyspace, table string) {
	found := named.FindStringSubmatch(line)
	if found == nil {
		return
	}
	p := Pattern{Name: found[1], Text: found[2]}
	if table != "" {
		p.Table = keyspace + "." + table
	}
	if in := atEnd.FindStringSubmatch(p.Text); in != nil {
		from, to, arrow := strings.Cut(strings.ReplaceAll(in[2], "→", "->"), "->")
		if !arrow {
			from, to = "", from
		}
		source, target := m.resolve(from, keyspace), m.resolve(to, keyspace)
		if target != nil && (source != nil || !arrow) {
			p.Text, p.Table = in[1], target.Keyspace+"."+target.Name
			if arrow {
				p.From = source.Keyspace + "." + source.Name
			}
		}
	}
	if _, known := m.texts[p.Name]; !known {
		m.names = append(m.names, p.Name)
	}
	m.texts[p.Name] = cmp.Or(m.texts[p.Name], p.Text)
	if p.Table != "" {
		m.served[p.Name] = append(m.served[p.Name], p)
	}
}

// resolve finds a table by its name, qualified or not. Tables of the given keyspace come first.
func (m *merger) resolve(name, keyspace string) (t *model.Table) {
	unquote := func(s string) string {
		s = strings.TrimSpace(s)
		if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
			return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
		}
		return strings.ToLower(s)
	}
	in, table, qualified := strings.Cut(name, ".")
	if !qualified {
		in, table = "", in
	}
	in, table = unquote(in), unquote(table)
	for _, one := range m.tables {
		if one.Name == table && (in == "" || one.Keyspace == in) && (t == nil || one.Keyspace == keyspace) {
			t = one
		}
	}
	return t
}

// patterns returns the patterns with their texts.
func (m *merger) patterns() (all []Pattern) {
	for _, name := range m.names {
		if len(m.served[name]) == 0 {
			all = append(all, Pattern{Name: name, Text: m.texts[name]})
		}
		for _, p := range m.served[name] {
			p.Text = m.texts[name]
			all = append(all, p)
		}
	}
	return all
}

// merge adds patterns to others, each only once.
func merge(first, second []Pattern) []Pattern {
	for _, p := range second {
		if !slices.ContainsFunc(first, func(o Pattern) bool { return o.Name == p.Name && o.Table == p.Table }) {
			first = append(first, p)
		}
	}
	return first
}

// InTraffic returns a pattern for each form of query that clients have run on one of the tables. Its arrow begins at a
// table that the same client has read just before most of the runs, if there is one.
func InTraffic(statements []model.Statement, all []*model.Table) (patterns []Pattern) {
	known := map[string]bool{}
	for _, t := range all {
		known[t.Keyspace+"."+t.Name] = true
	}
	type query struct{ table, form string }
	from, last := map[query]map[string]int64{}, map[string]string{}
	for _, s := range statements {
		form := model.Form(s.Text)
		if !known[s.Table] || s.Err != "" || len(form) < 7 || !strings.EqualFold(form[:7], "SELECT ") {
			continue
		}
		client := s.Client[:max(0, strings.LastIndexByte(s.Client, ':'))] // a client has several connections
		q := query{s.Table, form}
		if from[q] == nil {
			from[q] = map[string]int64{}
		}
		before := last[client]
		if before == s.Table {
			before = ""
		}
		from[q][before]++
		last[client] = s.Table
	}
	for q, tables := range from {
		p := Pattern{Text: q.form, Table: q.table}
		for _, n := range tables {
			p.Count += n
		}
		for table, n := range tables {
			if 2*n > p.Count {
				p.From = table
			}
		}
		patterns = append(patterns, p)
	}
	slices.SortFunc(patterns, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Text, b.Text))
	})
	for i := range patterns {
		patterns[i].Name = "T" + strconv.Itoa(i+1)
	}
	return patterns
}
