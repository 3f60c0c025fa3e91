package java

import (
	"errors"

	"github.com/cqld/cqld/cql/schema"
)

func init() { schema.RegisterLanguage("java", compileFunction) }

// Env is the surroundings and the budget of a call.
type Env = schema.CallEnv

// Host is the program that calls a function.
type Host = schema.CallHost

// compileFunction is the schema.Compiler.
func compileFunction(f *schema.Function) (schema.Body, error) {
	compiled, err := Compile(Spec{
		ArgNames: f.ArgNames, ArgTypes: f.Args, Returns: f.Returns, Body: f.Body, CalledOnNull: f.CalledOnNull,
	})
	if err != nil {
		return nil, err
	}
	return body{compiled}, nil
}

// body is a Function as a schema.Body.
type body struct{ f *Function }

// Call is Function.Call.
func (b body) Call(env *Env, args [][]byte, constants schema.Constants) ([]byte, error) {
	kept, _ := constants.(*Constants)
	result, err := b.f.Call(env, args, kept)
	return result, ofBody(err)
}

// NewConstants is the function of that name.
func (b body) NewConstants(constant []bool) schema.Constants { return NewConstants(constant) }

// NewState is Function.NewState.
func (b body) NewState(env *Env, initial []byte) (schema.BodyState, error) {
	s, err := b.f.NewState(env, initial)
	return state{s}, ofBody(err)
}

// state is a State as a schema.BodyState.
type state struct{ s *State }

// Add is State.Add.
func (s state) Add(env *Env, row [][]byte) error { return ofBody(s.s.Add(env, row)) }

// Value is State.Value.
func (s state) Value(env *Env) ([]byte, error) {
	result, err := s.s.Value(env)
	return result, ofBody(err)
}

// Finish is State.Finish.
func (s state) Finish(env *Env, final schema.Body) ([]byte, error) {
	result, err := s.s.Finish(env, final.(body).f)
	return result, ofBody(err)
}

// Size is State.Size.
func (s state) Size() int { return s.s.Size() }

// ofBody marks errors that are those of the body.
func ofBody(err error) error {
	var exception *Exception
	if errors.As(err, &exception) || errors.Is(err, ErrMemory) || errors.Is(err, ErrSteps) {
		return &schema.BodyFailure{Err: err}
	}
	return err
}
