package parser

import (
	"fmt"
	"strconv"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// create builds a CREATE statement.
func (b *builder) create(c grammar.ICreateStatementContext) cql.Statement {
	switch {
	case c.GetTable() != nil:
		return b.createTable(c)
	case c.GetUserType() != nil:
		return b.createType(c)
	case c.GetIndex() != nil:
		return b.createIndex(c)
	case c.GetView() != nil:
		return b.createView(c)
	case c.GetTrigger() != nil:
		return b.createTrigger(c)
	case c.GetFunction() != nil:
		return b.createFunction(c)
	case c.GetAggregate() != nil:
		return b.createAggregate(c)
	case c.GetRole() != nil:
		return b.createRole(c)
	case c.GetUser() != nil:
		return b.createUser(c)
	default:
		return b.createKeyspace(c)
	}
}

// alter builds an ALTER statement.
func (b *builder) alter(c grammar.IAlterStatementContext) cql.Statement {
	exists := c.GetExists() != nil
	switch {
	case c.GetTable() != nil:
		table := b.table(c.GetTable())
		return &cql.AlterTable{Span: span(c), IfExists: exists, Table: table, Change: b.tableChange(c.GetTableChanged())}
	case c.GetUserType() != nil:
		name := b.userType(c.GetUserType())
		return &cql.AlterType{Span: span(c), IfExists: exists, Type: name, Change: b.typeChange(c.GetTypeChanged())}
	case c.GetView() != nil:
		s := &cql.AlterView{Span: span(c), IfExists: exists, View: b.table(c.GetView())}
		s.Properties = b.properties(c.GetOptions().GetItems())
		return s
	case c.GetRole() != nil:
		s := &cql.AlterRole{Span: span(c), IfExists: exists, Role: b.role(c.GetRole())}
		s.Options = b.roleOptions(c.GetSettings())
		return s
	case c.GetLogin() != nil:
		return &cql.AlterUser{
			Span: span(c), IfExists: exists, Name: b.userName(c.GetLogin()),
			Password: b.userPassword(c.GetPassword()), Superuser: superuser(c.GetSuperuser()),
		}
	default:
		s := &cql.AlterKeyspace{Span: span(c), IfExists: exists, Name: b.keyspace(c.GetKeyspace())}
		s.Properties = b.properties(c.GetOptions().GetItems())
		return s
	}
}

// drop builds a DROP statement.
func (b *builder) drop(c grammar.IDropStatementContext) cql.Statement {
	exists := c.GetExists() != nil
	switch {
	case c.GetTrigger() != nil:
		name := b.name(c.GetTrigger())
		return &cql.DropTrigger{Span: span(c), IfExists: exists, Name: name, Table: b.table(c.GetTable())}
	case c.GetTable() != nil:
		return &cql.DropTable{Span: span(c), IfExists: exists, Table: b.table(c.GetTable())}
	case c.GetUserType() != nil:
		return &cql.DropType{Span: span(c), IfExists: exists, Type: b.userType(c.GetUserType())}
	case c.GetIndex() != nil:
		return &cql.DropIndex{Span: span(c), IfExists: exists, Index: b.index(c.GetIndex())}
	case c.GetView() != nil:
		return &cql.DropView{Span: span(c), IfExists: exists, View: b.table(c.GetView())}
	case c.GetFunction() != nil:
		name := b.definedFunction(c.GetFunction())
		return &cql.DropFunction{Span: span(c), IfExists: exists, Function: name, Args: b.signature(c.GetArgs())}
	case c.GetAggregate() != nil:
		name := b.definedFunction(c.GetAggregate())
		return &cql.DropAggregate{Span: span(c), IfExists: exists, Function: name, Args: b.signature(c.GetArgs())}
	case c.GetRole() != nil:
		return &cql.DropRole{Span: span(c), IfExists: exists, Role: b.role(c.GetRole())}
	case c.GetUser() != nil:
		return &cql.DropUser{Span: span(c), IfExists: exists, Name: b.userName(c.GetUser())}
	case c.GetIdentity() != nil:
		return &cql.DropIdentity{Span: span(c), IfExists: exists, Identity: b.identity(c.GetIdentity())}
	default:
		return &cql.DropKeyspace{Span: span(c), IfExists: exists, Name: b.keyspace(c.GetKeyspace())}
	}
}

func (b *builder) createKeyspace(c grammar.ICreateStatementContext) *cql.CreateKeyspace {
	s := &cql.CreateKeyspace{Span: span(c), IfNotExists: c.GetNotExists() != nil, Name: b.keyspace(c.GetKeyspace())}
	s.Properties = b.properties(c.GetOptions().GetItems())
	return s
}

func (b *builder) createTable(c grammar.ICreateStatementContext) *cql.CreateTable {
	s := &cql.CreateTable{Span: span(c), IfNotExists: c.GetNotExists() != nil, Table: b.table(c.GetTable())}
	for _, item := range c.GetItems() {
		if item.GetKey() != nil {
			s.PrimaryKeys = append(s.PrimaryKeys, cql.PrimaryKey{
				Partition:  names(b, item.GetKey().GetColumns()),
				Clustering: names(b, item.GetClustering()),
			})
		} else {
			s.Columns = append(s.Columns, b.columnDefinition(item))
		}
	}
	s.Order, s.Properties, s.CompactStorage = b.tableOptions(c.GetSettings())
	return s
}

// tableOptions builds the WITH clause of a table or a view.
func (b *builder) tableOptions(contexts []grammar.ITableOptionContext) (
	order []cql.ClusteringOrder, properties []cql.Property, compact bool,
) {
	var set []grammar.IPropertyContext
	for _, c := range contexts {
		switch {
		case c.GetOption() != nil:
			set = append(set, c.GetOption())
		case c.GetCompact() != nil:
			compact = true
		}
		for _, item := range c.GetOrder() {
			order = append(order, cql.ClusteringOrder{
				Column: b.name(item.GetColumn()),
				Desc:   isToken(item.GetDirection(), grammar.CqlLexerK_DESC),
			})
		}
	}
	return order, b.properties(set), compact
}

func (b *builder) columnDefinition(c grammar.ITableItemContext) cql.ColumnDefinition {
	return cql.ColumnDefinition{
		Span:       span(c),
		Name:       b.name(c.GetName()),
		Type:       b.typeName(c.GetKind()),
		Static:     c.GetStatic() != nil,
		PrimaryKey: c.GetPrimary() != nil,
		Mask:       b.mask(c.GetMask()),
	}
}

// mask builds MASKED WITH, which may be missing.
func (b *builder) mask(c grammar.IColumnMaskContext) *cql.Mask {
	switch {
	case c == nil:
		return nil
	case c.GetUnmasked() != nil:
		return &cql.Mask{Default: true}
	default:
		return &cql.Mask{Call: &cql.Call{
			Span:     between(c.GetFunction().GetStart(), c),
			Function: b.function(c.GetFunction()),
			Args:     b.each(c.GetArgs()),
		}}
	}
}

func (b *builder) tableChange(c grammar.ITableChangeContext) cql.TableChange {
	switch {
	case c.GetKind() != nil:
		return &cql.AlterColumnType{Column: b.name(c.GetColumn()), Type: b.typeName(c.GetKind())}
	case c.GetMasking() != nil:
		return &cql.MaskColumn{
			IfExists: c.GetExists() != nil, Column: b.name(c.GetColumn()), Mask: b.mask(c.GetMasking().GetMask()),
		}
	case c.GetAdded() != nil:
		return b.addColumns(c)
	case c.GetDropped() != nil:
		d := &cql.DropColumns{IfExists: c.GetExists() != nil, Columns: names(b, c.GetDropped())}
		if t := c.GetTimestamp(); t != nil {
			d.Timestamp = b.literalToken(t, cql.IntegerLiteral)
			if _, err := strconv.ParseInt(d.Timestamp.Text, 10, 64); err != nil {
				b.failJava("NumberFormatException", fmt.Sprintf(`For input string: "%s"`, d.Timestamp.Text))
			}
		}
		return d
	case c.GetCompact() != nil:
		return &cql.DropCompactStorage{}
	case c.GetRenames() != nil:
		return &cql.RenameColumns{IfExists: c.GetExists() != nil, Renames: b.renames(c.GetRenames())}
	default:
		return &cql.SetTableOptions{Properties: b.properties(c.GetOptions().GetItems())}
	}
}

func (b *builder) addColumns(c grammar.ITableChangeContext) *cql.AddColumns {
	a := &cql.AddColumns{IfNotExists: c.GetNotExists() != nil}
	for _, column := range c.GetAdded() {
		a.Columns = append(a.Columns, cql.ColumnDefinition{
			Span:   span(column),
			Name:   b.name(column.GetName()),
			Type:   b.typeName(column.GetKind()),
			Static: column.GetStatic() != nil,
			Mask:   b.mask(column.GetMask()),
		})
	}
	return a
}

func (b *builder) renames(contexts []grammar.IRenameContext) []cql.Rename {
	out := make([]cql.Rename, len(contexts))
	for i, c := range contexts {
		out[i] = cql.Rename{From: b.name(c.GetFrom()), To: b.name(c.GetTo())}
	}
	return out
}

func (b *builder) createView(at grammar.ICreateStatementContext) *cql.CreateView {
	c := at.GetView()
	s := &cql.CreateView{
		Span:        span(at),
		IfNotExists: c.GetNotExists() != nil,
		View:        b.table(c.GetView()),
		Selectors:   b.selectors(c.GetItems().GetItems()),
		Table:       b.table(c.GetTable()),
	}
	if where := c.GetWhere(); where != nil {
		s.Where, s.Custom = b.where(where)
	}
	s.Key = cql.PrimaryKey{Partition: names(b, c.GetKey().GetColumns()), Clustering: names(b, c.GetClustering())}
	compact := false
	s.Order, s.Properties, compact = b.tableOptions(c.GetSettings())
	if compact {
		b.fail("COMPACT STORAGE tables are not allowed starting with version 4.0")
	}
	return s
}

var indexTargetKinds = map[int]cql.IndexTargetKind{
	grammar.CqlLexerK_VALUES:  cql.IndexValues,
	grammar.CqlLexerK_KEYS:    cql.IndexKeys,
	grammar.CqlLexerK_ENTRIES: cql.IndexEntries,
	grammar.CqlLexerK_FULL:    cql.IndexFull,
}

func (b *builder) createIndex(at grammar.ICreateStatementContext) *cql.CreateIndex {
	c := at.GetIndex()
	s := &cql.CreateIndex{Span: span(at), Custom: c.GetCustom() != nil, IfNotExists: c.GetNotExists() != nil}
	if name := c.GetName(); name != nil {
		s.Name = b.indexName(name)
	}
	s.Table = b.table(c.GetTable())
	for _, target := range c.GetTargets() {
		t := cql.IndexTarget{Span: span(target), Column: b.name(target.GetColumn())}
		if target.GetKind() != nil {
			t.Kind = indexTargetKinds[target.GetKind().GetTokenType()]
		}
		s.Targets = append(s.Targets, t)
	}
	if c.GetClass() != nil {
		class := stringContent(b.word(c.GetClass()))
		s.Using = &class
	}
	if c.GetOptions() != nil {
		s.Properties = b.properties(c.GetOptions().GetItems())
	}
	return s
}

func (b *builder) createTrigger(at grammar.ICreateStatementContext) *cql.CreateTrigger {
	c := at.GetTrigger()
	return &cql.CreateTrigger{
		Span:        span(at),
		IfNotExists: c.GetNotExists() != nil,
		Name:        b.name(c.GetName()),
		Table:       b.table(c.GetTable()),
		Class:       stringContent(b.word(c.GetClass())),
	}
}
