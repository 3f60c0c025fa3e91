package scope

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// skips reports whether the function is not called because an argument is null.
func (r *routine) skips(args [][]byte) bool {
	if r.function.CalledOnNull {
		return false
	}
	for i, b := range args {
		if b == nil || len(b) == 0 && types.EmptyIsNull(r.function.Args[i]) {
			return true
		}
	}
	return false
}

// applyGo calls a function of the program. Its error or panic is that of the function.
func (r *routine) applyGo(args [][]byte) (result []byte, err error) {
	if r.skips(args) {
		return nil, nil
	}
	ended := make(chan struct{})
	go func() { // which a function may end, as FailNow of a test does
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		err = errExit
		result, err = r.function.Go(args)
	}()
	<-ended
	if err == nil && result != nil {
		err = r.function.Returns.Validate(result)
	}
	if err != nil {
		return nil, r.failure(err.Error())
	}
	return result, nil
}

// errExit is the error of a function that has not returned.
var errExit = errors.New("the function ended its goroutine")

// valueAggregate is the state of an aggregate with a function of the program. It is a value between calls, where
// aggregate keeps the object of Java.
type valueAggregate struct {
	env   *functions.Env
	state *routine
	final *routine // nil if there is none
	value []byte
	args  [][]byte
}

// Add calls the state function with the values of a row. One that is not called on null input skips rows with a null,
// and all rows once the state is null.
func (a *valueAggregate) Add(row []types.Value) (err error) {
	a.args = bytesOf(append(a.args[:0], a.value), row)
	if a.state.skips(a.args) {
		return nil
	}
	a.value, err = a.state.apply(a.env, a.args, nil)
	return err
}

// Result is the state, or the result of the final function.
func (a *valueAggregate) Result() (v types.Value, err error) {
	if a.final == nil {
		return types.Value{Bytes: a.value}, nil
	}
	v.Bytes, err = a.final.apply(a.env, [][]byte{a.value}, nil)
	return v, err
}

// Size is how many bytes the state takes.
func (a *valueAggregate) Size() int { return len(a.value) }
