package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
)

// Source is files of CQL that define tables: the lines of their statements, and the rules that comments ignore.
//
//	-- cqld:ignore allow-filtering, select-star
//	CREATE TABLE ...
type Source struct {
	keyspace   string                 // of the last USE
	tables     map[string]*definition // by their full names
	statements map[string]place       // by texts
	notes      []string
}

// place is a line of a file, counted from 1; 0: unknown.
type place struct {
	file string
	line int
}

// definition is where a table is defined.
type definition struct {
	place
	ignores []string
}

// ReadSource reads the definitions in files, which one session runs. It begins in a keyspace.
func ReadSource(keyspace string, files ...cqlfiles.File) *Source {
	s := &Source{keyspace: keyspace, tables: map[string]*definition{}, statements: map[string]place{}}
	for _, f := range files {
		s.readFile(f)
	}
	return s
}

func (s *Source) readFile(file cqlfiles.File) {
	lines := strings.Split(file.Text, "\n")
	before := 0 // the last line of the statement before
	for _, one := range file.Statements() {
		text := strings.TrimSpace(one.Text)
		last := min(one.Line+strings.Count(text, "\n"), len(lines))
		if _, known := s.statements[text]; !known {
			s.statements[text] = place{file.Name, one.Line}
		}
		s.define(place{file.Name, one.Line}, text, ignored(strings.Join(lines[min(before, one.Line-1):last], "\n")))
		before = last
	}
}

// define keeps the place of a table or view, and the rules that the comments at it ignore.
func (s *Source) define(at place, text string, ignores []string) {
	for _, name := range ignores {
		if err := CheckRules([]string{name}); err != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s:%d: cqld:ignore: %v", at.file, at.line, err))
		}
	}
	begin := strings.ToLower(text[:min(len("create"), len(text))])
	if len(ignores) == 0 && begin != "create" && !strings.HasPrefix(begin, "use") {
		return // most statements of a script, which are not parsed again
	}
	statement, _, err := parser.Parse(text)
	if err != nil {
		return // the server has said so
	}
	switch t := statement.(type) {
	case *cql.Use:
		s.keyspace = t.Keyspace
		s.misplaced(at, ignores)
	case *cql.CreateTable:
		s.addDefinition(t.Table, at, ignores)
	case *cql.CreateView:
		s.addDefinition(t.View, at, ignores)
	case *cql.CreateIndex:
		s.addDefinition(t.Table, place{}, ignores)
	default:
		s.misplaced(at, ignores)
	}
}

// misplaced notes rules that are ignored where no table is defined.
func (s *Source) misplaced(at place, ignores []string) {
	for _, name := range ignores {
		s.notes = append(s.notes, fmt.Sprintf("%s:%d: cqld:ignore %s: the statement after it defines no table", at.file,
			at.line, name))
	}
}

// addDefinition adds the place of a table.
func (s *Source) addDefinition(name cql.QualifiedName, at place, ignores []string) {
	if name.Keyspace == "" {
		name.Keyspace = s.keyspace
	}
	full := name.Keyspace + "." + name.Name
	d := s.tables[full]
	if d == nil {
		d = &definition{place: at}
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

// placeOf returns the place of a finding: of its table, or else of its first statement.
func (s *Source) placeOf(f Finding) place {
	if d := s.of(f); d != nil && d.line > 0 {
		return d.place
	}
	for _, e := range f.Evidence {
		if e.Line > 0 {
			return place{e.File, e.Line}
		}
	}
	return place{}
}

// statement returns the place of a statement.
func (s *Source) statement(text string) place {
	if s == nil {
		return place{}
	}
	return s.statements[strings.TrimSpace(text)]
}
