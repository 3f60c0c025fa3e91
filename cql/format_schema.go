package cql

import "github.com/cqld/cqld/cql/quote"

// create begins the statement that defines something.
func (p *printer) create(replace bool, kind string, ifNotExists bool) {
	p.text("CREATE ")
	p.when(replace, "OR REPLACE ")
	p.text(kind, " ")
	p.when(ifNotExists, "IF NOT EXISTS ")
}

// drop prints the statement that removes something by its name.
func drop(kind string, ifExists bool, name string) string {
	var p printer
	p.text("DROP ", kind, " ")
	p.when(ifExists, "IF EXISTS ")
	p.text(name)
	return p.String()
}

// String prints DROP KEYSPACE name.
func (s *DropKeyspace) String() string { return drop("KEYSPACE", s.IfExists, ident(s.Name)) }

// String prints DROP TABLE name.
func (s *DropTable) String() string { return drop("TABLE", s.IfExists, s.Table.String()) }

// String prints DROP TYPE name.
func (s *DropType) String() string { return drop("TYPE", s.IfExists, s.Type.userTypeString()) }

// String prints DROP INDEX name.
func (s *DropIndex) String() string { return drop("INDEX", s.IfExists, s.Index.String()) }

// String prints DROP MATERIALIZED VIEW name.
func (s *DropView) String() string { return drop("MATERIALIZED VIEW", s.IfExists, s.View.String()) }

// String prints DROP FUNCTION name, with the types of the arguments if they were written.
func (s *DropFunction) String() string {
	return drop("FUNCTION", s.IfExists, s.Function.functionString()+s.Args.String())
}

// String prints DROP AGGREGATE name, with the types of the arguments if they were written.
func (s *DropAggregate) String() string {
	return drop("AGGREGATE", s.IfExists, s.Function.functionString()+s.Args.String())
}

// String prints DROP TRIGGER name ON table.
func (s *DropTrigger) String() string {
	return drop("TRIGGER", s.IfExists, ident(s.Name)+" ON "+s.Table.String())
}

// String prints CREATE TYPE name with the fields in parentheses.
func (s *CreateType) String() string {
	var p printer
	p.create(false, "TYPE", s.IfNotExists)
	p.text(s.Type.userTypeString(), " (")
	each(&p, s.Fields, ", ", func(f FieldDefinition) { p.text(f.String()) })
	p.text(")")
	return p.String()
}

// String prints name type.
func (f FieldDefinition) String() string { return ident(f.Name) + " " + f.Type.String() }

// String prints CREATE INDEX or CREATE CUSTOM INDEX, without a name where none was written.
func (s *CreateIndex) String() string {
	what := "INDEX"
	if s.Custom {
		what = "CUSTOM INDEX"
	}
	var p printer
	p.create(false, what, s.IfNotExists)
	p.when(s.Name != "", ident(s.Name)+" ")
	p.text("ON ", s.Table.String(), " (")
	each(&p, s.Targets, ", ", func(t IndexTarget) { p.text(t.String()) })
	p.text(")")
	if s.Using != nil {
		p.text(" USING ", quote.Text(*s.Using))
	}
	if len(s.Properties) > 0 {
		p.text(" WITH ")
		p.properties(s.Properties)
	}
	return p.String()
}

var indexTargetWords = [...]string{IndexValues: "VALUES", IndexKeys: "KEYS", IndexEntries: "ENTRIES", IndexFull: "FULL"}

// String prints the column, or VALUES, KEYS, ENTRIES or FULL around it.
func (t IndexTarget) String() string {
	column := ColumnRef{Name: t.Column}
	if t.Kind == IndexColumn {
		return column.String()
	}
	return indexTargetWords[t.Kind] + "(" + column.String() + ")"
}

// String prints CREATE MATERIALIZED VIEW name AS SELECT ... PRIMARY KEY and the options.
func (s *CreateView) String() string {
	var p printer
	p.create(false, "MATERIALIZED VIEW", s.IfNotExists)
	p.text(s.View.String(), " AS SELECT ")
	p.when(len(s.Selectors) == 0, "*")
	p.selectors(s.Selectors)
	p.text(" FROM ", s.Table.String())
	p.where(s.Where, s.Custom)
	p.text(" ", s.Key.String())
	p.tableOptions(false, s.Order, s.Properties)
	return p.String()
}

// String prints the body as a string literal, also one that was written between dollar signs.
func (s *CreateFunction) String() string {
	var p printer
	p.create(s.OrReplace, "FUNCTION", s.IfNotExists)
	p.text(s.Function.functionString(), "(")
	each(&p, s.Args, ", ", func(f FieldDefinition) { p.text(f.String()) })
	p.text(")")
	if s.CalledOnNull {
		p.text(" CALLED ON NULL INPUT")
	} else {
		p.text(" RETURNS NULL ON NULL INPUT")
	}
	p.text(" RETURNS ", s.Returns.String(), " LANGUAGE ", s.Language, " AS ", quote.Text(s.Body))
	return p.String()
}

// String prints SFUNC and STYPE, then FINALFUNC and INITCOND if they were written.
func (s *CreateAggregate) String() string {
	var p printer
	p.create(s.OrReplace, "AGGREGATE", s.IfNotExists)
	p.text(s.Function.functionString(), s.Args.String())
	p.text(" SFUNC ", QualifiedName{Name: s.StateFunction}.functionString(), " STYPE ", s.StateType.String())
	if s.FinalFunction != "" {
		p.text(" FINALFUNC ", QualifiedName{Name: s.FinalFunction}.functionString())
	}
	p.clause(" INITCOND ", s.Initial)
	return p.String()
}

// String prints the types in parentheses, and nothing if there is no signature.
func (s *Signature) String() string {
	if s == nil {
		return ""
	}
	var p printer
	p.types(s.Types)
	return p.String()
}

// types appends types in parentheses.
func (p *printer) types(list []TypeName) {
	p.text("(")
	each(p, list, ", ", func(t TypeName) { p.text(t.String()) })
	p.text(")")
}

// String prints CREATE TRIGGER name ON table USING class.
func (s *CreateTrigger) String() string {
	var p printer
	p.create(false, "TRIGGER", s.IfNotExists)
	p.text(ident(s.Name), " ON ", s.Table.String(), " USING ", quote.Text(s.Class))
	return p.String()
}
