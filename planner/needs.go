package planner

import (
	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
)

// Needs are the permissions that a statement which reads or writes rows takes, in the order in which Cassandra asks for
// them. Others have none here: define.Authorize and package auth/roles know theirs.
func Needs(p *Prepared, c *schema.Catalog) []auth.Need {
	needs := planNeeds(p.Plan, c)
	for _, r := range p.Called {
		called := r.Base()
		needs = append(needs, auth.NewNeed(auth.Execute, auth.Function(called.Keyspace, called.Name, called.Args)))
	}
	return needs
}

// planNeeds are the permissions besides those to call functions.
func planNeeds(p Plan, c *schema.Catalog) []auth.Need {
	switch p := p.(type) {
	case *Select:
		return []auth.Need{auth.NewNeed(auth.Select, readResource(p.Table))}
	case *Modification:
		return writeNeeds(p, c)
	case *Batch:
		var all []auth.Need
		for _, m := range p.Statements {
			all = append(all, writeNeeds(m, c)...)
		}
		return all
	case *define.Truncate:
		return []auth.Need{auth.NewNeed(auth.Modify, auth.Table(p.Keyspace, p.Name))}
	}
	return nil
}

// readResource is the resource whose permission reads of a table need: reads of a view need its base's.
func readResource(t *schema.Table) auth.Resource {
	if t.View != nil {
		return auth.Table(t.Keyspace, t.View.Base)
	}
	return auth.Table(t.Keyspace, t.Name)
}

// writeNeeds are the permissions that a modification takes. With conditions its answer may reveal stored values, and
// writes to a table change its views.
func writeNeeds(m *Modification, c *schema.Catalog) []auth.Need {
	t := auth.Table(m.Table.Keyspace, m.Table.Name)
	needs := []auth.Need{auth.NewNeed(auth.Modify, t)}
	var views []*schema.Table
	if k := c.Keyspace(m.Table.Keyspace); k != nil {
		views = k.ViewsOf(m.Table)
	}
	if m.If != nil || len(views) > 0 {
		needs = append(needs, auth.NewNeed(auth.Select, t))
	}
	for _, v := range views {
		needs = append(needs, auth.NewNeed(auth.Modify, auth.Table(v.Keyspace, v.Name)))
	}
	return needs
}

// CheckMasked refuses a SELECT that restricts masked columns, and a conditional write that does so or compares them,
// for a user who may not see their values.
func CheckMasked(p Plan, u *auth.User) error {
	switch p := p.(type) {
	case *Select:
		return checkMasked(p.Table, p.RestrictedMasks, u)
	case *Modification:
		if p.If != nil {
			return checkMasked(p.Table, p.If.Restricted, u)
		}
	case *Batch:
		for _, m := range p.Statements {
			if err := CheckMasked(m, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMasked is CheckMasked of the columns of a table that are listed.
func checkMasked(t *schema.Table, columns string, u *auth.User) error {
	if columns == "" || u.Has(auth.Unmask|auth.SelectMasked, auth.Table(t.Keyspace, t.Name)) {
		return nil
	}
	return cqlerr.Unauthorizedf("User %s has no UNMASK nor SELECT_MASKED permission on table %s.%s, cannot query masked "+
		"columns %s", u.Name, t.Keyspace, t.Name, columns)
}
