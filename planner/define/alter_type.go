package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/scope"
)

// AlterType changes a user type, and thereby the tables and types that use it.
type AlterType struct {
	target
	Statement *cql.AlterType
}

// alterType plans ALTER TYPE.
func (p *planning) alterType(s *cql.AlterType) (*AlterType, error) {
	switch change := s.Change.(type) {
	case *cql.AddField:
		if err := checkClass(change.Field.Type); err != nil {
			return nil, err
		}
	case *cql.AlterFieldType:
		if err := checkClass(change.Type); err != nil {
			return nil, err
		}
	}
	t, err := p.target("alter type", s.Type)
	return &AlterType{t, s}, err
}

// Apply changes the type. Events report the types that contain it, by name, then the tables, the oldest first, then
// functions and aggregates.
func (d *AlterType) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	name := d.Name
	if err := checkTablesChange("ALTER", d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	t := c.Type(d.Keyspace, name)
	if t == nil {
		return skipOr(d.Statement.IfExists, c, cqlerr.Invalidf("Type %s.%s doesn't exist", d.Keyspace, name))
	}
	k := c.Keyspace(d.Keyspace)
	changed, err := d.change(k, t, r.Guard)
	if err != nil {
		return nil, Outcome{}, err
	}
	if types.Equal(changed, t) {
		return c, Outcome{}, nil
	}
	updated := func(target schema.Target, name string) schema.Change {
		return schema.Change{Kind: schema.Updated, Target: target, Keyspace: d.Keyspace, Name: name}
	}
	out := Outcome{Answer: updated(schema.TargetType, name)}
	for _, other := range k.SortedTypes() {
		if types.UsesUserType(other, name) {
			out.Events = append(out.Events, updated(schema.TargetType, other.Name))
		}
	}
	for _, table := range slices.Concat(k.TablesByAge(), k.SortedViews()) {
		if table.UsesType(name) {
			out.Events = append(out.Events, updated(schema.TargetTable, table.Name))
		}
	}
	for _, routine := range k.Routines() {
		if routine.Uses(name) {
			out.Events = append(out.Events, routineChange(schema.Updated, routine))
		}
	}
	next := c.WithType(changed)
	return next, out, checkTypeSizes(next.Keyspace(d.Keyspace), name)
}

// change returns the changed type.
func (d *AlterType) change(k *schema.Keyspace, t *types.UserType, guard *guardrail.Check) (*types.UserType, error) {
	switch change := d.Statement.Change.(type) {
	case *cql.AddField:
		return addField(k, t, change, guard)
	case *cql.RenameFields:
		return renameFields(k, t, change)
	}
	return nil, cqlerr.Invalidf("Altering field types is no longer supported")
}

// addField returns the type with another field.
func addField(
	k *schema.Keyspace, t *types.UserType, change *cql.AddField, guard *guardrail.Check,
) (*types.UserType, error) {
	name, field := typeName(t), change.Field
	if err := checkField(field.Type); err != nil {
		return nil, err
	}
	if t.Field(field.Name) >= 0 {
		if change.IfNotExists {
			return t, nil
		}
		return nil, cqlerr.Invalidf("Cannot add field %s to type %s: a field with name %s already exists", field.Name, name,
			field.Name)
	}
	of, err := scope.Type(k, field.Type)
	if err != nil {
		return nil, err
	}
	written := expr.Settled(field.Type)
	expr.Qualify(&written, k.Name)
	if types.UsesUserType(of, t.Name) {
		return nil, cqlerr.Invalidf("Cannot add new field %s of type %s to user type %s as it would create a circular "+
			"reference", field.Name, expr.TypeText(written), name)
	}
	if tables := partitionedBy(k, t); len(tables) > 0 {
		return nil, cqlerr.Invalidf("Cannot add new field %s of type %s to user type %s as the type is being used in "+
			"partition key by the following tables: %s", field.Name, expr.TypeText(written), name, strings.Join(tables, ", "))
	}
	if err := guard.Fields(t.Name, len(t.Fields)+1); err != nil {
		return nil, err
	}
	if err := checkVector(guard, "Field "+field.Name, field.Type); err != nil {
		return nil, err
	}
	changed := *t
	changed.Fields = append(slices.Clip(t.Fields), types.Field{Name: field.Name, Type: of})
	return &changed, nil
}

// typeName is the qualified name of a type.
func typeName(t *types.UserType) string { return quote.Name(t.Keyspace) + "." + quote.Name(t.Name) }

// partitionedBy returns the names of tables with the type in their partition key.
func partitionedBy(k *schema.Keyspace, t *types.UserType) []string {
	var names []string
	for _, table := range slices.Concat(k.TablesByAge(), k.SortedViews()) {
		uses := func(c *schema.Column) bool { return types.UsesUserType(c.Type, t.Name) }
		if slices.ContainsFunc(table.PartitionKey, uses) {
			names = append(names, quote.Name(table.Keyspace)+"."+quote.Name(table.Name))
		}
	}
	return names
}

// renameFields returns the type with renamed fields. If a field is renamed twice the last name counts.
func renameFields(k *schema.Keyspace, t *types.UserType, change *cql.RenameFields) (*types.UserType, error) {
	if users := aggregatesFrom(k, t.Name); len(users) > 0 {
		return nil, cqlerr.Invalidf("Cannot alter user type %s as it is still used in INITCOND by aggregates %s", typeName(t),
			strings.Join(users, ", "))
	}
	changed := *t
	changed.Fields = slices.Clone(t.Fields)
	for _, r := range change.Renames {
		i := t.Field(r.From)
		switch {
		case i >= 0:
			changed.Fields[i].Name = r.To
		case !change.IfExists:
			return nil, cqlerr.Invalidf("Unkown field %s in user type %s", r.From, typeName(t))
		}
	}
	for i, f := range changed.Fields {
		same := func(o types.Field) bool { return o.Name == f.Name }
		if slices.ContainsFunc(changed.Fields[i+1:], same) {
			return nil, cqlerr.Invalidf("Duplicate field name %s in type %s", f.Name, t.Keyspace)
		}
	}
	return &changed, nil
}
