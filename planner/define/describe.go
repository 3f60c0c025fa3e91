package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Describe shows schema objects. What it finds depends on the schema when it runs, and on the keyspace that is in use
// then: neither a request's keyspace nor that of PREPARE counts.
type Describe struct {
	Kind      cql.DescribeKind
	Keyspace  string // named; In fills in the one in use
	Name      string // of what is in a keyspace or, for DescribeAny, anything
	Qualified bool   // the keyspace was named
	Full      bool
	Only      bool
	Internals bool
}

// describe plans DESCRIBE.
func (p *planning) describe(s *cql.Describe) (Plan, error) {
	p.scope.Qualified = false
	d := &Describe{
		Kind: s.Kind, Keyspace: s.Name.Keyspace, Name: s.Name.Name, Qualified: s.Name.Keyspace != "",
		Full: s.Full, Only: s.Only, Internals: s.Internals,
	}
	if s.Kind == cql.DescribeKeyspace && d.Name != "" {
		d.Keyspace, d.Qualified = d.Name, true
		d.Name = ""
	}
	return d, nil
}

// In is what is asked where a keyspace is in use, or none if it is "".
func (d *Describe) In(keyspace string) *Describe {
	if d.Qualified {
		return d
	}
	n := *d
	n.Keyspace = keyspace
	return &n
}

// Columns are the columns of the answer.
func (d *Describe) Columns() []*schema.Column {
	names := []string{"keyspace_name", "type", "name", "create_statement"}
	switch d.Kind {
	case cql.DescribeKeyspaces, cql.DescribeTables, cql.DescribeTypes, cql.DescribeFunctions, cql.DescribeAggregates:
		names = names[:3]
	case cql.DescribeCluster:
		names = []string{"cluster", "partitioner", "snitch"}
	}
	var cols []*schema.Column
	for _, n := range names {
		cols = append(cols, &schema.Column{Name: n, Type: types.Text})
	}
	if d.ShowsRing() {
		ring := &types.Map{Key: types.Text, Value: &types.List{Elem: types.Text, Frozen: true}}
		cols = append(cols, &schema.Column{Name: "range_ownership", Type: ring})
	}
	return cols
}

// IsCluster reports whether the node is asked for, and not the schema.
func (d *Describe) IsCluster() bool { return d.Kind == cql.DescribeCluster }

// ShowsRing reports whether DESCRIBE CLUSTER tells who owns which tokens: only in a user's keyspace.
func (d *Describe) ShowsRing() bool {
	return d.Kind == cql.DescribeCluster && d.Keyspace != "" && !schema.IsSystem(d.Keyspace)
}

// Rows are the rows of the answer, but for those of DESCRIBE CLUSTER, which the schema does not have.
func (d *Describe) Rows(c *schema.Catalog) ([][][]byte, error) {
	switch d.Kind {
	case cql.DescribeKeyspaces:
		return describeKeyspaces(c), nil
	case cql.DescribeTables:
		return d.list(c, tableNames)
	case cql.DescribeTypes:
		return d.list(c, typeNames)
	case cql.DescribeFunctions:
		return d.list(c, functionNames)
	case cql.DescribeAggregates:
		return d.list(c, aggregateNames)
	case cql.DescribeSchema:
		return d.wholeSchema(c), nil
	case cql.DescribeKeyspace:
		return d.keyspace(c)
	case cql.DescribeTable:
		return d.table(c)
	case cql.DescribeIndex:
		return d.index(c)
	case cql.DescribeView:
		return d.view(c)
	case cql.DescribeType:
		return d.userType(c)
	case cql.DescribeFunction:
		return d.function(c)
	case cql.DescribeAggregate:
		return d.aggregate(c)
	}
	return d.anything(c)
}

func describeKeyspaces(c *schema.Catalog) (rows [][][]byte) {
	for _, k := range sortedKeyspaces(c) {
		name := quote.Name(k.Name)
		rows = append(rows, textRow(name, "keyspace", name))
	}
	return rows
}

// list makes the rows of DESCRIBE TABLES and of other lists: those of the keyspace in use, else of all keyspaces.
func (d *Describe) list(c *schema.Catalog, rowsOf func(*schema.Keyspace) [][][]byte) (rows [][][]byte, err error) {
	if d.Keyspace != "" {
		k, err := foundKeyspace(c, d.Keyspace)
		if err != nil {
			return nil, err
		}
		return rowsOf(k), nil
	}
	for _, k := range sortedKeyspaces(c) {
		rows = append(rows, rowsOf(k)...)
	}
	return rows, nil
}

// tableNames lists the tables of a keyspace.
func tableNames(k *schema.Keyspace) (rows [][][]byte) {
	for _, t := range sortedTables(k) {
		rows = append(rows, textRow(quote.Name(k.Name), "table", quote.Name(t.Name)))
	}
	return rows
}

// wholeSchema is every keyspace, the server's own only with FULL.
func (d *Describe) wholeSchema(c *schema.Catalog) (rows [][][]byte) {
	for _, k := range sortedKeyspaces(c) {
		if d.Full || !schema.IsSystem(k.Name) {
			rows = append(rows, d.keyspaceRows(k)...)
		}
	}
	return rows
}

func (d *Describe) keyspace(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	return d.keyspaceRows(k), nil
}

// within is the keyspace that was named or is in use.
func (d *Describe) within(c *schema.Catalog) (*schema.Keyspace, error) {
	if d.Keyspace == "" {
		return nil, cqlerr.Invalidf("No keyspace specified and no current keyspace")
	}
	return foundKeyspace(c, d.Keyspace)
}

// keyspaceRows is a keyspace followed by its types, functions, aggregates and tables, unless ONLY it is wanted.
func (d *Describe) keyspaceRows(k *schema.Keyspace) [][][]byte {
	name := quote.Name(k.Name)
	rows := [][][]byte{textRow(name, "keyspace", name, k.CQL())}
	if d.Only {
		return rows
	}
	for _, t := range k.TypesByUse() {
		rows = append(rows, typeRow(t))
	}
	for _, f := range sortedFunctions(k.Functions) {
		rows = append(rows, functionRow(f))
	}
	for _, a := range sortedFunctions(k.Aggregates) {
		rows = append(rows, aggregateRow(a))
	}
	for _, t := range sortedTables(k) {
		rows = append(rows, d.tableRows(k, t)...)
	}
	return rows
}

func (d *Describe) table(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	t := k.Tables[d.Name]
	if t == nil {
		return nil, cqlerr.Invalidf("Table '%s' not found in keyspace '%s'", d.Name, d.Keyspace)
	}
	return d.tableRows(k, t), nil
}

func (d *Describe) tableRow(t *schema.Table) [][]byte {
	return textRow(quote.Name(t.Keyspace), "table", quote.Name(t.Name), t.CQL(d.Internals))
}

// anything is a keyspace of the name, else a table, else an index, else a view.
func (d *Describe) anything(c *schema.Catalog) ([][][]byte, error) {
	if !d.Qualified {
		if k := c.Keyspace(d.Name); k != nil {
			return d.keyspaceRows(k), nil
		}
	}
	if d.Keyspace == "" {
		return nil, notFound(d.Name)
	}
	k, err := foundKeyspace(c, d.Keyspace)
	if err != nil {
		return nil, err
	}
	if t := k.Tables[d.Name]; t != nil {
		return d.tableRows(k, t), nil
	}
	if k.IndexedTable(d.Name) != nil {
		return d.index(c)
	}
	if v := k.Views[d.Name]; v != nil {
		return [][][]byte{d.viewRow(v)}, nil
	}
	return nil, cqlerr.Invalidf("'%s' not found in keyspace '%s'", d.Name, d.Keyspace)
}

// foundKeyspace returns a keyspace.
func foundKeyspace(c *schema.Catalog, name string) (*schema.Keyspace, error) {
	if k := c.Keyspace(name); k != nil {
		return k, nil
	}
	return nil, notFound(name)
}

// notFound refuses to describe what is no keyspace, where a name may be one's.
func notFound(name string) error { return cqlerr.Invalidf("'%s' not found in keyspaces", name) }

func textRow(values ...string) [][]byte {
	row := make([][]byte, len(values))
	for i, v := range values {
		row[i] = []byte(v)
	}
	return row
}

// sortedKeyspaces are all keyspaces by name, whatever their case.
func sortedKeyspaces(c *schema.Catalog) []*schema.Keyspace {
	all := c.Keyspaces()
	slices.SortStableFunc(all, func(a, b *schema.Keyspace) int { return compareFolded(a.Name, b.Name) })
	return all
}

// sortedTables are the tables by name, whatever its case: of names that differ in nothing else the older comes first.
func sortedTables(k *schema.Keyspace) []*schema.Table {
	all := k.TablesByAge()
	slices.SortStableFunc(all, func(a, b *schema.Table) int { return compareFolded(a.Name, b.Name) })
	return all
}

func compareFolded(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
