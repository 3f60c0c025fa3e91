package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// role is the name of a role. A string keeps its case as quotes do.
func (b *builder) role(c grammar.IRoleNameContext) string {
	b.noMarker(c.GetBound(), "role")
	return b.nameOrString(c)
}

func (b *builder) nameOrString(c antlr.ParserRuleContext) string {
	if isToken(c.GetStart(), grammar.CqlLexerSTRING_LITERAL) {
		return stringContent(b.word(c.GetStart()))
	}
	return b.name(c)
}

// userName is the name of a user: a word keeps its case, and quotes are refused.
func (b *builder) userName(c grammar.IUserNameContext) string {
	return b.unquoted(c, "user names and USER is deprecated, please use ROLE")
}

func (b *builder) identity(c grammar.IUserNameContext) string { return b.unquoted(c, "identity") }

func (b *builder) unquoted(c grammar.IUserNameContext, what string) string {
	switch c.GetStart().GetTokenType() {
	case grammar.CqlLexerQUOTED_NAME:
		b.fail("Quoted strings are are not supported for %s", what)
		return b.name(c)
	case grammar.CqlLexerSTRING_LITERAL:
		return stringContent(b.word(c.GetStart()))
	default:
		return b.word(c.GetStart())
	}
}

func (b *builder) createRole(at grammar.ICreateStatementContext) *cql.CreateRole {
	c := at.GetRole()
	s := &cql.CreateRole{Span: span(at), IfNotExists: c.GetNotExists() != nil, Role: b.role(c.GetName())}
	s.Options = b.roleOptions(c.GetOptions())
	return s
}

// roleOptions builds the options of a role, each at most once.
func (b *builder) roleOptions(contexts []grammar.IRoleOptionContext) []cql.RoleOption {
	var out []cql.RoleOption
	seen := map[string]bool{}
	for _, c := range contexts {
		option, name := b.roleOption(c)
		if seen[name] && name != "" {
			b.fail("Multiple definition for property '%s'", name)
		}
		seen[name] = true
		out = append(out, option)
	}
	b.checkAccess(out)
	if seen["PASSWORD"] && seen["HASHED_PASSWORD"] {
		b.fail("Options 'password' and 'hashed password' are mutually exclusive")
	}
	return out
}

// roleOption builds an option and returns its name, which must be unique. ACCESS has no name.
func (b *builder) roleOption(c grammar.IRoleOptionContext) (cql.RoleOption, string) {
	switch {
	case c.GetPassword() != nil:
		o := &cql.RolePassword{Hashed: c.GetHashed() != nil, Text: stringContent(b.word(c.GetPassword()))}
		if o.Hashed {
			return o, "HASHED_PASSWORD"
		}
		return o, "PASSWORD"
	case c.GetEntries() != nil:
		return &cql.RoleCustomOptions{Options: b.propertyMap(c.GetEntries())}, "OPTIONS"
	case c.GetFlag() != nil:
		o := &cql.RoleFlag{
			Login: isToken(c.GetFlag(), grammar.CqlLexerK_LOGIN),
			Value: strings.EqualFold(b.word(c.GetValue()), "true"),
		}
		return o, strings.ToUpper(b.word(c.GetFlag()))
	default:
		return b.roleAccess(c), ""
	}
}

func (b *builder) roleAccess(c grammar.IRoleOptionContext) *cql.RoleAccess {
	o := &cql.RoleAccess{CIDRs: c.GetDirection().GetTokenType() == grammar.CqlLexerK_FROM}
	if set := c.GetNames(); set != nil {
		for _, item := range set.GetItems() {
			o.Names = append(o.Names, stringContent(b.word(item)))
		}
	}
	return o
}

// checkAccess refuses ALL together with names of the same kind.
func (b *builder) checkAccess(options []cql.RoleOption) {
	before := map[bool]*cql.RoleAccess{} // by CIDRs
	for _, option := range options {
		o, ok := option.(*cql.RoleAccess)
		if !ok {
			continue
		}
		all, first := len(o.Names) == 0, before[o.CIDRs]
		switch {
		case first == nil || (len(first.Names) == 0) == all:
			before[o.CIDRs] = o
		case !all:
			b.failJava("IllegalArgumentException", "All has been set")
		case o.CIDRs:
			b.failJava("IllegalArgumentException", "CIDR Groups have already been set")
		default:
			b.failJava("IllegalArgumentException", "DCs have already been set")
		}
	}
}

func (b *builder) createUser(at grammar.ICreateStatementContext) *cql.CreateUser {
	c := at.GetUser()
	return &cql.CreateUser{
		Span:        span(at),
		IfNotExists: c.GetNotExists() != nil,
		Name:        b.userName(c.GetName()),
		Password:    b.userPassword(c.GetPassword()),
		Superuser:   superuser(c.GetSuperuser()),
	}
}

// userPassword builds WITH PASSWORD, which may be missing.
func (b *builder) userPassword(c grammar.IUserPasswordContext) *cql.RolePassword {
	if c == nil {
		return nil
	}
	return &cql.RolePassword{Hashed: c.GetHashed() != nil, Text: stringContent(b.word(c.GetPassword()))}
}

// superuser is SUPERUSER or NOSUPERUSER, which may be missing.
func superuser(t antlr.Token) *bool {
	if t == nil {
		return nil
	}
	value := isToken(t, grammar.CqlLexerK_SUPERUSER)
	return &value
}

func (b *builder) addIdentity(c grammar.IAddIdentityStatementContext) *cql.AddIdentity {
	return &cql.AddIdentity{
		Span:        span(c),
		IfNotExists: c.GetNotExists() != nil,
		Identity:    b.identity(c.GetIdentity()),
		Role:        b.identity(c.GetRole()),
	}
}
