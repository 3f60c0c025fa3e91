package define

import (
	"cmp"
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// CreateTable defines a table.
type CreateTable struct {
	target
	Statement  *cql.CreateTable
	Properties []schema.Property
	Options    schema.TableOptions
}

// createTable plans CREATE TABLE with the checks of PREPARE, which do not depend on the keyspace.
func (p *planning) createTable(s *cql.CreateTable) (*CreateTable, error) {
	written := s.Table.Name
	if s.Table.Keyspace != "" {
		written = s.Table.Keyspace + "." + s.Table.Name
	}
	if err := cmp.Or(checkDeclarations(s, written), checkClasses(s.Columns)); err != nil {
		return nil, err
	}
	props := properties(s.Properties)
	object, err := p.target("create table", s.Table)
	if err != nil {
		return nil, err
	}
	if len(declaredKeys(s)) == 0 {
		return nil, cqlerr.Invalidf("No PRIMARY KEY specifed for table '%s' (exactly one required)", written)
	}
	d := &CreateTable{target: object, Statement: s, Properties: props}
	if schema.IsSystem(d.Keyspace) {
		return d, nil // Apply refuses the keyspace; the options do not matter
	}
	kept := p.env.Guard.KeptProperties(props)
	if d.Options, err = schema.ParseTableOptions(schema.DefaultTableOptions(), kept); err != nil {
		return nil, err
	}
	return d, p.checkNoMask(s.Columns)
}

// declaredKeys returns the primary keys of a statement, including PRIMARY KEY after a column.
func declaredKeys(s *cql.CreateTable) []cql.PrimaryKey {
	var keys []cql.PrimaryKey
	for _, c := range s.Columns {
		if c.PrimaryKey {
			keys = append(keys, cql.PrimaryKey{Partition: []string{c.Name}})
		}
	}
	return append(keys, s.PrimaryKeys...)
}

// checkDeclarations refuses columns, keys and orderings that are declared twice.
func checkDeclarations(s *cql.CreateTable, written string) error {
	seen := map[string]bool{}
	for _, c := range s.Columns {
		if seen[c.Name] {
			return cqlerr.Invalidf("Duplicate column '%s' declaration for table '%s'", c.Name, written)
		}
		seen[c.Name] = true
	}
	if len(declaredKeys(s)) > 1 {
		return cqlerr.Invalidf("Multiple PRIMARY KEY specified for table '%s' (exactly one required)", written)
	}
	ordered := map[string]bool{}
	for _, o := range s.Order {
		if ordered[o.Column] {
			return cqlerr.Invalidf("Duplicate column '%s' in CLUSTERING ORDER BY clause for table '%s'", o.Column, written)
		}
		ordered[o.Column] = true
	}
	return nil
}

// Apply adds the table.
func (d *CreateTable) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	name := d.Name
	if err := checkTablesChange("CREATE", d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	if r.Guard != nil {
		var err error
		if d, err = d.checkGuardrails(c, r.Guard); err != nil {
			return nil, Outcome{}, err
		}
	}
	if c.Keyspace(d.Keyspace) == nil {
		return nil, Outcome{}, keyspaceMissing(d.Keyspace)
	}
	if t := c.Table(d.Keyspace, name); t != nil && t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot create table '%s' - a materialized view with the same name already "+
			"exists", name)
	} else if t != nil {
		return skipOr(d.Statement.IfNotExists, c, cqlerr.TableExists(d.Keyspace, name))
	}
	if err := cmp.Or(schema.CheckTableProperties(d.Properties), d.Options.Validate()); err != nil {
		return nil, Outcome{}, err
	}
	columns, err := d.columns(c.Keyspace(d.Keyspace))
	if err == nil {
		err = d.maskColumns(c, columns, r.Time)
	}
	if err != nil {
		return nil, Outcome{}, err
	}
	if id, given, err := schema.TableID(d.Properties); err != nil {
		return nil, Outcome{}, err
	} else if given {
		r.NewID = id
	}
	if err := schema.CheckTableName(d.Keyspace, name); err != nil {
		return nil, Outcome{}, err
	}
	spec := schema.Table{Keyspace: d.Keyspace, Name: name, ID: r.NewID, Columns: columns, Options: d.Options}
	if d.Statement.CompactStorage {
		spec.Columns, spec.Compact = schema.CompactColumns(columns)
	}
	t := schema.NewTable(spec)
	if err := c.CheckTableID(t); err != nil {
		return nil, Outcome{}, err
	}
	if err := checkCompressed(r.Guard, d.Options); err != nil {
		return nil, Outcome{}, err
	}
	return c.WithTable(t), reported(schema.Created, schema.TargetTable, d.Keyspace, name), nil
}

// maskColumns sets the masks of columns.
func (d *CreateTable) maskColumns(c *schema.Catalog, columns []*schema.Column, micros int64) error {
	table := &schema.Table{Keyspace: d.Keyspace, Name: d.Name, Columns: columns}
	for _, def := range d.Statement.Columns {
		i := slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == def.Name })
		if def.Mask == nil || i < 0 {
			continue
		}
		made, err := mask(c, table, columns[i], def.Mask, micros)
		if err != nil {
			return err
		}
		columns[i].Mask = made
	}
	return nil
}

// DropTable removes a table.
type DropTable struct {
	target
	IfExists bool
}

// dropTable plans DROP TABLE.
func (p *planning) dropTable(s *cql.DropTable) (*DropTable, error) {
	t, err := p.target("drop table", s.Table)
	return &DropTable{t, s.IfExists}, err
}

// Apply removes the table.
func (d *DropTable) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := checkTableChange("DROP", d.Keyspace, d.Name); err != nil {
		return nil, Outcome{}, err
	}
	if err := r.Guard.DropTable(); err != nil {
		return nil, Outcome{}, err
	}
	t := c.Table(d.Keyspace, d.Name)
	if t == nil {
		return skipOr(d.IfExists, c, tableMissing(d.Keyspace, d.Name))
	}
	if t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED " +
			"VIEW instead.")
	}
	if err := checkNoViews(c.Keyspace(d.Keyspace), t); err != nil {
		return nil, Outcome{}, err
	}
	return c.WithoutTable(d.Keyspace, d.Name), reported(schema.Dropped, schema.TargetTable, d.Keyspace, d.Name), nil
}
