package scope

import (
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/java"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// errTimeout ends a call that takes longer than functions.Limits.Fail.
var errTimeout = errors.New("timeout of a function")

// routine runs a user's function.
type routine struct {
	keyspace *schema.Keyspace // with the types that the body may name
	function *schema.Function
}

func newRoutine(k *schema.Keyspace, f *schema.Function) *routine { return &routine{k, f} }

// String is the signature as error texts show it.
func (r *routine) String() string {
	f := r.function
	return (&functions.Function{
		Name: f.Name, Args: f.Args, Returns: f.Returns,
		User: &functions.User{Keyspace: f.Keyspace, Quoted: quote.Name(f.Keyspace) + "." + quote.Name(f.Name)},
	}).String()
}

// body is the compiled body. An earlier version may have stored a function whose body does not compile.
func (r *routine) body() (*java.Function, error) {
	body, err := r.function.Compiled()
	if err != nil {
		return nil, cqlerr.Invalidf("Function '%s' exists but hasn't been loaded successfully for the following reason: %s. "+
			"Please see the server log for details", r, err)
	}
	return body, nil
}

// call is functions.Function.Call.
func (r *routine) call(c *functions.Call) (types.Value, error) {
	result, err := r.apply(c.Env, bytesOf(nil, c.Args))
	return types.Value{Bytes: result}, err
}

// apply calls the function with values.
func (r *routine) apply(env *functions.Env, args [][]byte) (result []byte, err error) {
	if r.function.Go != nil {
		return r.applyGo(args)
	}
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	err = r.timed(env, func(env *java.Env) (err error) {
		result, err = body.Call(env, args)
		return err
	})
	return result, err
}

// bytesOf appends the bytes of values.
func bytesOf(dst [][]byte, values []types.Value) [][]byte {
	for _, v := range values {
		dst = append(dst, v.Bytes)
	}
	return dst
}

// parseType finds the type that a body names.
func (r *routine) parseType(text string) (types.Type, error) {
	s, _, err := parser.Parse("DROP FUNCTION f (" + text + ")")
	if err != nil {
		return nil, err
	}
	drop, ok := s.(*cql.DropFunction)
	if !ok || drop.Args == nil || len(drop.Args.Types) != 1 {
		return nil, cqlerr.Invalidf("Unable to parse type %s", text)
	}
	return Type(r.keyspace, drop.Args.Types[0])
}

// timed calls run with the limits of a call, warns if it takes long, and gives its error the kind that clients get.
func (r *routine) timed(env *functions.Env, run func(*java.Env) error) error {
	if env == nil {
		env = &functions.Env{}
	}
	limits := &env.Limits
	if err := limits.CheckEnabled(); err != nil {
		return err
	}
	var took time.Duration // without the time that others run
	resumed := time.Now()
	err := run(&java.Env{
		Memory: limits.Memory, Keyspace: r.keyspace.Name, Now: func() time.Time { return env.Now },
		UserType:  func(name string) *types.UserType { return r.keyspace.Types[name] },
		ParseType: r.parseType,
		Step: func() error {
			if took += time.Since(resumed); limits.Fail > 0 && took >= limits.Fail {
				return errTimeout
			}
			if env.Step != nil {
				if err := env.Step(); err != nil {
					return err
				}
			}
			resumed = time.Now()
			return nil
		},
	})
	if took += time.Since(resumed); limits.Warn > 0 && took >= limits.Warn {
		env.Warn(r.tooLong(limits.Warn))
	}
	return r.failed(err, limits)
}

func (r *routine) tooLong(limit time.Duration) string {
	return fmt.Sprintf("User defined function %s ran longer than %dms", r, limit.Milliseconds())
}

// failed is the client's error for an error of a body.
func (r *routine) failed(err error, limits *functions.Limits) error {
	var exception *java.Exception
	switch {
	case errors.As(err, &exception), errors.Is(err, java.ErrMemory):
	case errors.Is(err, errTimeout):
		err = errors.New("org.apache.cassandra.exceptions.FunctionExecutionException: " +
			"java.util.concurrent.TimeoutException: " + r.tooLong(limits.Fail))
	default:
		return err
	}
	return r.failure(err.Error())
}

// failure is the client's error for a call that fails.
func (r *routine) failure(text string) error {
	f := r.function
	args := make([]string, len(f.Args))
	for i, t := range f.Args {
		args[i] = t.String()
	}
	return cqlerr.FunctionFailed(f.Keyspace, f.Name, args, text)
}

// aggregate is the state of a user's aggregate over the rows of a group.
type aggregate struct {
	env     *functions.Env
	state   *routine
	final   *routine // nil if there is none
	initial []byte
	row     [][]byte

	running *java.State // nil: no row was added
}

// startAggregate begins a group.
func startAggregate(k *schema.Keyspace, a *schema.Aggregate, env *functions.Env) functions.Aggregate {
	state := newRoutine(k, k.Function(a.StateFunction, a.StateArgs()))
	var final *routine
	if a.FinalFunction != "" {
		final = newRoutine(k, k.Function(a.FinalFunction, []types.Type{a.StateType}))
	}
	if state.function.Go != nil || final != nil && final.function.Go != nil {
		return &valueAggregate{env: env, state: state, final: final, value: a.Initial}
	}
	return &aggregate{env: env, initial: a.Initial, state: state, final: final}
}

// run calls fn with the state, which it makes first if there is none, and the budget of a call of r.
func (a *aggregate) run(r *routine, fn func(env *java.Env) error) error {
	return r.timed(a.env, func(env *java.Env) (err error) {
		if a.running == nil {
			body, err := a.state.body()
			if err != nil {
				return err
			}
			if a.running, err = body.NewState(env, a.initial); err != nil {
				return err
			}
		}
		return fn(env)
	})
}

// Add calls the state function with the values of a row.
func (a *aggregate) Add(args []types.Value) error {
	a.row = bytesOf(a.row[:0], args)
	return a.run(a.state, func(env *java.Env) error { return a.running.Add(env, a.row) })
}

// Result is the state, or the result of the final function.
func (a *aggregate) Result() (v types.Value, err error) {
	switch {
	case a.final != nil:
	case a.running == nil:
		_, err := a.state.body()
		return types.Value{Bytes: a.initial}, err
	default:
		err = a.run(a.state, func(env *java.Env) (err error) {
			v.Bytes, err = a.running.Value(env)
			return err
		})
		return v, err
	}
	final, err := a.final.body()
	if err != nil {
		return v, err
	}
	err = a.run(a.final, func(env *java.Env) (err error) {
		v.Bytes, err = a.running.Finish(env, final)
		return err
	})
	return v, err
}

// Size is about how many bytes the state takes.
func (a *aggregate) Size() int {
	if a.running == nil {
		return 0
	}
	return a.running.Size()
}
