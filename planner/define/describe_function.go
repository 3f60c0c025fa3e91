package define

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
)

// functionNames lists the functions of a keyspace with their arguments.
func functionNames(k *schema.Keyspace) (rows [][][]byte) {
	for _, f := range sortedFunctions(k.Functions) {
		rows = append(rows, functionRow(f)[:3])
	}
	return rows
}

// aggregateNames lists the aggregates of a keyspace with their arguments.
func aggregateNames(k *schema.Keyspace) (rows [][][]byte) {
	for _, a := range sortedFunctions(k.Aggregates) {
		rows = append(rows, aggregateRow(a)[:3])
	}
	return rows
}

// function is all functions of a name.
func (d *Describe) function(c *schema.Catalog) (rows [][][]byte, err error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	for _, f := range sortedFunctions(k.FunctionsNamed(d.Name)) {
		rows = append(rows, functionRow(f))
	}
	if rows == nil {
		return nil, cqlerr.Invalidf("User defined function '%s' not found in '%s'", d.Name, d.Keyspace)
	}
	return rows, nil
}

// aggregate is all aggregates of a name.
func (d *Describe) aggregate(c *schema.Catalog) (rows [][][]byte, err error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	for _, a := range sortedFunctions(k.AggregatesNamed(d.Name)) {
		rows = append(rows, aggregateRow(a))
	}
	if rows == nil {
		return nil, cqlerr.Invalidf("User defined aggregate '%s' not found in '%s'", d.Name, d.Keyspace)
	}
	return rows, nil
}

func functionRow(f *schema.Function) [][]byte {
	return textRow(quote.Name(f.Keyspace), "function", f.QuotedSignature(), f.CQL())
}

func aggregateRow(a *schema.Aggregate) [][]byte {
	return textRow(quote.Name(a.Keyspace), "aggregate", a.QuotedSignature(), a.CQL())
}

// sortedFunctions are functions or aggregates by name and arguments, whatever their case.
func sortedFunctions[F interface{ Signature() string }](all []F) []F {
	byName := func(a, b F) int { return compareFolded(a.Signature(), b.Signature()) }
	return slices.SortedStableFunc(slices.Values(all), byName)
}
