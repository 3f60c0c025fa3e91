package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// create builds what begins with CREATE.
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

// alter builds what begins with ALTER.
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

// drop builds what begins with DROP.
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
