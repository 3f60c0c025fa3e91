package java

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
)

// The errors of a call that used up its budget.
var (
	ErrSteps  = errors.New("the function takes too many steps")
	ErrMemory = errors.New("java.lang.OutOfMemoryError: Java heap space")
)

// Exception is a Java exception that ended a call. Its text is that of Java's Throwable.toString.
type Exception struct {
	Class      string // java.lang.ArithmeticException
	Message    string
	HasMessage bool
}

// Error is Java's text: java.lang.ArithmeticException: / by zero.
func (e *Exception) Error() string {
	if !e.HasMessage {
		return e.Class
	}
	return e.Class + ": " + e.Message
}

// stop carries an error through the closures to Call, which recovers it.
type stop struct{ err error }

// value is a value of any type: a number, with floats as the bits of a double and booleans as 0 or 1, or a reference.
type value struct {
	n int64
	r object
}

// thread is one call while it runs: its variables and the rest of its budget.
type thread struct {
	n     []int64  // variables of primitive types
	r     []object // variables that are references
	args  []value  // arguments of the native functions that are running
	value value    // the result
	left  int64    // steps until the next look at the budget
	slice int64    // steps between the last look and the next
	taken int64    // steps up to the last look
	steps int64    // steps that the call may take
	env   *Env
	mem   int64 // bytes left until the host is asked for more
	rest  int64 // bytes that the host may be asked for
	depth int   // of collections inside collections
	fn    *Function
}

// stepsBetween is how many steps go by between two calls of Env.Step.
const stepsBetween = 4096

// step counts one turn of a loop or one call.
func (t *thread) step() {
	if t.left--; t.left <= 0 {
		t.look()
	}
}

// charge counts n steps of a native function that goes over that many elements.
func (t *thread) charge(n int) {
	if t.left -= int64(n); t.left <= 0 {
		t.look()
	}
}

// look compares the steps with the budget and lets the caller have its say.
func (t *thread) look() {
	t.taken += t.slice - t.left
	if t.taken >= t.steps {
		panic(stop{ErrSteps})
	}
	if t.env.Host != nil {
		if err := t.env.Host.Step(); err != nil {
			panic(stop{err})
		}
	}
	t.slice = min(stepsBetween, t.steps-t.taken)
	t.left = t.slice
}

// holdStep is how many bytes a call may allocate before its host is asked for more, and how many it is asked for.
const holdStep = 1 << 20

// alloc counts n bytes.
func (t *thread) alloc(n int) {
	if t.mem -= int64(n); t.mem < 0 {
		t.hold()
	}
}

// hold asks the host for the memory that is missing.
func (t *thread) hold() {
	missing := -t.mem
	if missing > t.rest {
		panic(stop{ErrMemory})
	}
	more := min((missing+holdStep-1)/holdStep*holdStep, t.rest)
	if t.env.Host != nil {
		if err := t.env.Host.Hold(more); err != nil {
			panic(stop{err})
		}
	}
	t.mem += more
	t.rest -= more
}

// allocated is how many bytes the call has allocated.
func (t *thread) allocated() int64 { return t.env.Memory - t.rest - t.mem }

// grow counts n elements of size bytes, and the steps that it takes to write them.
func (t *thread) grow(n, size int) {
	if n > 0 && size > 0 && n > math.MaxInt64/size {
		panic(stop{ErrMemory})
	}
	t.alloc(n * size)
	t.charge(n * size / 32)
}

// throw ends the call with an exception.
func throw(c *class, message string) {
	panic(stop{&Exception{c.name, message, true}})
}

// throwPlain ends the call with an exception without a message.
func throwPlain(c *class) {
	panic(stop{&Exception{Class: c.name}})
}

// maxMessage is how many bytes of the message of an exception a client gets.
const maxMessage = 32 << 10

// failure is the error of a call that panicked. Besides exceptions these are objects that are not what the type in the
// body says, because it was raw, and mistakes of this package, which must not end the server.
func failure(recovered any) error {
	switch r := recovered.(type) {
	case stop:
		if e, ok := r.err.(*Exception); ok && len(e.Message) > maxMessage {
			e.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + "..."
		}
		return r.err
	case *runtime.TypeAssertionError:
		return &Exception{Class: classClassCastException.name}
	}
	return fmt.Errorf("run the body of a function: %v\n%s", recovered, debug.Stack())
}
