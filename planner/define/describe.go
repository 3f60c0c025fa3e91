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

// Describe shows schema objects. The result depends on the schema and the keyspace in use when it runs; the keyspace
// of a request or of PREPARE does not matter.
type Describe struct {
	Kind      cql.DescribeKind
	Keyspace  string // as named; In fills in the keyspace in use
	Name      string // of an object in a keyspace; for DescribeAny, of any object
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

// In returns the description with an unqualified name resolved in a keyspace, which may be "".
func (d *Describe) In(keyspace string) *Describe {
	if d.Qualified {
		return d
	}
	n := *d
	n.Keyspace = keyspace
	return &n
}

// Columns returns the columns of the answer.
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

// IsCluster reports whether the statement describes the node instead of the schema.
func (d *Describe) IsCluster() bool { return d.Kind == cql.DescribeCluster }

// ShowsRing reports whether DESCRIBE CLUSTER shows token ownership, which needs a user's keyspace in use.
func (d *Describe) ShowsRing() bool {
	return d.Kind == cql.DescribeCluster && d.Keyspace != "" && !schema.IsSystem(d.Keyspace)
}

// Rows returns the rows of the answer, except for DESCRIBE CLUSTER, which the schema does not have.
func (d *Describe) Rows(c *schema.Catalog) (rows [][][]byte, err error) {
	switch d.Kind {
	case cql.DescribeKeyspaces:
		for _, k := range sortedKeyspaces(c) {
			name := quote.Name(k.Name)
			rows = append(rows, textRow(name, "keyspace", name))
		}
		return rows, nil
	case cql.DescribeTables, cql.DescribeTypes, cql.DescribeFunctions, cql.DescribeAggregates:
		return d.list(c)
	case cql.DescribeSchema:
		for _, k := range sortedKeyspaces(c) {
			if d.Full || !schema.IsSystem(k.Name) {
				rows = append(rows, d.keyspaceRows(k)...)
			}
		}
		return rows, nil
	case cql.DescribeAny:
		return d.anything(c)
	}
	if d.Keyspace == "" {
		return nil, cqlerr.Invalidf("No keyspace specified and no current keyspace")
	}
	k, err := foundKeyspace(c, d.Keyspace)
	if err != nil {
		return nil, err
	}
	if rows = d.object(k); rows == nil {
		return nil, cqlerr.Invalidf(missingObjects[d.Kind], d.Name, k.Name)
	}
	return rows, nil
}

// missingObjects are the error texts for objects that do not exist.
var missingObjects = map[cql.DescribeKind]string{
	cql.DescribeTable:     "Table '%s' not found in keyspace '%s'",
	cql.DescribeIndex:     "Table for existing index '%s' not found in '%s'",
	cql.DescribeView:      "Materialized view '%s' not found in '%s'",
	cql.DescribeType:      "User defined type '%s' not found in '%s'",
	cql.DescribeFunction:  "User defined function '%s' not found in '%s'",
	cql.DescribeAggregate: "User defined aggregate '%s' not found in '%s'",
}

// list returns the rows of a list: the objects of the keyspace in use, or of all keyspaces.
func (d *Describe) list(c *schema.Catalog) (rows [][][]byte, err error) {
	if d.Keyspace != "" {
		k, err := foundKeyspace(c, d.Keyspace)
		if err != nil {
			return nil, err
		}
		return d.names(k), nil
	}
	for _, k := range sortedKeyspaces(c) {
		rows = append(rows, d.names(k)...)
	}
	return rows, nil
}

// names lists the objects of a keyspace by name, ignoring case.
func (d *Describe) names(k *schema.Keyspace) (rows [][][]byte) {
	switch d.Kind {
	case cql.DescribeTables:
		for _, t := range sortedTables(k) {
			rows = append(rows, textRow(quote.Name(k.Name), "table", quote.Name(t.Name)))
		}
	case cql.DescribeTypes:
		all := k.SortedTypes()
		slices.SortStableFunc(all, func(a, b *types.UserType) int { return compareFolded(a.Name, b.Name) })
		for _, t := range all {
			rows = append(rows, typeRow(t)[:3])
		}
	case cql.DescribeFunctions, cql.DescribeAggregates:
		for _, row := range d.routineRows(k.Routines()) {
			rows = append(rows, row[:3])
		}
	}
	return rows
}

// object returns the rows of an object, nil if it does not exist. A function has a row for each of its overloads.
func (d *Describe) object(k *schema.Keyspace) (rows [][][]byte) {
	switch d.Kind {
	case cql.DescribeKeyspace:
		return d.keyspaceRows(k)
	case cql.DescribeTable:
		if t := k.Tables[d.Name]; t != nil {
			return d.tableRows(k, t)
		}
	case cql.DescribeIndex:
		if t := k.IndexedTable(d.Name); t != nil {
			return [][][]byte{indexRow(t, t.Index(d.Name))}
		}
	case cql.DescribeView:
		if v := k.Views[d.Name]; v != nil {
			return [][][]byte{d.viewRow(v)}
		}
	case cql.DescribeType:
		if t := k.Types[d.Name]; t != nil {
			return [][][]byte{typeRow(t)}
		}
	case cql.DescribeFunction, cql.DescribeAggregate:
		return d.routineRows(k.RoutinesNamed(d.Name))
	}
	return rows
}

// keyspaceRows returns a keyspace and, without ONLY, its types, functions, aggregates and tables.
func (d *Describe) keyspaceRows(k *schema.Keyspace) [][][]byte {
	name := quote.Name(k.Name)
	rows := [][][]byte{textRow(name, "keyspace", name, k.CQL())}
	if d.Only {
		return rows
	}
	for _, t := range k.TypesByUse() {
		rows = append(rows, typeRow(t))
	}
	rows = append(rows, d.routineRows(k.Routines())...)
	for _, t := range sortedTables(k) {
		rows = append(rows, d.tableRows(k, t)...)
	}
	return rows
}

// tableRows returns a table, its indexes by name, ignoring case, and its views.
func (d *Describe) tableRows(k *schema.Keyspace, t *schema.Table) [][][]byte {
	rows := [][][]byte{textRow(quote.Name(t.Keyspace), "table", quote.Name(t.Name), t.CQL(d.Internals))}
	all := slices.Clone(t.Indexes)
	slices.SortStableFunc(all, func(a, b *schema.Index) int { return compareFolded(a.Name, b.Name) })
	for _, x := range all {
		rows = append(rows, indexRow(t, x))
	}
	for _, v := range k.ViewsOf(t) {
		rows = append(rows, d.viewRow(v))
	}
	return rows
}

func indexRow(t *schema.Table, x *schema.Index) [][]byte {
	return textRow(quote.Name(t.Keyspace), "index", quote.Name(x.Name), x.CQL(t))
}

func (d *Describe) viewRow(v *schema.Table) [][]byte {
	return textRow(quote.Name(v.Keyspace), "materialized_view", quote.Name(v.Name), v.CQL(d.Internals))
}

func typeRow(t *types.UserType) [][]byte {
	return textRow(quote.Name(t.Keyspace), "type", quote.Name(t.Name), schema.TypeCQL(t))
}

// routineRows returns functions, then aggregates, by name and arguments, ignoring case, or only the kind that
// the statement is about.
func (d *Describe) routineRows(all []schema.Routine) (rows [][][]byte) {
	slices.SortStableFunc(all, func(a, b schema.Routine) int {
		return compareFolded(a.Base().Signature(), b.Base().Signature())
	})
	targets := []schema.Target{schema.TargetFunction, schema.TargetAggregate}
	switch d.Kind {
	case cql.DescribeFunction, cql.DescribeFunctions:
		targets = targets[:1]
	case cql.DescribeAggregate, cql.DescribeAggregates:
		targets = targets[1:]
	}
	for _, target := range targets {
		for _, r := range all {
			if r.Target() == target {
				kind := strings.ToLower(string(target))
				rows = append(rows, textRow(quote.Name(r.Base().Keyspace), kind, r.Base().QuotedSignature(), r.CQL()))
			}
		}
	}
	return rows
}

// anything finds a keyspace, table, index or view, in this order.
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
	if t := k.IndexedTable(d.Name); t != nil {
		return [][][]byte{indexRow(t, t.Index(d.Name))}, nil
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

// notFound is the error for a missing keyspace.
func notFound(name string) error { return cqlerr.Invalidf("'%s' not found in keyspaces", name) }

func textRow(values ...string) [][]byte {
	row := make([][]byte, len(values))
	for i, v := range values {
		row[i] = []byte(v)
	}
	return row
}

// sortedKeyspaces returns all keyspaces by name, ignoring case.
func sortedKeyspaces(c *schema.Catalog) []*schema.Keyspace {
	all := c.Keyspaces()
	slices.SortStableFunc(all, func(a, b *schema.Keyspace) int { return compareFolded(a.Name, b.Name) })
	return all
}

// sortedTables returns the tables by name, ignoring case; the older of equal names comes first.
func sortedTables(k *schema.Keyspace) []*schema.Table {
	all := k.TablesByAge()
	slices.SortStableFunc(all, func(a, b *schema.Table) int { return compareFolded(a.Name, b.Name) })
	return all
}

func compareFolded(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
