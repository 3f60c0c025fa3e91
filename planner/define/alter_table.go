package define

import (
	"cmp"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
)

// AlterTable changes a table.
type AlterTable struct {
	target
	Statement  *cql.AlterTable
	Properties []schema.Property
}

// alterTable plans ALTER TABLE with the checks of PREPARE, which do not depend on the table.
func (p *planning) alterTable(s *cql.AlterTable) (*AlterTable, error) {
	d := &AlterTable{Statement: s}
	var err error
	switch change := s.Change.(type) {
	case *cql.AddColumns:
		err = checkClasses(change.Columns)
	case *cql.AlterColumnType:
		err = checkClass(change.Type)
	case *cql.SetTableOptions:
		d.Properties = properties(change.Properties)
	}
	if err != nil {
		return nil, err
	}
	if d.target, err = p.target("alter table", s.Table); err != nil || schema.IsSystem(d.Keyspace) {
		return d, err
	}
	if change, ok := s.Change.(*cql.MaskColumn); ok && change.Mask != nil && !p.env.Masks {
		return nil, errNoMasks
	}
	_, err = schema.ParseTableOptions(schema.DefaultTableOptions(), p.env.Guard.KeptProperties(d.Properties))
	return d, err
}

// Apply changes the table.
func (d *AlterTable) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	s := d.Statement
	if err := checkTableChange("ALTER", d.Keyspace, s.Table.Name); err != nil {
		return nil, Outcome{}, err
	}
	d, err := d.checkGuardrails(r.Guard)
	if err != nil {
		return nil, Outcome{}, err
	}
	t := c.Table(d.Keyspace, s.Table.Name)
	if t == nil {
		return skipOr(s.IfExists, c, tableMissing(d.Keyspace, s.Table.Name))
	}
	if t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW " +
			"instead")
	}
	changed, err := d.change(c, t, r)
	if err != nil {
		return nil, Outcome{}, err
	}
	if changed.SameAs(t) {
		return c, Outcome{}, nil
	}
	next, out := withViews(c, t, changed)
	return next, out, nil
}

// change returns the changed table.
func (d *AlterTable) change(c *schema.Catalog, t *schema.Table, r Run) (*schema.Table, error) {
	switch d.Statement.Change.(type) {
	case *cql.AddColumns, *cql.DropColumns, *cql.RenameColumns:
		if err := r.Guard.AlterTable(); err != nil {
			return nil, err
		}
	}
	switch change := d.Statement.Change.(type) {
	case *cql.AddColumns:
		return addColumns(c, t, change, r)
	case *cql.DropColumns:
		return dropColumns(c, t, change, r.Time)
	case *cql.RenameColumns:
		return renameColumns(t, change)
	case *cql.MaskColumn:
		return changeMask(c, t, change, r.Time)
	case *cql.SetTableOptions:
		return d.setOptions(c, t, r.Guard)
	case *cql.DropCompactStorage:
		return dropCompactStorage(t)
	case *cql.AlterColumnType:
		return nil, cqlerr.Invalidf("Altering column types is no longer supported")
	}
	return nil, expr.NotSupported(d.Statement.Change.String())
}

// setOptions returns the table with changed options. Like Cassandra it validates the new values together with the
// defaults of other options, not with the table's.
func (d *AlterTable) setOptions(c *schema.Catalog, t *schema.Table, guard *guardrail.Check) (*schema.Table, error) {
	if err := schema.CheckTableProperties(d.Properties); err != nil {
		return nil, err
	}
	alone, err := schema.ParseTableOptions(schema.DefaultTableOptions(), d.Properties)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(alone.Validate(), checkNoID(d.Properties)); err != nil {
		return nil, err
	}
	changed := *t
	if changed.Options, err = schema.AlterTableOptions(t.Options, d.Properties); err != nil {
		return nil, err
	}
	if err := cmp.Or(
		checkCountersStay(t.Counter, changed.Options.DefaultTimeToLive),
		checkViewsGrace(c, &changed),
	); err != nil {
		return nil, err
	}
	return schema.NewTable(changed), checkCompressed(guard, changed.Options)
}

// checkNoID refuses to change the id of a table or view.
func checkNoID(props []schema.Property) error {
	_, given, err := schema.TableID(props)
	if err == nil && given {
		err = cqlerr.Configf("Cannot alter table id.")
	}
	return err
}
