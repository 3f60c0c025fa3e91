package planner

import (
	"github.com/cqld/cqld/auth"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/define"
)

// Needs are the permissions that a statement which reads or writes rows takes, in the order in which Cassandra asks for
// them. Others have none here: define.Authorize and package auth/roles know theirs.
func Needs(p Plan, c *schema.Catalog) []auth.Need {
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

// readResource is what reads of a table take the permission on: views are read with that on their base.
func readResource(t *schema.Table) auth.Resource {
	if t.View != nil {
		return auth.Table(t.Keyspace, t.View.Base)
	}
	return auth.Table(t.Keyspace, t.Name)
}

// writeNeeds are the permissions that a modification takes. With conditions its answer may tell what is stored, and
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

// CheckMasked refuses a SELECT that restricts masked columns for a user who may not know what they hold.
func CheckMasked(p Plan, u *auth.User) error {
	s, is := p.(*Select)
	if !is || s.RestrictedMasks == "" || u.IsSuper() {
		return nil
	}
	t := auth.Table(s.Table.Keyspace, s.Table.Name)
	if u.Has(auth.Unmask|auth.SelectMasked, t) {
		return nil
	}
	return cqlerr.Unauthorizedf("User %s has no UNMASK nor SELECT_MASKED permission on table %s.%s, cannot query masked "+
		"columns %s", u.Name, s.Table.Keyspace, s.Table.Name, s.RestrictedMasks)
}
