package define

import (
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// errNoMasks refuses masks in CREATE TABLE and ALTER. Cassandra does not check whether masks are enabled when ALTER
// TABLE adds a masked column.
var errNoMasks = cqlerr.Invalidf("Cannot mask columns because dynamic data masking is not enabled. You can enable it " +
	"with the dynamic_data_masking_enabled property on cassandra.yaml")

// checkNoMask refuses masked columns if masks are disabled.
func (p *planning) checkNoMask(columns []cql.ColumnDefinition) error {
	if p.env.Masks {
		return nil
	}
	for _, def := range columns {
		if def.Mask != nil {
			return errNoMasks
		}
	}
	return nil
}

// mask resolves the masking function of a column and its arguments. micros is the current time.
func mask(catalog *schema.Catalog, t *schema.Table, c *schema.Column, m *cql.Mask, micros int64) (*schema.Mask, error) {
	call := m.Call
	if m.Default {
		call = &cql.Call{Function: cql.QualifiedName{Name: "mask_default"}}
	}
	terms := expr.Checker{Info: &expr.Info{}, Scope: expr.Scope{
		Names: scope.New(catalog, t.Keyspace), Clock: &types.Clock{Now: time.UnixMicro(micros)},
	}}
	terms.About(t)
	f, err := terms.MaskFunction(call, c.Type)
	if err != nil {
		return nil, err
	}
	written := maskText(terms.Info, call)
	switch {
	case f == nil:
		return nil, cqlerr.Invalidf("Unable to find masking function for %s, no declared function matches the signature %s",
			c.Name, written)
	case f.IsAggregate():
		return nil, cqlerr.Invalidf("Aggregate function %s cannot be used for masking table columns", written)
	case f.User == nil && !strings.HasPrefix(f.Name, "mask_"):
		return nil, cqlerr.Invalidf("Not-masking function %s cannot be used for masking table columns", written)
	case f.User != nil && f.User.Keyspace != t.Keyspace:
		return nil, cqlerr.Invalidf("Masking function %s doesn't belong to the same keyspace as the table %s.%s", written,
			t.Keyspace, t.Name)
	case !types.Equal(f.Returns, c.Type):
		return nil, cqlerr.Invalidf("Masking function %s return type is %s. This is different to the type of the masked "+
			"column %s of type %s. Masking functions can only be attached to table columns if they return the same data type "+
			"as the masked column.", written, f.Returns, c.Name, c.Type)
	}
	out := &schema.Mask{Keyspace: "system", Function: f.Name}
	if f.User != nil {
		out.Keyspace = t.Keyspace
	}
	for i, term := range call.Args {
		arg, err := maskArg(&terms, f, i+1, term)
		if err != nil {
			return nil, err
		}
		out.Args = append(out.Args, arg)
	}
	return out, nil
}

// maskArg returns the value of one argument of a mask, which is stored with the table.
func maskArg(terms *expr.Checker, f *functions.Function, i int, term cql.Term) (schema.MaskArg, error) {
	e, err := terms.Check(term, expr.ArgReceiver(terms.Table.Keyspace, terms.Table.Name, f, i))
	if err != nil {
		return schema.MaskArg{}, err
	}
	c, ok := e.(*expr.Constant)
	if !ok {
		return schema.MaskArg{}, cqlerr.Invalidf("The arguments of a mask must be constants, not %s", terms.Text(term))
	}
	return schema.MaskArg{Type: f.Args[i], Value: c.Value.Bytes}, nil
}

// maskText is a mask's function in error texts.
func maskText(known *expr.Info, call *cql.Call) string {
	name := call.Function.Name
	if call.Function.Keyspace != "" {
		name = call.Function.Keyspace + "." + name
	}
	return name + "(" + known.Texts(cql.Terms{Parts: call.Args}) + ")"
}

// changeMask returns the table with the mask of a column changed or removed.
func changeMask(c *schema.Catalog, t *schema.Table, change *cql.MaskColumn, micros int64) (*schema.Table, error) {
	column := t.Column(change.Column)
	if column == nil {
		if change.IfExists {
			return t, nil
		}
		return nil, cqlerr.Invalidf("Column with name '%s' doesn't exist on table '%s'", change.Column, t.Name)
	}
	if change.Mask == nil {
		return t.WithMask(change.Column, nil), nil
	}
	made, err := mask(c, t, column, change.Mask, micros)
	if err != nil {
		return nil, err
	}
	return t.WithMask(change.Column, made), nil
}

// maskedBy returns the names of tables with columns masked by a function.
func maskedBy(k *schema.Keyspace, f *schema.Function) (names []string) {
	for _, t := range k.TablesByAge() {
		if slices.ContainsFunc(t.Columns, func(c *schema.Column) bool { return c.Mask.Calls(f.Keyspace, f.Name, f.Args) }) {
			names = append(names, t.Name)
		}
	}
	return names
}
