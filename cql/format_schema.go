package cql

import "github.com/cqld/cqld/cql/quote"

// String prints DROP KEYSPACE name.
func (s *DropKeyspace) String() string { return drop("KEYSPACE", s.IfExists) + ident(s.Name) }

// String prints DROP TABLE name.
func (s *DropTable) String() string { return drop("TABLE", s.IfExists) + s.Table.String() }

// String prints DROP TYPE name.
func (s *DropType) String() string { return drop("TYPE", s.IfExists) + s.Type.userTypeString() }

// String prints DROP INDEX name.
func (s *DropIndex) String() string { return drop("INDEX", s.IfExists) + s.Index.String() }

// String prints DROP MATERIALIZED VIEW name.
func (s *DropView) String() string { return drop("MATERIALIZED VIEW", s.IfExists) + s.View.String() }

// String prints DROP FUNCTION name, with the types of the arguments if they were written.
func (s *DropFunction) String() string {
	return drop("FUNCTION", s.IfExists) + s.Function.functionString() + s.Args.String()
}

// String prints DROP AGGREGATE name, with the types of the arguments if they were written.
func (s *DropAggregate) String() string {
	return drop("AGGREGATE", s.IfExists) + s.Function.functionString() + s.Args.String()
}

// String prints DROP TRIGGER name ON table.
func (s *DropTrigger) String() string {
	return drop("TRIGGER", s.IfExists) + ident(s.Name) + " ON " + s.Table.String()
}

// String prints CREATE TYPE name with the fields in parentheses.
func (s *CreateType) String() string {
	return create("TYPE", s.IfNotExists) + s.Type.userTypeString() + enclosed(" (", s.Fields, ")")
}

// String prints name type.
func (f FieldDefinition) String() string { return ident(f.Name) + " " + f.Type.String() }

// String prints CREATE INDEX or CREATE CUSTOM INDEX, without a name where none was written.
func (s *CreateIndex) String() string {
	text := create(when(s.Custom, "CUSTOM ")+"INDEX", s.IfNotExists) + when(s.Name != "", ident(s.Name)+" ") +
		"ON " + s.Table.String() + enclosed(" (", s.Targets, ")")
	if s.Using != nil {
		text += " USING " + quote.Text(*s.Using)
	}
	return text + with(joined(s.Properties, " AND "))
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
	return create("MATERIALIZED VIEW", s.IfNotExists) + s.View.String() + " AS SELECT " + selectors(s.Selectors) +
		" FROM " + s.Table.String() + where(s.Where, s.Custom) + " " + s.Key.String() +
		with(clusteringOrder(s.Order), joined(s.Properties, " AND "))
}

// String prints the body as a string literal, also one that was written between dollar signs.
func (s *CreateFunction) String() string {
	return create(when(s.OrReplace, "OR REPLACE ")+"FUNCTION", s.IfNotExists) + s.Function.functionString() +
		enclosed("(", s.Args, ")") + when(s.CalledOnNull, " CALLED") + when(!s.CalledOnNull, " RETURNS NULL") +
		" ON NULL INPUT RETURNS " + s.Returns.String() + " LANGUAGE " + s.Language + " AS " + quote.Text(s.Body)
}

// String prints SFUNC and STYPE, then FINALFUNC and INITCOND if they were written.
func (s *CreateAggregate) String() string {
	return create(when(s.OrReplace, "OR REPLACE ")+"AGGREGATE", s.IfNotExists) + s.Function.functionString() +
		s.Args.String() + " SFUNC " + QualifiedName{Name: s.StateFunction}.functionString() +
		" STYPE " + s.StateType.String() +
		when(s.FinalFunction != "", " FINALFUNC "+QualifiedName{Name: s.FinalFunction}.functionString()) +
		clause(" INITCOND ", s.Initial)
}

// String prints the types in parentheses, and nothing if there is no signature.
func (s *Signature) String() string {
	if s == nil {
		return ""
	}
	return enclosed("(", s.Types, ")")
}

// String prints CREATE TRIGGER name ON table USING class.
func (s *CreateTrigger) String() string {
	return create("TRIGGER", s.IfNotExists) + ident(s.Name) + " ON " + s.Table.String() + " USING " + quote.Text(s.Class)
}
