package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
)

// Source is a file of CQL that defines tables: the lines of its statements, and the rules that comments ignore.
//
//	-- cqld:ignore allow-filtering, select-star
//	CREATE TABLE ...
type Source struct {
	name       string
	keyspace   string                 // of the last USE
	tables     map[string]*definition // by their full names
	statements map[string]int         // lines by texts
	notes      []string
}

// definition is where a table is defined.
type definition struct {
	line    int
	ignores []string
}

// ReadSource reads the definitions in a file. keyspace is the one that its session begins in.
func ReadSource(file cqlfiles.File, keyspace string) *Source {
	s := &Source{name: file.Name, keyspace: keyspace, tables: map[string]*definition{}, statements: map[string]int{}}
	lines := strings.Split(file.Text, "\n")
	before := 0 // the last line of the statement before
	for _, one := range file.Statements() {
		text := strings.TrimSpace(one.Text)
		last := min(one.Line+strings.Count(text, "\n"), len(lines))
		if _, known := s.statements[text]; !known {
			s.statements[text] = one.Line
		}
		s.define(one.Line, text, ignored(strings.Join(lines[min(before, one.Line-1):last], "\n")))
		before = last
	}
	return s
}

// define keeps the place of a table or view, and the rules that the comments at it ignore.
func (s *Source) define(line int, text string, ignores []string) {
	for _, name := range ignores {
		if err := CheckRules([]string{name}); err != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s:%d: cqld:ignore: %v", s.name, line, err))
		}
	}
	if word, _, _ := strings.Cut(strings.ToLower(text), " "); len(ignores) == 0 && word != "use" && word != "create" {
		return
	}
	statement, _, err := parser.Parse(text)
	if err != nil {
		return // the server has said so
	}
	switch t := statement.(type) {
	case *cql.Use:
		s.keyspace = t.Keyspace
	case *cql.CreateTable:
		s.at(t.Table, line, ignores)
	case *cql.CreateView:
		s.at(t.View, line, ignores)
	case *cql.CreateIndex:
		s.at(t.Table, 0, ignores)
	default:
		for _, name := range ignores {
			s.notes = append(s.notes, fmt.Sprintf("%s:%d: cqld:ignore %s: the statement after it defines no table", s.name, line, name))
		}
	}
}

// at adds a definition.
func (s *Source) at(name cql.QualifiedName, line int, ignores []string) {
	if name.Keyspace == "" {
		name.Keyspace = s.keyspace
	}
	full := name.Keyspace + "." + name.Name
	d := s.tables[full]
	if d == nil {
		d = &definition{line: line}
		s.tables[full] = d
	}
	d.ignores = append(d.ignores, ignores...)
}

// of returns the definition of a finding's table, or nil.
func (s *Source) of(f Finding) *definition {
	if s == nil {
		return nil
	}
	return s.tables[f.Table]
}

// ignores reports whether a comment in the file ignores a finding.
func (s *Source) ignores(f Finding) bool {
	d := s.of(f)
	return d != nil && slices.Contains(d.ignores, f.Rule)
}

// place returns the file and line of a finding: of its table, or else of its first statement.
func (s *Source) place(f Finding) (file string, line int) {
	if s == nil {
		return "", 0
	}
	if d := s.of(f); d != nil && d.line > 0 {
		return s.name, d.line
	}
	for _, e := range f.Evidence {
		if e.Line > 0 {
			return s.name, e.Line
		}
	}
	return s.name, 1
}

// line returns the line of a statement, or 0.
func (s *Source) line(text string) int {
	if s == nil {
		return 0
	}
	return s.statements[strings.TrimSpace(text)]
}
