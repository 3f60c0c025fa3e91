package expr

import (
	"encoding/binary"
	"strings"

	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Aggregate is a function of many rows in a selection: count(*), or one that functions declares.
type Aggregate struct {
	Function *functions.Function // nil: count(*)
	Args     []Expr
	Index    int // in Context.Results
}

// Accumulator gathers an aggregate's rows.
type Accumulator interface {
	// Add takes the row of a context, and returns by how many bytes its memory has grown.
	Add(x *Context) (grown int, err error)
	// Result is the value over all rows added. The context is that of the rows.
	Result(x *Context) (types.Value, error)
}

// Type is the result type of the aggregate.
func (a *Aggregate) Type() types.Type {
	if a.Function == nil {
		return types.BigInt
	}
	return a.Function.Returns
}

// Eval returns the result, once the rows are through.
func (a *Aggregate) Eval(x *Context) (types.Value, error) { return x.Results[a.Index], nil }

// String prints the call, count(*) if it has no function.
func (a *Aggregate) String() string {
	if a.Function == nil {
		return "count(*)"
	}
	args := make([]string, len(a.Args))
	for i, e := range a.Args {
		args[i] = e.String()
	}
	return a.Function.FullName() + "(" + strings.Join(args, ", ") + ")"
}

// Start returns an accumulator without rows.
func (a *Aggregate) Start() Accumulator {
	if a.Function == nil {
		return new(rowCount)
	}
	g := &gathering{args: a.Args, values: make([]types.Value, len(a.Args))}
	if a.Function.User != nil {
		g.user = a.Function.User
		return g
	}
	g.state = a.Function.Init()
	if len(a.Args) > 0 && a.Args[0].Type().FixedLength() == 0 {
		g.sized, _ = g.state.(functions.Sized)
	}
	return g
}

// rowCount is the accumulator of count(*).
type rowCount int64

// Add counts a row.
func (n *rowCount) Add(*Context) (int, error) { *n++; return 0, nil }

// Result is a bigint.
func (n *rowCount) Result(*Context) (types.Value, error) {
	return types.Value{Bytes: binary.BigEndian.AppendUint64(nil, uint64(*n))}, nil
}

// gathering is the accumulator of a declared aggregate.
type gathering struct {
	args   []Expr
	values []types.Value
	user   *functions.User // of a user's aggregate, which begins in the context of its first row; else nil
	state  functions.Aggregate
	sized  functions.Sized // the state, if it grows; else nil
	size   int
}

// Add evaluates the arguments for a row, and returns by how many bytes the state grew.
func (g *gathering) Add(x *Context) (grown int, err error) {
	for i, a := range g.args {
		v, err := a.Eval(x)
		if err != nil {
			return 0, err
		}
		g.values[i] = v
	}
	g.begin(x)
	if g.sized == nil {
		return 0, g.state.Add(g.values)
	}
	if x.Step != nil {
		if err := x.Step(); err != nil {
			return 0, err
		}
	}
	if err := g.state.Add(g.values); err != nil {
		return 0, err
	}
	grown = g.sized.Size() - g.size
	g.size += grown
	return grown, nil
}

// begin starts the aggregate of a user.
func (g *gathering) begin(x *Context) {
	if g.state == nil {
		g.state = g.user.Start(x.Env)
		g.sized, _ = g.state.(functions.Sized)
	}
}

// Result is that of the function.
func (g *gathering) Result(x *Context) (types.Value, error) {
	g.begin(x)
	return g.state.Result()
}
