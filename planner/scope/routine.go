package scope

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
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

// body is the compiled body. An earlier version may have stored a function whose body does not compile, or the program
// may be linked without the compiler.
func (r *routine) body() (schema.Body, error) {
	body, err := r.function.Compiled()
	if err != nil {
		return nil, cqlerr.Invalidf("Function '%s' exists but hasn't been loaded successfully for the following reason: %s. "+
			"Please see the server log for details", r, err)
	}
	return body, nil
}

// call is functions.Function.Call.
func (r *routine) call(c *functions.Call) (types.Value, error) {
	var few [4][]byte
	result, err := r.apply(c.Env, bytesOf(few[:0], c.Args), c)
	return types.Value{Bytes: result}, err
}

// constantsOf are the arguments of a call that are the same for all rows of a page.
func constantsOf(body schema.Body, c *functions.Call) schema.Constants {
	if c.Site == nil || c.Env == nil {
		return nil
	}
	if kept := c.Env.Constants[c.Site]; kept != nil {
		return kept
	}
	if c.Env.Constants == nil {
		c.Env.Constants = make(map[*functions.Site]any)
	}
	kept := body.NewConstants(c.Site.Constant)
	c.Env.Constants[c.Site] = kept
	return kept
}

// apply calls the function with values. call is nil if the call has no constants.
func (r *routine) apply(env *functions.Env, args [][]byte, call *functions.Call) (result []byte, err error) {
	if r.function.Go != nil {
		return r.applyGo(slices.Clone(args))
	}
	c, err := r.begin(env)
	if err != nil {
		return nil, err
	}
	body, err := r.body()
	if err != nil {
		return nil, c.end(err)
	}
	var constants schema.Constants
	if call != nil {
		constants = constantsOf(body, call)
	}
	result, err = body.Call(&c.call, args, constants)
	return result, c.end(err)
}

// bytesOf appends the bytes of values.
func bytesOf(dst [][]byte, values []types.Value) [][]byte {
	for _, v := range values {
		dst = append(dst, v.Bytes)
	}
	return dst
}

// running is a call that is under way. It implements schema.CallHost.
type running struct {
	*routine
	env     *functions.Env
	call    schema.CallEnv
	took    time.Duration // without the time that others run
	resumed time.Time     // after the last step; zero: there was none, so the call has not taken long
	held    int64         // bytes, of env.Hold
}

// calls has calls that are over.
var calls = sync.Pool{New: func() any { return new(running) }}

// begin begins a call, with its limits.
func (r *routine) begin(env *functions.Env) (*running, error) {
	if env == nil {
		env = &functions.Env{}
	}
	if err := env.Limits.CheckEnabled(); err != nil {
		return nil, err
	}
	c := calls.Get().(*running)
	*c = running{routine: r, env: env}
	c.call = schema.CallEnv{Memory: env.Limits.Memory, Keyspace: r.keyspace.Name, Host: c}
	return c, nil
}

// end warns if the call took long, and gives its error the kind that clients get.
func (c *running) end(err error) error {
	limits := &c.env.Limits
	if c.pause(); limits.Warn > 0 && c.took >= limits.Warn {
		c.env.Warn(c.tooLong(limits.Warn))
	}
	if err != nil {
		err = c.failed(err, limits)
	}
	if c.held > 0 {
		_ = c.env.Hold(-c.held) // giving back does not fail
	}
	*c = running{}
	calls.Put(c)
	return err
}

// pause counts the time since the last step.
func (c *running) pause() {
	if !c.resumed.IsZero() {
		c.took += time.Since(c.resumed)
	}
}

// Step ends the call if it has taken too long, and lets others run.
func (c *running) Step() error {
	limit := c.env.Limits.Fail
	if c.pause(); limit > 0 && c.took >= limit {
		return errTimeout
	}
	if c.env.Step != nil {
		if err := c.env.Step(); err != nil {
			return err
		}
	}
	c.resumed = time.Now()
	return nil
}

// Hold takes memory for the call until it ends. The time that it waits does not count.
func (c *running) Hold(n int64) error {
	if c.env.Hold == nil {
		return nil
	}
	c.pause()
	if err := c.env.Hold(n); err != nil {
		return err
	}
	c.held += n
	c.resumed = time.Now()
	return nil
}

// Now is the time of the statement.
func (c *running) Now() time.Time { return c.env.Now }

// UserType finds a type of the function's keyspace.
func (c *running) UserType(name string) *types.UserType { return c.keyspace.Types[name] }

// ParseType finds the type that a body names.
func (c *running) ParseType(text string) (types.Type, error) {
	s, _, err := parser.Parse("DROP FUNCTION f (" + text + ")")
	if err != nil {
		return nil, err
	}
	drop, ok := s.(*cql.DropFunction)
	if !ok || drop.Args == nil || len(drop.Args.Types) != 1 {
		return nil, cqlerr.Invalidf("Unable to parse type %s", text)
	}
	return Type(c.keyspace, drop.Args.Types[0])
}

func (r *routine) tooLong(limit time.Duration) string {
	return fmt.Sprintf("User defined function %s ran longer than %dms", r, limit.Milliseconds())
}

// failed is the client's error for an error of a body.
func (r *routine) failed(err error, limits *functions.Limits) error {
	var failed *schema.BodyFailure
	switch {
	case errors.As(err, &failed):
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

	running schema.BodyState // nil: no row was added
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
func (a *aggregate) run(r *routine, fn func(env *schema.CallEnv) error) error {
	c, err := r.begin(a.env)
	if err != nil {
		return err
	}
	if err := a.start(&c.call); err != nil {
		return c.end(err)
	}
	return c.end(fn(&c.call))
}

// start makes the state if there is none.
func (a *aggregate) start(env *schema.CallEnv) error {
	if a.running != nil {
		return nil
	}
	body, err := a.state.body()
	if err != nil {
		return err
	}
	a.running, err = body.NewState(env, a.initial)
	return err
}

// Add calls the state function with the values of a row.
func (a *aggregate) Add(args []types.Value) error {
	a.row = bytesOf(a.row[:0], args)
	return a.run(a.state, func(env *schema.CallEnv) error { return a.running.Add(env, a.row) })
}

// Result is the state, or the result of the final function.
func (a *aggregate) Result() (v types.Value, err error) {
	if a.final == nil && a.running == nil {
		_, err := a.state.body()
		return types.Value{Bytes: a.initial}, err
	}
	if a.final == nil {
		err = a.run(a.state, func(env *schema.CallEnv) (err error) {
			v.Bytes, err = a.running.Value(env)
			return err
		})
		return v, err
	}
	final, err := a.final.body()
	if err != nil {
		return v, err
	}
	err = a.run(a.final, func(env *schema.CallEnv) (err error) {
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
