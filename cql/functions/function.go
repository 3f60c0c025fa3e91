package functions

import (
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Function is the declaration of a native function, or a user's function.
type Function struct {
	Name     string       // in lower case, as results show it after "system."
	Args     []types.Type // the types of the arguments
	Returns  types.Type
	Doc      string // one sentence
	Examples []Example

	// Call computes a scalar function. It is nil for aggregates.
	Call func(c *Call) (types.Value, error)

	// Prepare refuses an argument that is the same for all rows, before there are any. It is nil if Call refuses all.
	Prepare func(arg int, v types.Value) error

	// Init starts an aggregate's state for one group of rows. It is nil for scalar functions.
	Init func() Aggregate

	// Column makes the name of a result column of the names of the arguments; nil: system.name(arguments).
	Column func(args []string) string

	// Monotonic functions never give a smaller value for a greater first argument, if the others are constant: rows in
	// the order of a column are in the order of the function too.
	Monotonic bool

	// User has the fields of users' functions only, nil for native ones.
	User *User

	// Costly functions take long for some values: callers that must not wait do not call them.
	Costly bool

	// Volatile functions may give another value at each call: they are never computed in advance.
	Volatile bool
}

// User has the fields of a user's function.
type User struct {
	Keyspace  string
	Quoted    string // keyspace and name as signatures have them
	Aggregate bool

	// Start is Function.Init for users' aggregates, whose functions run in the environment of an execution.
	Start func(env *Env) Aggregate
}

// IsAggregate reports whether f takes many rows.
func (f *Function) IsAggregate() bool { return f.Init != nil || f.User != nil && f.User.Aggregate }

// FullName is the name with that of the keyspace.
func (f *Function) FullName() string {
	if f.User != nil {
		return f.User.Keyspace + "." + f.Name
	}
	return "system." + f.Name
}

// String is the function's signature as error texts show it: system.to_date : (timestamp) -> date.
func (f *Function) String() string {
	args := make([]string, len(f.Args))
	for i, t := range f.Args {
		args[i] = t.String()
	}
	name := f.Name
	if strings.HasPrefix(name, "_") || name != strings.ToLower(name) {
		name = `"` + name + `"`
	}
	name = "system." + name
	if f.User != nil {
		name = f.User.Quoted
	}
	return name + " : (" + strings.Join(args, ", ") + ") -> " + f.Returns.String()
}

// Example is a call and its result as CQL text.
type Example struct{ Call, Result string }

// Aggregate is the state of an aggregate over the rows of one group.
type Aggregate interface {
	// Add takes one row's arguments, which are the caller's again when it returns.
	Add(args []types.Value) error

	// Result is the value over all rows that were added.
	Result() (types.Value, error)
}

// Sized is an Aggregate whose state may grow.
type Sized interface {
	Aggregate

	// Size is how many bytes of memory the state takes.
	Size() int
}

// Call is one call of a function: its arguments, and the surroundings it may ask.
type Call struct {
	Args []types.Value
	Env  *Env
	Site *Site // nil: no argument is known to be the same in other calls
}

// Site is a call in a SELECT list, of a user's function with arguments that are the same for all rows.
type Site struct {
	Constant []bool // by argument
}

// Env has everything that functions may use besides their arguments.
type Env struct {
	Now      time.Time       // of the statement's execution
	UUID     func() [16]byte // a random version 4 UUID
	TimeUUID func() [16]byte // a version 1 UUID, later than any before

	// Step is called often by long computations: it lets others run, and returns an Ended to stop them. It may be nil.
	Step func() error

	// Hold takes n bytes of the memory that calls of users' functions share, and lets others run while there are none.
	// A negative n gives back all that a call has taken. It may be nil.
	Hold func(n int64) error

	Limits Limits // of users' functions

	// Constants are the arguments that calls keep from row to row, as their functions see them. It may be nil.
	Constants map[*Site]any

	// Warnings are for the client. Functions add to them.
	Warnings []string
}

// Limits are the limits of a call of a user's function. A limit of 0 is none.
type Limits struct {
	Disabled   bool          // users' functions can be neither created nor called
	Warn, Fail time.Duration // after which the client is warned, and the call fails
	Memory     int64         // bytes that the call allocates
}

// CheckEnabled refuses users' functions where they are disabled.
func (l *Limits) CheckEnabled() error {
	if l.Disabled {
		return cqlerr.Invalidf("User-defined functions are disabled in cassandra.yaml - set " +
			"user_defined_functions_enabled=true to enable")
	}
	return nil
}

// Warn adds a warning, unless the client gets it already.
func (e *Env) Warn(text string) {
	if !slices.Contains(e.Warnings, text) {
		e.Warnings = append(e.Warnings, text)
	}
}

// Ended is the error of an execution that has to end, which is none of the function's.
type Ended struct{ Cause error }

// Error is the text of the cause.
func (e *Ended) Error() string { return e.Cause.Error() }

// Unwrap is why it has to end.
func (e *Ended) Unwrap() error { return e.Cause }

// strict makes a Call of a function of one value of type t: null gives null, and so does an empty value
// that has no meaning.
func strict(t types.Type, f func(b []byte) []byte) func(*Call) (types.Value, error) {
	return partial(t, func(b []byte) ([]byte, error) { return f(b), nil })
}

// partial is strict for a function that refuses some values.
func partial(t types.Type, f func(b []byte) ([]byte, error)) func(*Call) (types.Value, error) {
	return func(c *Call) (types.Value, error) {
		b := c.Args[0].Bytes
		if b == nil || len(b) == 0 && types.EmptyIsNull(t) {
			return types.Value{}, nil
		}
		result, err := f(b)
		return types.Value{Bytes: result}, err
	}
}

// environment makes a Call of a function without arguments.
func environment(f func(*Env) []byte) func(*Call) (types.Value, error) {
	return func(c *Call) (types.Value, error) { return types.Value{Bytes: f(c.Env)}, nil }
}
