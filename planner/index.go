package planner

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// legacyIndex is the name of Cassandra's first kind of index, which is the default.
const legacyIndex = "legacy_local_table"

// CreateIndex defines an index on a table.
type CreateIndex struct {
	Keyspace   string
	Statement  *cql.CreateIndex
	Custom     bool
	Class      string // of a custom index
	Properties []schema.Property
}

// createIndex plans CREATE INDEX. USING makes an index a custom one, but for the name of the default kind.
func (p *planning) createIndex(s *cql.CreateIndex) (*CreateIndex, error) {
	props, err := properties(s.Properties)
	if err != nil {
		return nil, err
	}
	keyspace, err := p.keyspaceName(s.Table)
	if err != nil {
		return nil, err
	}
	class := legacyIndex
	if s.Using != nil {
		class = *s.Using
	}
	d := &CreateIndex{Keyspace: keyspace, Statement: s, Properties: props}
	if d.Custom = s.Custom || !strings.EqualFold(class, legacyIndex); d.Custom {
		d.Class = class
	}
	return d, nil
}

// Apply adds the index.
func (d *CreateIndex) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	s := d.Statement
	if err := checkSchemaChange("ALTER", d.Keyspace, "<table "+d.Keyspace+"."+s.Table.Name+">"); err != nil {
		return nil, Outcome{}, err
	}
	options, err := d.options()
	if err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Keyspace)
	if k == nil {
		return nil, Outcome{}, cqlerr.Invalidf("Keyspace '%s' doesn't exist", d.Keyspace)
	}
	t := k.Tables[s.Table.Name]
	if t == nil {
		return nil, Outcome{}, cqlerr.Invalidf("Table '%s' doesn't exist", s.Table.Name)
	}
	if s.Name != "" && k.IndexedTable(s.Name) != nil {
		if s.IfNotExists {
			return c, Outcome{Warnings: d.warnings()}, nil
		}
		return nil, Outcome{}, cqlerr.Invalidf("Index '%s' already exists", s.Name)
	}
	if t.Counter {
		return nil, Outcome{}, cqlerr.Invalidf("Secondary indexes on counter tables aren't supported")
	}
	targets, err := d.targets(t)
	if err != nil {
		return nil, Outcome{}, err
	}
	if d.Custom && d.Class == "" {
		return nil, Outcome{}, cqlerr.Configf("Unable to find custom indexer class ''")
	}
	x := &schema.Index{Name: s.Name, Targets: targets, Class: d.Class, Options: options}
	if x.Name == "" {
		x.Name = k.NewIndexName(t.Name, targets)
	}
	if equal := t.EqualIndex(x); equal != nil {
		if s.IfNotExists {
			return c, Outcome{Warnings: d.warnings()}, nil
		}
		return nil, Outcome{}, cqlerr.Invalidf("Index %s is a duplicate of existing index %s", x.Name, equal.Name)
	}
	if err := schema.CheckIndex(t, x); err != nil {
		return nil, Outcome{}, err
	}
	t = t.WithIndex(x)
	out := told(schema.Updated, schema.TargetTable, d.Keyspace, t.Name)
	out.Warnings = append(vectorWarnings(t), d.warnings()...)
	return c.WithTable(t), out, nil
}

// options are the options of a custom index.
func (d *CreateIndex) options() (map[string]string, error) {
	for _, p := range d.Properties {
		if p.Name != "options" {
			return nil, cqlerr.Syntaxf("Unknown property '%s'", p.Name)
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
		return nil, cqlerr.Syntaxf("Invalid value for property 'options'. It should be a map.")
	}
	for _, reserved := range []string{"class_name", "target"} {
		if _, ok := options[reserved]; ok {
			return nil, cqlerr.Invalidf("Cannot specify %s as a CUSTOM option", reserved)
		}
	}
	return options, nil
}

// targets are what is to be indexed, checked.
func (d *CreateIndex) targets(t *schema.Table) ([]schema.IndexTarget, error) {
	written := d.Statement.Targets
	targets := make([]schema.IndexTarget, len(written))
	for i, w := range written {
		c, err := column(t, cql.ColumnRef{Name: w.Column})
		if err != nil {
			return nil, err
		}
		targets[i] = schema.IndexTarget{Column: c.Name, Part: schema.IndexPart(w.Kind)}
		// Cassandra does not see that a clustering column in descending order is a collection.
		if key, value := elementTypes(c.Type); w.Kind == cql.IndexColumn && !c.Desc && (key != nil || value != nil) {
			targets[i].Part = schema.IndexValues
		}
	}
	if !d.Custom && len(targets) == 0 {
		return nil, cqlerr.Invalidf("Only CUSTOM indexes can be created without specifying a target column")
	}
	if !d.Custom && len(targets) > 1 {
		return nil, cqlerr.Invalidf("Only CUSTOM indexes support multiple columns")
	}
	for i, target := range targets {
		same := func(o schema.IndexTarget) bool { return o.Column == target.Column }
		if slices.ContainsFunc(targets[:i], same) {
			return nil, cqlerr.Invalidf("Duplicate column '%s' in index target list", target.Column)
		}
	}
	for _, target := range targets {
		if err := d.checkTarget(t, target); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// maxCustomTarget is the longest name of a column that has a custom index.
const maxCustomTarget = 48

var customTarget = regexp.MustCompile(`^\w+$`)

// checkTarget refuses what no index can be made of.
func (d *CreateIndex) checkTarget(t *schema.Table, target schema.IndexTarget) error {
	c := t.Column(target.Column)
	if d.Custom && !customTarget.MatchString(c.Name) {
		return cqlerr.Invalidf("Column '%s' contains non-alphanumeric-underscore characters", c.Name)
	}
	if d.Custom && len(c.Name) > maxCustomTarget {
		return cqlerr.Invalidf("Column '%s' is longer than the permissible name length of %d characters", c.Name,
			maxCustomTarget)
	}
	if hasDuration(c.Type) {
		return cqlerr.Invalidf("Secondary indexes are not supported on %s", durations(c.Type))
	}
	if c.Kind == schema.PartitionKey && len(t.PartitionKey) == 1 {
		return cqlerr.Invalidf("Cannot create secondary index on the only partition key column %s", c.Name)
	}
	return checkIndexPart(c, target.Part)
}

// checkIndexPart refuses the parts that a column does not have.
func checkIndexPart(c *schema.Column, part schema.IndexPart) error {
	_, isMap := c.Type.(*types.Map)
	key, value := elementTypes(c.Type)
	collection, cells := key != nil || value != nil, types.IsMultiCell(c.Type)
	switch {
	case collection && !cells && part != schema.IndexFull:
		return cqlerr.Invalidf("Cannot create %s() index on frozen column %s. Frozen collections are immutable and must be "+
			"fully indexed by using the 'full(%s)' modifier", part, c.Name, cql.Quote(c.Name))
	case (!collection || cells) && part == schema.IndexFull:
		return cqlerr.Invalidf("full() indexes can only be created on frozen collections")
	case !collection && part != schema.IndexSimple:
		return cqlerr.Invalidf("Cannot create %s() index on %s. Non-collection columns only support simple indexes", part,
			c.Name)
	case (part == schema.IndexKeys || part == schema.IndexEntries) && !isMap:
		return cqlerr.Invalidf("Cannot create index on %s of column %s with non-map type", part, c.Name)
	case !collection && cells:
		return cqlerr.Invalidf("Cannot create index on non-frozen UDT column %s", c.Name)
	}
	return nil
}

// vectorWarnings speak of each index of vectors, whenever a table gets an index.
func vectorWarnings(t *schema.Table) (warnings []string) {
	for range t.VectorIndexes() {
		warnings = append(warnings, "SAI ANN indexes on vector columns are experimental and are not recommended for "+
			"production use.\nThey don't yet support SELECT queries with:\n * Consistency level higher than ONE/LOCAL_ONE.\n"+
			" * Paging.\n * No LIMIT clauses.\n * PER PARTITION LIMIT clauses.\n * GROUP BY clauses.\n"+
			" * Aggregation functions.\n * Filters on columns without a SAI index.")
	}
	return warnings
}

// warnings are what clients are told of the class, even if the index is there already.
func (d *CreateIndex) warnings() []string {
	if !schema.IsSASI(d.Class) {
		return nil
	}
	return []string{"SASI indexes are experimental and are not recommended for production use."}
}

// DropIndex removes an index.
type DropIndex struct {
	Keyspace, Name string
	IfExists       bool
}

// dropIndex plans DROP INDEX.
func (p *planning) dropIndex(s *cql.DropIndex) (*DropIndex, error) {
	keyspace, err := p.keyspaceName(s.Index)
	if err != nil {
		return nil, err
	}
	return &DropIndex{Keyspace: keyspace, Name: s.Index.Name, IfExists: s.IfExists}, nil
}

// Apply removes the index. Whose table it is of is not known before it is found, so a missing one is that in any keyspace
// that could have one.
func (d *DropIndex) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	var t *schema.Table
	if k := c.Keyspace(d.Keyspace); k != nil {
		t = k.IndexedTable(d.Name)
	}
	if t == nil {
		if d.IfExists {
			return c, Outcome{}, nil
		}
		return nil, Outcome{}, cqlerr.Invalidf("Index '%s.%s' doesn't exist'", d.Keyspace, d.Name)
	}
	out := told(schema.Updated, schema.TargetTable, d.Keyspace, t.Name)
	return c.WithTable(t.WithoutIndex(d.Name)), out, nil
}
