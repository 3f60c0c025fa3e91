package define

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// Work has the results of what a client can make long in a definition: the body of a function is compiled, and INITCOND
// and the WHERE clause of a view may call functions. It is done without the lock of the schema, because other
// definitions would wait for it: Apply returns a Pending where it comes to such work, and is called again when the work
// is done. Checks and permissions come first, so that nobody has work done who may not define.
type Work struct {
	function *schema.Function   // whose body was compiled
	values   map[string]outcome // by the type and the text of the expression

	Returned int64 // bytes of Env.Hold for what users' functions returned
}

// outcome is the value or the error of an expression.
type outcome struct {
	value types.Value
	err   error
}

// Pending is the error of Apply for work that is to be done first.
type Pending struct{ do func() }

// Error says that something is left to do.
func (*Pending) Error() string { return "the definition has work to do before it is applied" }

// Do does the work.
func (p *Pending) Do() { p.do() }

// compile compiles the body of a function. It is compiled again if its types have changed since then.
func (w *Work) compile(f *schema.Function) error {
	if w != nil {
		if w.function == nil || !sameBody(w.function, f) {
			return &Pending{func() {
				_, _ = f.Compiled() // the error is kept
				w.function = f
			}}
		}
		f.ShareBody(w.function)
	}
	if _, err := f.Compiled(); err != nil {
		return cqlerr.Invalidf("%s", err.Error())
	}
	return nil
}

// sameBody reports whether two functions of one statement have the same types, with the same fields of user types.
func sameBody(a, b *schema.Function) bool {
	return types.Equal(a.Returns, b.Returns) && slices.EqualFunc(a.Args, b.Args, types.Equal)
}

// returned counts the result of a user's function.
func (w *Work) returned(env *expr.Env, n int64) error {
	if w.Returned+n > env.Limits.Memory {
		return cqlerr.Invalidf("What functions return to one definition may have up to %d bytes in cqld, and this has more",
			env.Limits.Memory)
	}
	if n == 0 {
		return nil
	}
	err := env.Hold(n)
	if err == nil {
		w.Returned += n
	}
	return err
}

// evaluate computes an expression.
func (w *Work) evaluate(e expr.Expr, env *expr.Env) (types.Value, error) {
	x := &expr.Context{Env: env}
	if env != nil {
		x.Step = env.Step
	}
	if w != nil && env != nil && env.Hold != nil {
		x.Return = func(n int) error { return w.returned(env, int64(n)) }
	}
	if w == nil || !expr.Costly(e) {
		return e.Eval(x)
	}
	key := e.Type().String() + " " + e.String()
	o, found := w.values[key]
	if !found {
		return types.Value{}, &Pending{func() {
			o.value, o.err = e.Eval(x)
			if w.values == nil {
				w.values = make(map[string]outcome)
			}
			w.values[key] = o
		}}
	}
	return o.value, o.err
}
