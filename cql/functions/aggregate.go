package functions

import (
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// aggregateFunctions are the aggregates with fixed types.
var aggregateFunctions = func() []Function {
	rows := Function{
		Name: "count_rows", Returns: types.BigInt,
		Doc:    "The number of rows.",
		Init:   func() Aggregate { return &count{} },
		Column: func([]string) string { return "count" },
	}
	fs := []Function{rows, rows}
	fs[1].Name = "countRows" // which has to be quoted
	for _, name := range []string{"sum", "avg"} {
		for _, t := range numbers {
			fs = append(fs, Function{
				Name: name, Args: []types.Type{t.of}, Returns: t.of,
				Doc:  map[string]string{"sum": "The sum of a column.", "avg": "The mean of a column."}[name],
				Init: map[string]func() Aggregate{"sum": t.sum, "avg": t.avg}[name],
			})
		}
	}
	return slices.Clip(fs)
}()

// aggregateFamilies take values of any type.
var aggregateFamilies = map[string]*family{
	"min": unary(parameter{text: "any", receiver: true},
		func(_ string, t types.Type) *Function { return extreme("min", -1)(t) }),
	"max": unary(parameter{text: "any", receiver: true},
		func(_ string, t types.Type) *Function { return extreme("max", 1)(t) }),
}

// resolveCount makes count for its argument's type, which need not be known.
func resolveCount(args []Arg) (*Function, error) {
	switch {
	case len(args) != 1:
		return nil, wrongCount("system.count", 1, len(args))
	case args[0].Type == nil || args[0].Composed:
		f := countOf(types.Blob)
		return f, CheckArgs(f, args)
	}
	return countOf(args[0].Type), nil
}

// countOf is count for values of one type.
func countOf(t types.Type) *Function {
	return &Function{
		Name: "count", Args: []types.Type{t}, Returns: types.BigInt,
		Doc:  "The number of values that are not null.",
		Init: func() Aggregate { return &count{} },
	}
}

// count counts rows, or values that are not null.
type count struct{ n int64 }

// Add counts a row without arguments, and else an argument that is not null.
func (c *count) Add(args []types.Value) error {
	if len(args) == 0 || args[0].Bytes != nil {
		c.n++
	}
	return nil
}

// Result is a bigint, 0 for no rows.
func (c *count) Result() (types.Value, error) {
	return types.Value{Bytes: types.EncodeBigInt(c.n)}, nil
}

// extreme makes min or max: the value that compares as sign with all others.
func extreme(name string, sign int) func(types.Type) *Function {
	return func(t types.Type) *Function {
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: AsReturned(t),
			Doc:  map[int]string{-1: "The least value.", 1: "The greatest value."}[sign],
			Init: func() Aggregate { return &best{t: t, sign: sign} },
		}
	}
}

// best keeps the first of the values that come before (or after) all others.
type best struct {
	t    types.Type
	sign int
	b    []byte
}

// Add keeps a copy of a better value. Of equal ones the first stays.
func (m *best) Add(args []types.Value) error {
	b := args[0].Bytes
	if b != nil && (m.b == nil || m.t.Compare(b, m.b)*m.sign > 0) {
		m.b = append(make([]byte, 0, len(b)), b...)
	}
	return nil
}

// Size is the size of the kept value.
func (m *best) Size() int { return cap(m.b) }

// Result is null if there was no value.
func (m *best) Result() (types.Value, error) { return types.Value{Bytes: m.b}, nil }
