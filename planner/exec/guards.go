package exec

import (
	"math"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/where"
)

// The guardrails of reads and writes are checked at the same points as in Cassandra: clients see the order of warnings,
// and which error comes first.

// Validate applies the guardrails that Cassandra checks when a statement is prepared, and again when it runs. It need
// not be called for statements that are not prepared.
func (e *Executor) Validate(p planner.Plan, g *guardrail.Check) error {
	if g == nil {
		return nil
	}
	switch p := p.(type) {
	case *planner.Select:
		return guardFiltering(g, p)
	case *planner.Modification:
		return guardTimestamps(g, p)
	case *planner.Batch:
		return guardTimestamps(g, p.Statements...)
	case *define.Truncate:
		return g.DropTable()
	case define.Validated:
		return p.Validate(e.store.Catalog(), g)
	}
	return nil
}

// guardFiltering guards ALLOW FILTERING.
func guardFiltering(g *guardrail.Check, p *planner.Select) error {
	if !p.AllowFiltering || schema.IsSystem(p.Table.Keyspace) {
		return nil
	}
	return g.AllowFiltering()
}

// guardTimestamps guards USING TIMESTAMP.
func guardTimestamps(g *guardrail.Check, statements ...*planner.Modification) error {
	for _, m := range statements {
		if m.Timestamp != nil {
			if err := g.UserTimestamp(); err != nil {
				return err
			}
		}
	}
	return nil
}

// The columns of products of IN, as messages name them.
const (
	partitionKey  = "partition key"
	clusteringKey = "clustering key"
)

// namesByIn reports whether one of some choices is an IN.
func namesByIn(choices []*where.Choice) bool {
	return slices.ContainsFunc(choices, func(c *where.Choice) bool { return c.In })
}

// guardProduct guards the number of combinations of IN on some columns. Like Cassandra, it checks the product after
// each of the columns.
func guardProduct(g *guardrail.Check, x *expr.Context, choices []*where.Choice, columns string) error {
	if !g.CountsProducts() || !namesByIn(choices) {
		return nil
	}
	n := 1
	for _, c := range choices {
		size := len(c.Points)
		if c.List != nil {
			l, err := restriction.NewListing(x, c)
			if err != nil {
				return err
			}
			size = l.Len()
		}
		if n *= size; n > math.MaxInt32 {
			n = math.MaxInt32
		}
		if err := g.Product(columns, n); err != nil {
			return err
		}
	}
	return nil
}

// guardWrite makes the checks that do not depend on values: the timestamps that the statements give, and the
// consistency levels of the write.
func guardWrite(o *Options, statements ...*planner.Modification) error {
	g := o.Guard
	if !g.Writes() {
		return nil
	}
	if err := guardTimestamps(g, statements...); err != nil {
		return err
	}
	return g.WriteLevels(o.Consistency, o.SerialConsistency)
}

// guardTimestamp guards the time of USING TIMESTAMP.
func (w *writing) guardTimestamp(m *planner.Modification, values []types.Value) error {
	g := w.options.Guard
	if !g.Writes() || m.Timestamp == nil || m.Table.Virtual {
		return nil
	}
	w.x.Values = values
	ts, err := w.timestampOf(m.Timestamp)
	if err != nil {
		return err
	}
	return g.Timestamp(m.Table.Name, ts, w.began.UnixMicro())
}

// guardRows guards the number of combinations of IN that a write names partitions and rows by.
func (w *writing) guardRows(m *planner.Modification) error {
	g := w.options.Guard
	if g == nil || w.stored != nil {
		return nil
	}
	if err := guardProduct(g, &w.x, m.Where.Partition, partitionKey); err != nil || !m.Where.NamesRow(m.Table) {
		return err
	}
	return guardProduct(g, &w.x, m.Where.Clustering, clusteringKey)
}

// guardCell guards a value that is one cell.
func (w *writing) guardCell(c *schema.Column, value []byte) error {
	if w.guard == nil || value == nil {
		return nil
	}
	collection := isCollection(c.Type)
	if collection {
		if err := w.guard.Items(c.Name, types.DecodeCount(value)); err != nil {
			return err
		}
	}
	if err := w.guard.Value(c.Name, len(value)); err != nil || !collection {
		return err
	}
	return w.guard.Collection(c.Name, cellOverhead+len(value))
}

// isCollection reports whether a type is a list, a set or a map.
func isCollection(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map:
		return true
	}
	return false
}

// guardElement guards one element of a collection, or field of a user type, that is written or deleted.
func (w *writing) guardElement(c *schema.Column, name, value []byte) error {
	if w.guard == nil {
		return nil
	}
	if value != nil {
		if err := w.guard.Value(c.Name, len(value)); err != nil {
			return err
		}
	}
	return w.guard.Value(c.Name, len(name))
}

// guardItems guards the number of elements that are written to a collection.
func (w *writing) guardItems(c *schema.Column, value []byte) error {
	if w.guard == nil || !isCollection(c.Type) {
		return nil
	}
	return w.guard.Items(c.Name, types.DecodeCount(value))
}

// guardCollection guards the bytes of the elements that are written to a collection.
func (w *writing) guardCollection(c *schema.Column, value []byte) error {
	if w.guard == nil || !isCollection(c.Type) {
		return nil
	}
	size := 0
	if _, isMap := c.Type.(*types.Map); isMap {
		for k, v := range types.Entries(value) {
			size += cellOverhead + len(k) + len(v)
		}
	} else {
		_, isList := c.Type.(*types.List)
		for e := range types.Elements(value) {
			if size += cellOverhead + len(e); isList {
				size += placeSize
			}
		}
	}
	return w.guard.Collection(c.Name, size)
}

// guardList guards the operations on lists that Cassandra reads them for.
func (w *writing) guardList(s *planner.SetColumn) error {
	if _, isList := s.Column.Type.(*types.List); w.guard == nil || !isList {
		return nil
	}
	switch {
	case s.Change == planner.Remove:
		return w.guard.ListByIndex("Removal of list items requiring read before write")
	case s.Change != planner.SetPart:
		return nil
	case w.target.plan.Verb == planner.Delete:
		return w.guard.ListByIndex("Removal of list items by index requiring read before write")
	}
	return w.guard.ListByIndex("Setting of list items by index requiring read before write")
}

// guardIndexed notes a value that a storage-attached index gets, to be guarded when all statements are evaluated.
// Deleted cells have no value.
func (w *writing) guardIndexed(x *schema.Index, c *schema.Column, name, value []byte) {
	if w.options.Guard == nil || value == nil {
		return
	}
	kind := guardrail.StringTerm
	switch c.Type.(type) {
	case *types.Vector:
		kind = guardrail.VectorTerm
	case *types.List, *types.Set, *types.Map, *types.UserType:
		if !types.IsMultiCell(c.Type) {
			kind = guardrail.FrozenTerm
		}
	}
	if n := indexedSize(c, x.Part(), name, value); n > 0 {
		w.terms = append(w.terms, term{kind, c.Name, n})
	}
}

// guardClustering notes the clustering values of a row, also of a deleted one, that storage-attached indexes get.
func (w *writing) guardClustering(t *schema.Table, row [][]byte) {
	if w.options.Guard == nil {
		return
	}
	for _, x := range t.Indexes {
		c := t.Column(x.Column())
		if x.Kind() == schema.SAI && c.Kind == schema.Clustering && c.Position < len(row) {
			w.guardIndexed(x, c, nil, row[c.Position])
		}
	}
}

// term is a value that a storage-attached index gets.
type term struct {
	kind   guardrail.IndexedTerm
	column string
	size   int
}

// guardTerms guards the values that storage-attached indexes get.
func (w *writing) guardTerms() error {
	for _, t := range w.terms {
		if err := w.options.Guard.Indexed(t.kind, t.column, t.size); err != nil {
			return err
		}
	}
	return nil
}
