package define

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
)

// legacyIndex is the name of the legacy secondary index (2i), the default kind.
const legacyIndex = "legacy_local_table"

// CreateIndex defines an index on a table.
type CreateIndex struct {
	target
	Statement  *cql.CreateIndex
	Custom     bool
	Class      string // of a custom index
	Properties []schema.Property
}

// createIndex plans CREATE INDEX. USING makes a custom index, unless it names the default kind.
func (p *planning) createIndex(s *cql.CreateIndex) (*CreateIndex, error) {
	props := properties(s.Properties)
	object, err := p.target("create index on", s.Table)
	if err != nil {
		return nil, err
	}
	class := legacyIndex
	if s.Using != nil {
		class = *s.Using
	}
	d := &CreateIndex{target: object, Statement: s, Properties: props}
	if d.Custom = s.Custom || !strings.EqualFold(class, legacyIndex); d.Custom {
		d.Class = class
	}
	return d, nil
}

// Apply adds the index.
func (d *CreateIndex) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	name := d.Name
	if err := checkTableChange("ALTER", d.Keyspace, name); err != nil {
		return nil, Outcome{}, err
	}
	options, err := d.options()
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := r.Guard.CreateIndex(); err != nil {
		return nil, Outcome{}, err
	}
	t, err := findTable(c, d.Keyspace, name)
	if err != nil {
		return nil, Outcome{}, err
	}
	x, err := d.index(c.Keyspace(d.Keyspace), t, r.Guard)
	if err != nil {
		return nil, Outcome{}, err
	}
	if x == nil {
		return c, Outcome{Warnings: d.warnings()}, nil
	}
	x.Options = options
	if there, err := d.isThere(t, x); there || err != nil {
		return c, Outcome{Warnings: d.warnings()}, err
	}
	if err := schema.CheckIndex(t, x); err != nil {
		return nil, Outcome{}, err
	}
	t = t.WithIndex(x)
	out := reported(schema.Updated, schema.TargetTable, d.Keyspace, t.Name)
	out.Warnings = append(vectorWarnings(t), d.warnings()...)
	return c.WithTable(t), out, nil
}

// index returns the index without its options, or nil if one of that name exists and IF NOT EXISTS is given.
func (d *CreateIndex) index(k *schema.Keyspace, t *schema.Table, guard *guardrail.Check) (*schema.Index, error) {
	s := d.Statement
	if s.Name != "" && k.IndexedTable(s.Name) != nil {
		if s.IfNotExists {
			return nil, nil
		}
		return nil, cqlerr.Invalidf("Index '%s' already exists", s.Name)
	}
	if t.Counter {
		return nil, cqlerr.Invalidf("Secondary indexes on counter tables aren't supported")
	}
	if t.View != nil {
		return nil, cqlerr.Invalidf("Secondary indexes on materialized views aren't supported")
	}
	if err := guard.Indexes(t.Name, s.Name, len(t.Indexes)+1); err != nil {
		return nil, err
	}
	targets, err := d.targets(t)
	if err != nil {
		return nil, err
	}
	if d.Custom && d.Class == "" {
		return nil, cqlerr.Configf("Unable to find custom indexer class ''")
	}
	x := &schema.Index{Name: s.Name, Targets: targets, Class: d.Class}
	if x.Name == "" {
		x.Name = k.NewIndexName(t.Name, targets)
	}
	return x, nil
}

// isThere reports whether an equal index exists under another name, which is an error without IF NOT EXISTS.
func (d *CreateIndex) isThere(t *schema.Table, x *schema.Index) (bool, error) {
	equal := t.EqualIndex(x)
	if equal != nil && !d.Statement.IfNotExists {
		return true, cqlerr.Invalidf("Index %s is a duplicate of existing index %s", x.Name, equal.Name)
	}
	return equal != nil, nil
}

// options returns the options of a custom index.
func (d *CreateIndex) options() (map[string]string, error) {
	for _, p := range d.Properties {
		if p.Name != "options" {
			return nil, schema.UnknownProperty(p.Name)
		}
	}
	if len(d.Properties) == 0 {
		return nil, nil
	}
	if !d.Custom {
		return nil, cqlerr.Invalidf("Cannot specify options for a non-CUSTOM index")
	}
	options := d.Properties[0].Map
	if options == nil {
		return nil, schema.NotAMap("options")
	}
	for _, reserved := range []string{"class_name", "target"} {
		if _, ok := options[reserved]; ok {
			return nil, cqlerr.Invalidf("Cannot specify %s as a CUSTOM option", reserved)
		}
	}
	return options, nil
}

// vectorWarnings returns a warning for each vector index of a table that gets an index.
func vectorWarnings(t *schema.Table) (warnings []string) {
	for range t.VectorIndexes() {
		warnings = append(warnings, "SAI ANN indexes on vector columns are experimental and are not recommended for "+
			"production use.\nThey don't yet support SELECT queries with:\n * Consistency level higher than ONE/LOCAL_ONE.\n"+
			" * Paging.\n * No LIMIT clauses.\n * PER PARTITION LIMIT clauses.\n * GROUP BY clauses.\n"+
			" * Aggregation functions.\n * Filters on columns without a SAI index.")
	}
	return warnings
}

// warnings returns the warnings about the class, also if the index exists already.
func (d *CreateIndex) warnings() []string {
	if !schema.IsSASI(d.Class) {
		return nil
	}
	return []string{"SASI indexes are experimental and are not recommended for production use."}
}

// DropIndex removes an index.
type DropIndex struct {
	target
	IfExists bool
}

// dropIndex plans DROP INDEX.
func (p *planning) dropIndex(s *cql.DropIndex) (*DropIndex, error) {
	t, err := p.target("drop index", s.Index)
	return &DropIndex{t, s.IfExists}, err
}

// Apply removes the index. Its table is unknown until the index is found.
func (d *DropIndex) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	var t *schema.Table
	if k := c.Keyspace(d.Keyspace); k != nil {
		t = k.IndexedTable(d.Name)
	}
	if t == nil {
		return skipOr(d.IfExists, c, cqlerr.Invalidf("Index '%s.%s' doesn't exist'", d.Keyspace, d.Name))
	}
	out := reported(schema.Updated, schema.TargetTable, d.Keyspace, t.Name)
	return c.WithTable(t.WithoutIndex(d.Name)), out, nil
}
