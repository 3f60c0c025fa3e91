package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
)

// AlterTable changes a table.
type AlterTable struct {
	Keyspace   string
	Statement  *cql.AlterTable
	Properties []schema.Property
	Time       int64 // microseconds: when columns are dropped that are not dropped as of another time, and masks made
	guard      *guardrail.Check
}

// alterTable plans ALTER TABLE: what PREPARE says of it already, without looking at the table.
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
	if d.Keyspace, err = p.scope.Keyspace(s.Table); err != nil || schema.IsSystem(d.Keyspace) {
		return d, err
	}
	if change, ok := s.Change.(*cql.MaskColumn); ok && change.Mask != nil && !p.env.Masks {
		return nil, errNoMasks
	}
	_, err = schema.ParseTableOptions(schema.DefaultTableOptions(), p.env.Guard.KeptProperties(d.Properties))
	return d, err
}

// At is the definition as of a time.
func (d *AlterTable) At(micros int64) Definition {
	dated := *d
	dated.Time = micros
	return &dated
}

// Under is the definition for a client that is subject to guardrails.
func (d *AlterTable) Under(guard *guardrail.Check) Definition {
	guarded := *d
	guarded.guard = guard
	return &guarded
}

// Apply changes the table.
func (d *AlterTable) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	s := d.Statement
	if err := checkTableChange("ALTER", d.Keyspace, s.Table.Name); err != nil {
		return nil, Outcome{}, err
	}
	d, err := d.checkGuardrails()
	if err != nil {
		return nil, Outcome{}, err
	}
	t := c.Table(d.Keyspace, s.Table.Name)
	if t == nil {
		if s.IfExists {
			return c, Outcome{}, nil
		}
		return nil, Outcome{}, tableMissing(d.Keyspace, s.Table.Name)
	}
	if t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW " +
			"instead")
	}
	changed, err := d.change(c, t)
	if err != nil {
		return nil, Outcome{}, err
	}
	if changed.SameAs(t) {
		return c, Outcome{}, nil
	}
	next, out := withViews(c, t, changed)
	return next, out, nil
}

// change is the table as changed.
func (d *AlterTable) change(c *schema.Catalog, t *schema.Table) (*schema.Table, error) {
	switch d.Statement.Change.(type) {
	case *cql.AddColumns, *cql.DropColumns, *cql.RenameColumns:
		if err := d.guard.AlterTable(); err != nil {
			return nil, err
		}
	}
	switch change := d.Statement.Change.(type) {
	case *cql.AddColumns:
		return d.addColumns(c, t, change)
	case *cql.DropColumns:
		return d.dropColumns(c, t, change)
	case *cql.RenameColumns:
		return renameColumns(t, change)
	case *cql.MaskColumn:
		return d.changeMask(c, t, change)
	case *cql.SetTableOptions:
		return d.setOptions(c, t)
	case *cql.DropCompactStorage:
		return dropCompactStorage(t)
	case *cql.AlterColumnType:
		return nil, cqlerr.Invalidf("Altering column types is no longer supported")
	}
	return nil, expr.NotSupported(d.Statement.Change.String())
}

// setOptions is the table with other options. As in Cassandra, values are judged beside the defaults of the other
// options, not beside those of the table.
func (d *AlterTable) setOptions(c *schema.Catalog, t *schema.Table) (*schema.Table, error) {
	if err := schema.CheckTableProperties(d.Properties); err != nil {
		return nil, err
	}
	alone, err := schema.ParseTableOptions(schema.DefaultTableOptions(), d.Properties)
	if err != nil {
		return nil, err
	}
	if err := alone.Validate(); err != nil {
		return nil, err
	}
	if err := checkNoID(d.Properties); err != nil {
		return nil, err
	}
	changed := *t
	if changed.Options, err = schema.AlterTableOptions(t.Options, d.Properties); err != nil {
		return nil, err
	}
	if err := checkCountersStay(t.Counter, changed.Options.DefaultTimeToLive); err != nil {
		return nil, err
	}
	if err := checkViewsGrace(c, &changed); err != nil {
		return nil, err
	}
	return schema.NewTable(changed), checkCompressed(d.guard, changed.Options)
}

// checkNoID refuses to change the id of a table or view.
func checkNoID(props []schema.Property) error {
	_, given, err := schema.TableID(props)
	if err == nil && given {
		err = cqlerr.Configf("Cannot alter table id.")
	}
	return err
}
