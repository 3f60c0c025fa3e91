package define

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// viewsAreExperimental is the warning of every CREATE MATERIALIZED VIEW.
const viewsAreExperimental = "Materialized views are experimental and are not recommended for production use."

// CreateView defines a materialized view.
type CreateView struct {
	target
	Statement  *cql.CreateView
	Properties []schema.Property
}

// createView plans CREATE MATERIALIZED VIEW. Apply makes the checks that depend on the base table.
func (p *planning) createView(s *cql.CreateView) (*CreateView, error) {
	props := properties(s.Properties)
	for i, o := range s.Order {
		if slices.ContainsFunc(s.Order[:i], func(before cql.ClusteringOrder) bool { return before.Column == o.Column }) {
			return nil, cqlerr.Invalidf("Duplicate column '%s' in CLUSTERING ORDER BY clause for view '%s'", o.Column,
				writtenName(s.View))
		}
	}
	object, err := p.target("create materialized view", s.View)
	if err != nil {
		return nil, err
	}
	if s.Table.Keyspace != "" && s.Table.Keyspace != object.Keyspace {
		return nil, cqlerr.Invalidf("Cannot create a materialized view on a table in a different keyspace")
	}
	for _, rel := range s.Where {
		if expr.HasMarker(append(slices.Clip(rel.Values.Parts), rel.Value, rel.Key)...) {
			return nil, cqlerr.Invalidf("Bind variables are not allowed in CREATE MATERIALIZED VIEW statements")
		}
	}
	return &CreateView{target: object, Statement: s, Properties: props}, nil
}

// writtenName is a name as written, with or without keyspace.
func writtenName(n cql.QualifiedName) string {
	if n.Keyspace == "" {
		return n.Name
	}
	return n.Keyspace + "." + n.Name
}

// Apply adds the view.
func (d *CreateView) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	s := d.Statement
	if err := checkTableChange("ALTER", d.Keyspace, s.Table.Name); err != nil {
		return nil, Outcome{}, err
	}
	base, err := d.base(c)
	if err != nil {
		return nil, Outcome{}, err
	}
	if c.Keyspace(d.Keyspace).Views[s.View.Name] != nil {
		if s.IfNotExists {
			return c, Outcome{Warnings: []string{viewsAreExperimental}}, nil
		}
		return nil, Outcome{}, cqlerr.TableExists(d.Keyspace, s.View.Name)
	}
	view, err := d.view(c, base, r)
	if err != nil {
		return nil, Outcome{}, err
	}
	out := reported(schema.Created, schema.TargetTable, d.Keyspace, s.View.Name)
	out.Warnings = []string{viewsAreExperimental}
	return c.WithTable(view), out, nil
}

// base returns the base table.
func (d *CreateView) base(c *schema.Catalog) (*schema.Table, error) {
	k := c.Keyspace(d.Keyspace)
	if k == nil {
		return nil, keyspaceMissing(d.Keyspace)
	}
	base := k.Tables[d.Statement.Table.Name]
	if base == nil {
		return nil, cqlerr.Invalidf("Base table '%s' doesn't exist", d.Statement.Table.Name)
	}
	if name := d.Name; k.Tables[name] != nil {
		return nil, cqlerr.Invalidf("Cannot create materialized view '%s' - a table with the same name already exists", name)
	}
	return base, nil
}

// view returns the checked view.
func (d *CreateView) view(c *schema.Catalog, base *schema.Table, r Run) (*schema.Table, error) {
	name := d.Name
	if base.Counter {
		return nil, cqlerr.Invalidf("Materialized views are not supported on counter tables")
	}
	props, err := r.Guard.TableProperties(d.Properties)
	if err != nil {
		return nil, err
	}
	if err := r.Guard.Views(base.Name, name, len(c.Keyspace(d.Keyspace).ViewsOf(base))+1); err != nil {
		return nil, err
	}
	if base.Options.GCGraceSeconds == 0 {
		return nil, cqlerr.Invalidf("Cannot create materialized view '%s' for base table '%s' with gc_grace_seconds of 0, "+
			"since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered "+
			"updates to expire before being replayed.", name, base.Name)
	}
	columns, err := d.columns(base)
	if err != nil {
		return nil, err
	}
	where, err := d.where(c, base, r)
	if err != nil {
		return nil, err
	}
	options, err := viewOptions(props)
	if err != nil {
		return nil, err
	}
	if given, ok, err := schema.TableID(props); err != nil {
		return nil, err
	} else if ok {
		r.NewID = given
	}
	if err := schema.CheckTableName(d.Keyspace, name); err != nil {
		return nil, err
	}
	view := schema.NewTable(schema.Table{
		Keyspace: d.Keyspace, Name: name, ID: r.NewID, Columns: columns, Options: options,
		View: &schema.View{BaseID: base.ID, Base: base.Name, All: len(d.Statement.Selectors) == 0, Where: where},
	})
	return view, c.CheckTableID(view)
}

// viewOptions parses the options of a view.
func viewOptions(props []schema.Property) (schema.TableOptions, error) {
	o, err := checkOptions(props)
	if err == nil && o.DefaultTimeToLive != 0 {
		err = cqlerr.Invalidf("Cannot set default_time_to_live for a materialized view. Data in a materialized view always " +
			"expire at the same time than the corresponding data in the parent table.")
	}
	return o, err
}

// checkOptions parses options over the defaults and checks them.
func checkOptions(props []schema.Property) (schema.TableOptions, error) {
	if err := schema.CheckTableProperties(props); err != nil {
		return schema.TableOptions{}, err
	}
	o, err := schema.ParseTableOptions(schema.DefaultTableOptions(), props)
	if err != nil {
		return o, err
	}
	return o, o.Validate()
}

// AlterView changes the options of a materialized view.
type AlterView struct {
	target
	IfExists   bool
	Properties []schema.Property
}

// alterView plans ALTER MATERIALIZED VIEW.
func (p *planning) alterView(s *cql.AlterView) (*AlterView, error) {
	t, err := p.target("alter materialized view", s.View)
	return &AlterView{t, s.IfExists, properties(s.Properties)}, err
}

// Apply changes the options. Like Cassandra it validates them together with the defaults, not with the options of the
// view.
func (d *AlterView) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	view, err := findView(c, d.Keyspace, d.Name, d.IfExists)
	if view == nil {
		return c, Outcome{}, err
	}
	if err := schema.CheckTableProperties(d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	props, err := r.Guard.TableProperties(d.Properties)
	if err != nil {
		return nil, Outcome{}, err
	}
	if _, err := checkOptions(props); err != nil {
		return nil, Outcome{}, err
	}
	if err := checkNoID(props); err != nil {
		return nil, Outcome{}, err
	}
	spec := *view
	if spec.Options, err = schema.ParseTableOptions(view.Options, props); err != nil {
		return nil, Outcome{}, err
	}
	if !slices.ContainsFunc(props, func(p schema.Property) bool { return p.Name == "bloom_filter_fp_chance" }) {
		spec.Options.BloomFilterFPChance = view.Options.BloomFilterFPChance // whatever the compaction becomes
	}
	if spec.Options.GCGraceSeconds == 0 {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot alter gc_grace_seconds of a materialized view to 0, since this " +
			"value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to " +
			"expire before being replayed.")
	}
	if spec.Options.DefaultTimeToLive > 0 {
		return nil, Outcome{}, cqlerr.Invalidf("Forbidden default_time_to_live detected for a materialized view. Data in a " +
			"materialized view always expire at the same time than the corresponding data in the parent table. " +
			"default_time_to_live must be set to zero, see CASSANDRA-12868 for more information")
	}
	changed := c.WithTable(schema.NewTable(spec))
	if changed.Version() == c.Version() {
		return c, Outcome{}, nil
	}
	return changed, reported(schema.Updated, schema.TargetTable, d.Keyspace, d.Name), nil
}

// DropView removes a materialized view.
type DropView struct {
	target
	IfExists bool
}

// dropView plans DROP MATERIALIZED VIEW.
func (p *planning) dropView(s *cql.DropView) (*DropView, error) {
	t, err := p.target("drop materialized view", s.View)
	return &DropView{t, s.IfExists}, err
}

// Apply removes the view.
func (d *DropView) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	view, err := findView(c, d.Keyspace, d.Name, d.IfExists)
	if view == nil {
		return c, Outcome{}, err
	}
	return c.WithoutTable(d.Keyspace, d.Name), reported(schema.Dropped, schema.TargetTable, d.Keyspace, d.Name), nil
}

// findView returns a view, or nil and, without IF EXISTS, an error.
func findView(c *schema.Catalog, keyspace, name string, ifExists bool) (*schema.Table, error) {
	if err := schema.CheckKeyspaceName(keyspace); err != nil {
		return nil, err
	}
	if k := c.Keyspace(keyspace); k != nil && k.Views[name] != nil {
		return k.Views[name], nil
	}
	if ifExists {
		return nil, nil
	}
	return nil, cqlerr.Invalidf("Materialized view '%s.%s' doesn't exist", keyspace, name)
}

// checkNoViews refuses to drop a table with views. Cassandra's message has the keyspace instead of their names.
func checkNoViews(k *schema.Keyspace, base *schema.Table) error {
	if len(k.ViewsOf(base)) == 0 {
		return nil
	}
	return cqlerr.Invalidf("Cannot drop a table when materialized views still depend on it (%s)", k.Name)
}
