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

// allOf has the resources that can follow ALL; tables and functions may be limited to a keyspace.
var allOf = map[int]cql.ResourceKind{
	grammar.CqlLexerK_KEYSPACES: cql.AllKeyspaces,
	grammar.CqlLexerK_TABLES:    cql.AllTablesIn,
	grammar.CqlLexerK_ROLES:     cql.AllRoles,
	grammar.CqlLexerK_FUNCTIONS: cql.AllFunctions,
	grammar.CqlLexerK_MBEANS:    cql.AllMBeans,
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
		r.Kind, r.MBean = cql.OneMBean, stringContent(b.word(c.GetPattern()))
		if isToken(c.GetKind(), grammar.CqlLexerK_MBEANS) {
			r.Kind = cql.MBeanPattern
		}
		b.checkMBean(r.MBean, r.Kind == cql.MBeanPattern)
	}
	return r
}

// applicable has the permissions that apply to each kind of resource, and Cassandra's name of the kind.
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
	mbeans := []cql.Permission{
		cql.PermissionAuthorize, cql.PermissionDescribe, cql.PermissionExecute, cql.PermissionModify, cql.PermissionSelect,
	}
	return map[cql.ResourceKind]applicablePermissions{
		cql.AllKeyspaces: {"DataResource", tables}, cql.OneKeyspace: {"DataResource", tables},
		cql.AllTablesIn: {"DataResource", tables}, cql.OneTable: {"DataResource", table},
		cql.AllRoles: {"RoleResource", roles}, cql.OneRole: {"RoleResource", role},
		cql.AllFunctions: {"FunctionResource", functions}, cql.AllFunctionsIn: {"FunctionResource", functions},
		cql.AllMBeans: {"JMXResource", mbeans}, cql.OneMBean: {"JMXResource", mbeans},
		cql.MBeanPattern: {"JMXResource", mbeans},
	}
}()

type applicablePermissions struct {
	resource    string
	permissions []cql.Permission
}

// checkApplicable refuses permissions none of which applies to the resource. The planner checks permissions on a
// function, after it has found the function.
func (b *builder) checkApplicable(what cql.Permissions, on cql.Resource) {
	a, known := applicable[on.Kind]
	if known && len(what) > 0 && !slices.ContainsFunc(what,
		func(p cql.Permission) bool { return slices.Contains(a.permissions, p) }) {
		b.fail("Resource type %s does not support any of the requested permissions", a.resource)
	}
}

// checkMBean refuses an invalid MBean name. Valid is domain:key=value,key=value; the plural form needs a pattern.
func (b *builder) checkMBean(name string, plural bool) {
	switch {
	case name == "":
		b.fail("Empty JMX object name supplied")
	case name == "*:*":
		b.fail("Please use ALL MBEANS instead of wildcard pattern")
	}
	pattern, ok := parseMBean(name)
	switch {
	case !ok:
		b.fail("%s is not a valid JMX object name", name)
	case plural && !pattern:
		b.fail("Plural form used, but non-pattern JMX object name specified (%s)", name)
	}
}

// parseMBean reports whether a name is valid, and whether it is a pattern.
func parseMBean(name string) (pattern, ok bool) {
	if name == "" {
		return true, true // is *:*
	}
	domain, properties, found := strings.Cut(name, ":")
	if !found || properties == "" || strings.Contains(domain, "\n") {
		return false, false
	}
	pattern = strings.ContainsAny(domain, "*?")
	seen := map[string]bool{}
	for {
		if rest, star := strings.CutPrefix(properties, "*"); star && (rest == "" || rest[0] == ',') {
			if seen["*"] || rest == "," {
				return false, false
			}
			seen["*"], pattern = true, true
			if rest == "" {
				return pattern, true
			}
			properties = rest[1:]
			continue
		}
		key, value, found := strings.Cut(properties, "=")
		if !found || key == "" || strings.ContainsAny(key, ",:*?\n") || seen["="+key] {
			return false, false
		}
		seen["="+key] = true
		size, wild, valid := mbeanValue(value)
		if !valid {
			return false, false
		}
		pattern = pattern || wild
		if size == len(value) {
			return pattern, true
		}
		if properties = value[size+1:]; properties == "" { // after the comma
			return false, false
		}
	}
}

// mbeanValue returns the length of the value at the beginning of a text, and whether it has a wildcard.
func mbeanValue(text string) (size int, wild, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		size = strings.IndexByte(text, ',')
		if size < 0 {
			size = len(text)
		}
		value := text[:size]
		return size, strings.ContainsAny(value, "*?"), value != "" && !strings.ContainsAny(value, "=:\"\n")
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
			if i == len(text) || !strings.ContainsRune(`\"?*n`, rune(text[i])) {
				return 0, false, false
			}
		case '*', '?':
			wild = true
		case '\n':
			return 0, false, false
		case '"':
			return i + 1, wild, i+1 == len(text) || text[i+1] == ','
		}
	}
	return 0, false, false
}
