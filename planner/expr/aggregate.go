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
	// Add takes the row of a context.
	Add(x *Context) error
	// Result is the value over all rows added.
	Result() (types.Value, error)
}

// Type is what the aggregate returns.
func (a *Aggregate) Type() types.Type {
	if a.Function == nil {
		return types.BigInt
	}
	return a.Function.Returns
}

// Eval returns the result, once the rows are through.
func (a *Aggregate) Eval(x *Context) (types.Value, error) { return x.Results[a.Index], nil }

func (a *Aggregate) String() string {
	if a.Function == nil {
		return "count(*)"
	}
	args := make([]string, len(a.Args))
	for i, e := range a.Args {
		args[i] = e.String()
	}
	return "system." + a.Function.Name + "(" + strings.Join(args, ", ") + ")"
}

// Start returns an accumulator without rows.
func (a *Aggregate) Start() Accumulator {
	if a.Function == nil {
		return new(rowCount)
	}
	return &gathering{args: a.Args, values: make([]types.Value, len(a.Args)), state: a.Function.Init()}
}

// rowCount is the accumulator of count(*).
type rowCount int64

func (n *rowCount) Add(*Context) error { *n++; return nil }

func (n *rowCount) Result() (types.Value, error) {
	return types.Value{Bytes: binary.BigEndian.AppendUint64(nil, uint64(*n))}, nil
}

// gathering is the accumulator of a declared aggregate.
type gathering struct {
	args   []Expr
	values []types.Value
	state  functions.Aggregate
}

func (g *gathering) Add(x *Context) error {
	for i, a := range g.args {
		v, err := a.Eval(x)
		if err != nil {
			return err
		}
		g.values[i] = v
	}
	return g.state.Add(g.values)
}

func (g *gathering) Result() (types.Value, error) { return g.state.Result() }
