package schema

import (
	"fmt"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// Compiler compiles the bodies of users' functions in one language.
type Compiler func(f *Function) (Body, error)

// compilers has the compiler of each language that the program is linked with.
var compilers = map[string]Compiler{}

// RegisterLanguage makes a compiler available, as sql.Register does with drivers. Package cql/java calls it when it is
// imported, so that a program without users' functions is linked without the compiler:
//
//	import _ "github.com/cqld/cqld/cql/java"
//
// It is called before main begins. A second compiler of a language panics.
func RegisterLanguage(name string, c Compiler) {
	if compilers[name] != nil {
		panic("schema: there are two compilers of " + name)
	}
	compilers[name] = c
}

// errNotLinked refuses a body whose compiler the program is not linked with.
func errNotLinked(language string) error {
	return fmt.Errorf("this program has no compiler for bodies in %s: import _ \"github.com/cqld/cqld/cql/java\", "+
		"or github.com/cqld/cqld/cqltest/functions in a test", language)
}

// Body is a compiled body of a function. Several goroutines may call it at a time.
type Body interface {
	// Call runs the body with valid values of its arguments; nil is null. The constants may be nil. Its error is a
	// *BodyFailure or that of CallHost.Step.
	Call(env *CallEnv, args [][]byte, constants Constants) ([]byte, error)

	// NewConstants returns the Constants of a call; constant marks the arguments that are the same for all rows.
	NewConstants(constant []bool) Constants

	// NewState returns the state of an aggregate before its first row, for a state function.
	NewState(env *CallEnv, initial []byte) (BodyState, error)
}

// Constants are arguments that are the same for all rows of a page, as the body sees them. They belong to one
// goroutine.
type Constants any

// BodyState is the state of an aggregate while the rows of a group go through its state function. It belongs to one
// goroutine.
type BodyState interface {
	// Add calls the state function with the values of a row.
	Add(env *CallEnv, row [][]byte) error

	// Value is the state as a value.
	Value(env *CallEnv) ([]byte, error)

	// Finish calls the final function, whose only argument is the state.
	Finish(env *CallEnv, final Body) ([]byte, error)

	// Size is about how many bytes the state takes.
	Size() int
}

// BodyFailure is the error of a body that threw an exception or used up its budget.
type BodyFailure struct{ Err error }

// Error is the text of the exception.
func (f *BodyFailure) Error() string { return f.Err.Error() }

// CallEnv is the surroundings and the budget of a call of a body.
type CallEnv struct {
	// Steps is how many turns of loops, calls of methods and elements that they go over a call may take, and Memory
	// how many bytes it may allocate, including garbage. 0: any number.
	Steps, Memory int64

	Keyspace string   // that of the function
	Host     CallHost // nil: a call is not interrupted, the time is that of the machine, and no types are known
}

// CallHost is the program that calls a body.
type CallHost interface {
	// Step is called about every 4,096 steps; its error ends the call.
	Step() error

	// Hold is called before a call allocates more than 1 MiB, for each MiB; its error ends the call.
	Hold(n int64) error

	// Now is the time of the statement.
	Now() time.Time

	UserType(name string) *types.UserType         // for udfContext.newUDTValue; nil: there is none of that name
	ParseType(cqlType string) (types.Type, error) // for udfContext.newTupleValue
}
