package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) batch(c grammar.IBatchStatementContext) *cql.Batch {
	s := &cql.Batch{Span: span(c)}
	switch {
	case isToken(c.GetKind(), grammar.CqlLexerK_UNLOGGED):
		s.Kind = cql.UnloggedBatch
	case isToken(c.GetKind(), grammar.CqlLexerK_COUNTER):
		s.Kind = cql.CounterBatch
	}
	if built := b.built; built != nil {
		s.Using, s.Statements = built.using, built.statements
		return s
	}
	s.Using = b.using(c.GetUsing())
	for _, item := range c.GetStatements() {
		s.Statements = append(s.Statements, b.modification(item))
	}
	return s
}

func (b *builder) modification(c grammar.IModificationContext) cql.Statement {
	switch {
	case c.GetInsert() != nil:
		return b.insert(c.GetInsert())
	case c.GetUpdate() != nil:
		return b.update(c.GetUpdate())
	default:
		return b.delete(c.GetDel())
	}
}

// builtBatch builds the statements of a long batch while it is parsed, and releases the contexts of each, so that the
// contexts of all of them never exist at once.
type builtBatch struct {
	antlr.BaseParseTreeListener
	b          builder
	begun      bool
	using      cql.Using
	statements []cql.Statement
}

// longBatch is the minimal length of a batch that is built while it is parsed.
const longBatch = 4 << 10

// batchListener returns the builder of a long batch, or nil.
func (m *machine) batchListener() *builtBatch {
	if len(m.tokens.Text) < longBatch || !m.tokens.Is(0, grammar.CqlLexerK_BEGIN) {
		return nil
	}
	return &builtBatch{b: builder{m: m, text: m.tokens.Text}}
}

// batchError is the error in the statements of a batch before a syntax error.
func (m *machine) batchError(c *grammar.BatchStatementContext) *cqlerr.Error {
	if m.built != nil {
		return m.built.b.err // the contexts of its statements are released
	}
	b := builder{m: m, text: m.tokens.Text}
	for _, item := range c.GetStatements() {
		b.modification(item)
	}
	return b.err
}

// ExitEveryRule is called after each rule.
func (l *builtBatch) ExitEveryRule(c antlr.ParserRuleContext) {
	item, ok := c.(*grammar.ModificationContext)
	if !ok {
		return
	}
	batch := item.GetParent().(*grammar.BatchStatementContext)
	if !l.begun {
		l.begun, l.using = true, l.b.using(batch.GetUsing())
	}
	l.statements = append(l.statements, l.b.modification(item))
	item.SetInsert(nil)
	item.SetUpdate(nil)
	item.SetDel(nil)
	batch.SetStatements(nil)
}

func (b *builder) insert(c grammar.IInsertStatementContext) *cql.Insert {
	s := &cql.Insert{Span: span(c), Table: b.table(c.GetTable())}
	switch value := c.GetValue(); {
	case value == nil:
		s.Columns = columns(b, c.GetColumns())
		s.Values = b.each(c.GetValues())
	case value.GetBind() != nil:
		s.JSON = b.marker(value.GetBind())
	default:
		s.JSON = b.stringToken(value.GetLiteral())
	}
	s.DefaultUnset = c.GetUnset() != nil
	s.If.NotExists = c.GetNotExists() != nil
	s.Using = b.using(c.GetUsing())
	return s
}

func (b *builder) update(c grammar.IUpdateStatementContext) *cql.Update {
	s := &cql.Update{Span: span(c), Table: b.table(c.GetTable()), Using: b.using(c.GetUsing())}
	s.Set = b.assignments(c.GetAssignments())
	s.Where, s.Custom = b.where(c.GetWhere())
	s.If = b.conditions(c.GetConditions())
	return s
}

func (b *builder) delete(c grammar.IDeleteStatementContext) *cql.Delete {
	s := &cql.Delete{Span: span(c)}
	for _, target := range c.GetTargets() {
		t := cql.DeleteTarget{Span: span(target), Column: b.column(target.GetColumn())}
		if target.GetElement() != nil {
			t.Key = b.term(target.GetElement())
		}
		if target.GetField() != nil {
			t.Field = b.name(target.GetField())
		}
		s.Targets = append(s.Targets, t)
	}
	s.Table = b.table(c.GetTable())
	s.Using.Timestamp = b.limit(c.GetTimestamp())
	s.Where, s.Custom = b.where(c.GetWhere())
	s.If = b.conditions(c.GetConditions())
	return s
}

func (b *builder) assignments(contexts []grammar.IAssignmentContext) []cql.Assignment {
	out := make([]cql.Assignment, len(contexts))
	set := map[string]*assignedParts{}
	for i, c := range contexts {
		out[i] = b.assignment(c)
		b.checkCompatible(set, out[i])
	}
	return out
}

func (b *builder) assignment(c grammar.IAssignmentContext) cql.Assignment {
	a := cql.Assignment{Span: span(c), Column: b.column(c.GetColumn())}
	switch {
	case c.GetPlain() != nil:
		b.assigned(&a, c.GetPlain())
		return a
	case c.GetElement() != nil:
		a.Key = b.term(c.GetElement())
	case c.GetField() != nil:
		a.Field = b.name(c.GetField())
	case isToken(c.GetShorthand(), grammar.CqlLexerPLUS_EQ):
		a.Op = cql.Append
	default:
		a.Op = cql.Subtract
	}
	a.Value = b.term(c.GetValue())
	return a
}

// assigned builds the right side of column =. A column in it must be the assigned one.
func (b *builder) assigned(a *cql.Assignment, c grammar.IAssignedValueContext) {
	other := c.GetColumn()
	same := other == nil || b.name(other) == a.Column.Name
	switch {
	case c.GetSign() != nil:
		a.Op = cql.Append
		if isToken(c.GetSign(), grammar.CqlLexerMINUS) {
			a.Op = cql.Subtract
		}
		a.Value = b.term(c.GetValue())
		if !same {
			b.fail("Only expressions of the form X = X %s<value> are supported.", b.word(c.GetSign()))
		}
	case c.GetNumber() != nil:
		a.Op = cql.Append
		a.Value = b.literalToken(c.GetNumber(), cql.IntegerLiteral)
		if !same {
			b.fail("Only expressions of the form X = X %c <value> are supported.", sign(b.word(c.GetNumber())))
		}
	default:
		a.Value = b.sum(c.GetSum().GetFirst(), c.GetSum().GetRest())
		if other != nil {
			a.Op = cql.Prepend
		}
		if !same {
			b.fail("Only expressions of the form X = <value> + X are supported.")
		}
	}
}

// sign is the sign of an integer as written: c = c -3.
func sign(number string) byte {
	if number[0] == '-' {
		return '-'
	}
	return '+'
}

// assignedParts records which parts of a column the assignments so far set.
type assignedParts struct {
	whole  bool
	fields map[string]bool
}

// checkCompatible refuses an assignment to a column that an earlier one sets as a whole, or the reverse.
// Elements and additions may be repeated, fields only if they differ.
func (b *builder) checkCompatible(set map[string]*assignedParts, a cql.Assignment) {
	earlier := set[a.Column.Name]
	if earlier == nil {
		earlier = &assignedParts{fields: map[string]bool{}}
		set[a.Column.Name] = earlier
	} else if earlier.whole || isWhole(a) || earlier.fields[a.Field] {
		b.fail("Multiple incompatible setting of column %s", a.Column.Name)
	}
	earlier.whole = earlier.whole || isWhole(a)
	if a.Field != "" {
		earlier.fields[a.Field] = true
	}
}

// isWhole reports whether an assignment replaces its column.
func isWhole(a cql.Assignment) bool { return a.Op == cql.Assign && a.Key == nil && a.Field == "" }

// conditions builds the IF clause of UPDATE and DELETE, which may be missing.
func (b *builder) conditions(c grammar.IIfClauseContext) cql.Conditions {
	var out cql.Conditions
	if c == nil {
		return out
	}
	out.Exists = c.GetExists() != nil
	for _, item := range c.GetConditions() {
		out.List = append(out.List, b.condition(item))
	}
	return out
}

func (b *builder) condition(c grammar.IConditionContext) cql.Condition {
	out := cql.Condition{Span: span(c), Column: b.column(c.GetColumn())}
	if c.GetElement() != nil {
		out.Key = b.term(c.GetElement())
	}
	if c.GetField() != nil {
		out.Field = b.name(c.GetField())
	}
	test := c.GetTest()
	switch {
	case test == nil:
		out.Op = contains(c.GetKey())
		out.Value = b.term(c.GetValue())
	case test.GetIn() != nil:
		out.Op = cql.In
		out.Value, out.Values = b.inValues(test.GetValues())
	default:
		out.Op = operator(test.GetOp())
		out.Value = b.term(test.GetValue())
	}
	return out
}

// using builds a USING clause, which may be missing. Of an option given twice the last one counts.
func (b *builder) using(c grammar.IUsingClauseContext) cql.Using {
	var u cql.Using
	if c == nil {
		return u
	}
	for _, item := range c.GetItems() {
		if item.GetTimestamp() != nil {
			u.Timestamp = b.limit(item.GetValue())
		} else {
			u.TTL = b.limit(item.GetValue())
		}
	}
	return u
}

func (b *builder) truncate(c grammar.ITruncateStatementContext) *cql.Truncate {
	return &cql.Truncate{Span: span(c), Table: b.table(c.GetTable())}
}

func (b *builder) use(c grammar.IUseStatementContext) *cql.Use {
	return &cql.Use{Span: span(c), Keyspace: b.keyspace(c.GetKeyspace())}
}
