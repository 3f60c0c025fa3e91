package parser

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) grant(c grammar.IGrantStatementContext) cql.Statement {
	if c.GetWhat() == nil {
		role := b.role(c.GetRole())
		return &cql.GrantRole{Span: span(c), Role: role, To: b.role(c.GetTo())}
	}
	what, on := b.permissions(c.GetWhat()), b.resource(c.GetOn())
	to := b.role(c.GetTo())
	b.checkApplicable(what, on)
	return &cql.GrantPermissions{Span: span(c), Permissions: what, Resource: on, To: to}
}

func (b *builder) revoke(c grammar.IRevokeStatementContext) cql.Statement {
	if c.GetWhat() == nil {
		role := b.role(c.GetRole())
		return &cql.RevokeRole{Span: span(c), Role: role, From: b.role(c.GetFrom())}
	}
	what, on := b.permissions(c.GetWhat()), b.resource(c.GetOn())
	from := b.role(c.GetFrom())
	b.checkApplicable(what, on)
	return &cql.RevokePermissions{Span: span(c), Permissions: what, Resource: on, From: from}
}

func (b *builder) list(c grammar.IListStatementContext) cql.Statement {
	var of *string
	if c.GetOf() != nil {
		role := b.role(c.GetOf())
		of = &role
	}
	switch {
	case c.GetUsers() != nil:
		return &cql.ListUsers{Span: span(c)}
	case c.GetRoles() != nil:
		return &cql.ListRoles{Span: span(c), Of: of, NoRecursive: c.GetDirect() != nil}
	}
	s := &cql.ListPermissions{
		Span: span(c), Permissions: b.permissions(c.GetWhat()), Of: of,
		NoRecursive: c.GetDirect() != nil,
	}
	if c.GetOn() != nil {
		on := b.resource(c.GetOn())
		s.Resource = &on
	}
	return s
}

func (b *builder) permissions(c grammar.IPermissionsContext) cql.Permissions {
	var out cql.Permissions
	for _, item := range c.GetItems() {
		out = append(out, cql.Permission(strings.ToUpper(b.word(item.GetStart()))))
	}
	return out
}

// allOf are the resources that stand behind ALL; of tables and functions it may be those of a keyspace.
var allOf = map[int]cql.ResourceKind{
	grammar.CqlLexerK_KEYSPACES: cql.AllKeyspaces,
	grammar.CqlLexerK_TABLES:    cql.AllTablesIn,
	grammar.CqlLexerK_ROLES:     cql.AllRoles,
	grammar.CqlLexerK_FUNCTIONS: cql.AllFunctions,
	grammar.CqlLexerK_MBEANS:    cql.AllBeans,
}

func (b *builder) resource(c grammar.IResourceContext) cql.Resource {
	r := cql.Resource{Span: span(c)}
	switch {
	case c.GetAll() != nil:
		r.Kind = allOf[c.GetKind().GetTokenType()]
		if c.GetKeyspace() != nil {
			r.Name.Name = b.keyspace(c.GetKeyspace())
			if r.Kind == cql.AllFunctions {
				r.Kind = cql.AllFunctionsIn
			}
		}
	case c.GetTable() != nil:
		r.Kind, r.Name = cql.OneTable, b.table(c.GetTable())
	case c.GetKeyspace() != nil:
		r.Kind, r.Name.Name = cql.OneKeyspace, b.keyspace(c.GetKeyspace())
	case c.GetRole() != nil:
		r.Kind, r.Name.Name = cql.OneRole, b.role(c.GetRole())
	case c.GetFunction() != nil:
		r.Kind, r.Name, r.Args = cql.OneFunction, b.definedFunction(c.GetFunction()), b.typeNames(c.GetArgs())
	default:
		r.Kind, r.Bean = cql.OneBean, stringContent(b.word(c.GetPattern()))
		if isToken(c.GetKind(), grammar.CqlLexerK_MBEANS) {
			r.Kind = cql.BeanPattern
		}
		b.checkBean(r.Bean, r.Kind == cql.BeanPattern)
	}
	return r
}

// applicable says what may be done with a kind of resource, and what Cassandra calls it.
var applicable = func() map[cql.ResourceKind]applicablePermissions {
	table := []cql.Permission{
		cql.PermissionAlter, cql.PermissionDrop, cql.PermissionSelect, cql.PermissionModify, cql.PermissionAuthorize,
		cql.PermissionUnmask, cql.PermissionSelectMasked,
	}
	tables := append(slices.Clone(table), cql.PermissionCreate)
	role := []cql.Permission{cql.PermissionAlter, cql.PermissionDrop, cql.PermissionAuthorize, cql.PermissionDescribe}
	roles := append(slices.Clone(role), cql.PermissionCreate)
	functions := []cql.Permission{
		cql.PermissionAlter, cql.PermissionDrop, cql.PermissionAuthorize, cql.PermissionExecute, cql.PermissionCreate,
	}
	beans := []cql.Permission{
		cql.PermissionAuthorize, cql.PermissionDescribe, cql.PermissionExecute, cql.PermissionModify, cql.PermissionSelect,
	}
	return map[cql.ResourceKind]applicablePermissions{
		cql.AllKeyspaces: {"DataResource", tables}, cql.OneKeyspace: {"DataResource", tables},
		cql.AllTablesIn: {"DataResource", tables}, cql.OneTable: {"DataResource", table},
		cql.AllRoles: {"RoleResource", roles}, cql.OneRole: {"RoleResource", role},
		cql.AllFunctions: {"FunctionResource", functions}, cql.AllFunctionsIn: {"FunctionResource", functions},
		cql.AllBeans: {"JMXResource", beans}, cql.OneBean: {"JMXResource", beans}, cql.BeanPattern: {"JMXResource", beans},
	}
}()

type applicablePermissions struct {
	resource    string
	permissions []cql.Permission
}

// checkApplicable refuses permissions none of which means anything for the resource. Those on a function are
// the planner's to check: whether the function exists comes first.
func (b *builder) checkApplicable(what cql.Permissions, on cql.Resource) {
	a, known := applicable[on.Kind]
	if known && len(what) > 0 && !slices.ContainsFunc(what,
		func(p cql.Permission) bool { return slices.Contains(a.permissions, p) }) {
		b.fail("Resource type %s does not support any of the requested permissions", a.resource)
	}
}
