package define

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// CreateType defines a user type.
type CreateType struct {
	target
	Statement *cql.CreateType
}

// createType plans CREATE TYPE.
func (p *planning) createType(s *cql.CreateType) (*CreateType, error) {
	for _, f := range s.Fields {
		if err := checkClass(f.Type); err != nil {
			return nil, err
		}
	}
	t, err := p.target("create type", s.Type)
	return &CreateType{t, s}, err
}

// Apply adds the type.
func (d *CreateType) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	name := d.Name
	if err := checkTablesChange("CREATE", d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	if err := d.Validate(c, r.Guard); err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Keyspace)
	if k == nil {
		return nil, Outcome{}, keyspaceMissing(d.Keyspace)
	}
	if k.Types[name] != nil {
		return skipOr(d.Statement.IfNotExists, c, cqlerr.Invalidf("A user type with name '%s' already exists", name))
	}
	t := &types.UserType{Keyspace: d.Keyspace, Name: name}
	var err error
	if t.Fields, err = fields(k, d.Statement); err != nil {
		return nil, Outcome{}, err
	}
	if err := checkTypeSize(t); err != nil {
		return nil, Outcome{}, err
	}
	return c.WithType(t), reported(schema.Created, schema.TargetType, d.Keyspace, name), nil
}

// fields returns the checked fields of a type.
func fields(k *schema.Keyspace, s *cql.CreateType) ([]types.Field, error) {
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[f.Name] {
			return nil, cqlerr.Invalidf("Duplicate field name '%s' in type '%s'", f.Name, s.Type.Name)
		}
		seen[f.Name] = true
	}
	for _, f := range s.Fields {
		if err := checkField(f.Type); err != nil {
			return nil, err
		}
	}
	all := make([]types.Field, len(s.Fields))
	for i, f := range s.Fields {
		t, err := scope.Type(k, f.Type)
		if err != nil {
			return nil, err
		}
		all[i] = types.Field{Name: f.Name, Type: t}
	}
	return all, nil
}

// checkField refuses types that a field cannot have, before they are resolved.
func checkField(n cql.TypeName) error {
	switch {
	case scope.IsNative(n, "counter"):
		return cqlerr.Invalidf("A user type cannot contain counters")
	case n.User && !n.Frozen:
		return cqlerr.Invalidf("A user type cannot contain non-frozen UDTs")
	}
	return nil
}

// DropType removes a user type.
type DropType struct {
	target
	IfExists bool
}

// dropType plans DROP TYPE.
func (p *planning) dropType(s *cql.DropType) (*DropType, error) {
	t, err := p.target("drop type", s.Type)
	return &DropType{t, s.IfExists}, err
}

// Apply removes the type, unless something uses it.
func (d *DropType) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := checkTablesChange("DROP", d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	if c.Type(d.Keyspace, d.Name) == nil {
		return skipOr(d.IfExists, c, cqlerr.Invalidf("Type '%s.%s' doesn't exist", d.Keyspace, d.Name))
	}
	if err := d.checkUnused(c.Keyspace(d.Keyspace)); err != nil {
		return nil, Outcome{}, err
	}
	return c.WithoutType(d.Keyspace, d.Name), reported(schema.Dropped, schema.TargetType, d.Keyspace, d.Name), nil
}

// checkUnused refuses to drop a type that functions, other types or tables use.
func (d *DropType) checkUnused(k *schema.Keyspace) error {
	var users []string
	if users := functionsWith(k, d.Name); len(users) > 0 {
		return cqlerr.Invalidf("Cannot drop user type '%s.%s' as it is still used by functions %s", d.Keyspace, d.Name,
			strings.Join(users, ", "))
	}
	for _, t := range k.SortedTypes() {
		if t.Name != d.Name && types.UsesUserType(t, d.Name) {
			users = append(users, t.Name)
		}
	}
	if len(users) > 0 {
		return cqlerr.Invalidf("Cannot drop user type '%s.%s' as it is still used by user types %s", d.Keyspace, d.Name,
			strings.Join(users, ", "))
	}
	for _, t := range k.TablesByAge() {
		if t.UsesType(d.Name) {
			users = append(users, t.Name)
		}
	}
	if len(users) > 0 {
		return cqlerr.Invalidf("Cannot drop user type '%s.%s' as it is still used by tables %s", d.Keyspace, d.Name,
			strings.Join(users, ", "))
	}
	return nil
}
