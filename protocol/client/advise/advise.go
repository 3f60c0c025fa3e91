package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/internal/suggest"
	"github.com/cqld/cqld/protocol/client/model"
)

// Options are the parameters of Advise. The zero value is for a server: all its tables, and the statements that it has
// recorded.
type Options struct {
	Keyspace string   // only its tables; "": all tables, except system tables
	Ignore   []string // names of rules

	// Statements were observed; nil: the server's record is read.
	Statements []model.Statement

	// Source is the files that the schema comes from, or nil. If they are scripts, their statements are examples of the
	// queries of a program, so that one execution is enough evidence.
	Source *Source
	Script bool
}

// Report is the result of Advise.
type Report struct {
	Findings   []Finding `json:"findings"`
	Tables     int       `json:"tables"`     // how many tables and views were looked at
	Statements int       `json:"statements"` // how many observed statements concern them
	Recorded   bool      `json:"recorded"`   // statements were observed; else only rules of the schema apply
	Notes      []string  `json:"notes,omitempty"`
}

// Finding is a fault of a table, a keyspace or a query.
type Finding struct {
	Rule     string     `json:"rule"` // the name of the rule
	Severity Severity   `json:"severity"`
	Table    string     `json:"table"` // keyspace.table, or the keyspace
	Message  string     `json:"message"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Better   string     `json:"better,omitempty"` // statements of CQL that make a better model; "": none can be derived
	Proof    *Proof     `json:"proof,omitempty"`  // of Better, by package prove
	File     string     `json:"file,omitempty"`   // where the table is defined, if that is a file
	Line     int        `json:"line,omitempty"`   // counted from 1
}

// Evidence is an observation: of the statements of one form, or of a table if Form is "".
type Evidence struct {
	Form       string `json:"form,omitempty"` // the statement with ? for its values
	Count      int64  `json:"count,omitempty"`
	RowsRead   int64  `json:"rows_read,omitempty"`
	Returned   int64  `json:"returned,omitempty"` // rows
	Tombstones int64  `json:"tombstones,omitempty"`
	Detail     string `json:"detail,omitempty"` // in words
	File       string `json:"file,omitempty"`   // of the first statement, if it is in a file
	Line       int    `json:"line,omitempty"`
}

// Severity is how bad a finding is. Its values are also the levels of SARIF.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Severities are the names of the severities, the worst first.
var Severities = []string{string(Error), string(Warning), string(Note)}

// rank is 0 for the worst severity.
func (s Severity) rank() int { return slices.Index(Severities, string(s)) }

// Rule is a rule of data modelling.
type Rule struct {
	Name     string // lower case, with hyphens; it never changes
	Severity Severity
	Title    string // one line
	Why      string // the reason, and the limits from which on it reports
	Source   string // where the rule is from

	check func(*look) []Finding
}

// CheckRules returns an error for the first name that no rule has.
func CheckRules(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Name == name }) {
			return unknownRule(name)
		}
	}
	return nil
}

// unknownRule is the error for a name that no rule has.
func unknownRule(name string) error {
	var names []string
	for _, r := range Rules {
		names = append(names, r.Name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no rule %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no rule %q", name)
}

// look is all that the rules look at.
type look struct {
	*Schema
	*Traffic
	o Options
}

// Advise compares the schema of a server, and the statements that it has recorded, with the rules. query runs
// statements on the server; it only reads.
func Advise(ctx context.Context, query model.Query, o Options) (*Report, error) {
	if err := CheckRules(o.Ignore); err != nil {
		return nil, err
	}
	report := &Report{Recorded: true}
	statements := o.Statements
	if statements == nil {
		var err error
		statements, err = model.Statements(ctx, query)
		if errors.Is(err, model.ErrNotRecorded) {
			report.Recorded = false
		} else if err != nil {
			return nil, fmt.Errorf("read the recorded statements: %w", err)
		}
	}
	schema, err := readSchema(ctx, query, o.Keyspace)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	report.Tables = len(schema.Tables)
	traffic := observe(statements, schema, o.Source)
	report.Statements = traffic.Statements
	l := &look{schema, traffic, o}
	for _, r := range Rules {
		if slices.Contains(o.Ignore, r.Name) {
			continue
		}
		for _, f := range r.check(l) {
			f.Rule, f.Severity = r.Name, r.Severity
			if l.ignores(f) {
				continue
			}
			at := o.Source.placeOf(f)
			f.File, f.Line = at.file, at.line
			report.Findings = append(report.Findings, f)
		}
	}
	slices.SortStableFunc(report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), strings.Compare(a.Table, b.Table))
	})
	report.Notes = l.notes()
	return report, nil
}

// ignores reports whether a comment at the table, or the table's own comment, ignores the rule.
func (l *look) ignores(f Finding) bool {
	if l.o.Source.ignores(f) {
		return true
	}
	t := l.table(f.Table)
	return t != nil && slices.Contains(ignored(t.Settings.Comment), f.Rule)
}

// notes are about names of rules in comments that no rule has.
func (l *look) notes() (all []string) {
	if s := l.o.Source; s != nil {
		all = append(all, s.notes...)
	}
	for _, t := range l.Tables {
		for _, name := range ignored(t.Settings.Comment) {
			if err := CheckRules([]string{name}); err != nil {
				all = append(all, fmt.Sprintf("the comment of table %s: %v", t.FullName(), err))
			}
		}
	}
	return all
}

// Worst reports whether a finding is at least as bad as a severity.
func (r *Report) Worst(atLeast Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity.rank() <= atLeast.rank() })
}
