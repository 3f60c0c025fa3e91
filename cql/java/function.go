package java

import (
	"math"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/types"
)

// Spec is a function to compile.
type Spec struct {
	ArgNames     []string
	ArgTypes     []types.Type
	Returns      types.Type
	Body         string
	CalledOnNull bool // else numbers and booleans are of primitive types, and calls with a null argument return null
}

// Function is a compiled body. Several goroutines may call it at a time.
type Function struct {
	spec    Spec
	run     statementFunc
	n, r    int // variables of primitive types, and references
	args    []argument
	returns kind            // voidKind: a reference
	strings map[string]*str // the constant ones, by textKey
	pool    sync.Pool
}

// argument is where an argument is put.
type argument struct {
	slot        int
	kind        kind // voidKind: a reference
	emptyIsNull bool
}

// Compile checks and compiles a body. Its error is a *CompileError. What a body can make it do is bounded: see
// maxSource, maxNodes, maxTypeSize and maxWork.
func Compile(spec Spec) (f *Function, err error) {
	c := new(compiler)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *CompileError:
			if r.Line == 0 { // what refused it does not know where
				r.Line, r.Column = max(c.at.line, 1), max(c.at.column, 1)
			}
			f, err = nil, r
		default:
			f, err = nil, failure(r)
		}
	}()
	spec.ArgNames, spec.ArgTypes = slices.Clone(spec.ArgNames), slices.Clone(spec.ArgTypes)
	for i, t := range spec.ArgTypes {
		spec.ArgTypes[i] = passedAs(t)
	}
	spec.Returns = passedAs(spec.Returns)
	body := parseBody(spec.Body)
	f = new(Function)
	// The first pass finds out which variables are read. The others have no place in Java's frame.
	used := make(map[int]bool)
	for range 2 {
		*f = Function{spec: spec}
		*c = compiler{lib: loadLibrary(), fn: f, used: used, worked: c.worked}
		c.function(body)
	}
	f.pool.New = func() any {
		return &thread{fn: f, n: make([]int64, f.n), r: make([]object, f.r)}
	}
	return f, nil
}

// Constants are arguments that are the same for all rows of a page. As in Cassandra each row has the same objects: a
// body that adds to a list finds the elements there that it added for earlier rows. They belong to one goroutine.
type Constants struct {
	constant  []bool
	objects   []object // by argument; nil: not decoded yet
	allocated int64    // bytes, by the calls since then
}

// NewConstants returns the constants of a call. constant marks the arguments that are the same for all rows.
func NewConstants(constant []bool) *Constants {
	return &Constants{constant: constant, objects: make([]object, len(constant))}
}

// Call runs the function with valid values of its arguments; nil is null. The constants may be nil. Its error is an
// *Exception, ErrSteps, ErrMemory or the error of Env.Step.
func (f *Function) Call(env *Env, args [][]byte, constants *Constants) (result []byte, err error) {
	if f.skips(f.args, args) {
		return nil, nil
	}
	err = f.within(env, func(t *thread) {
		for i, b := range args {
			if constants != nil && constants.constant[i] {
				t.setConstant(i, b, constants)
			} else {
				t.setArgument(i, b)
			}
		}
		f.run(t)
		result = t.result()
		if constants != nil {
			constants.count(t)
		}
	})
	return result, err
}

// setConstant puts an argument into its variable, and decodes it if no earlier row had it.
func (t *thread) setConstant(i int, b []byte, constants *Constants) {
	a := t.fn.args[i]
	if a.kind == voidKind && constants.objects[i] != nil {
		t.r[a.slot] = constants.objects[i]
		return
	}
	t.setArgument(i, b)
	if a.kind == voidKind {
		constants.objects[i] = t.r[a.slot]
	}
}

// count bounds how much memory the objects can hold between calls. Beyond that they are decoded again.
func (c *Constants) count(t *thread) {
	if t.env.Memory == 0 {
		return
	}
	if c.allocated += t.allocated(); c.allocated > t.env.Memory {
		clear(c.objects)
		c.allocated = 0
	}
}

// skips reports whether the function is not called because an argument is null.
func (f *Function) skips(params []argument, args [][]byte) bool {
	if f.spec.CalledOnNull {
		return false
	}
	for i, a := range params {
		if a.isNull(args[i]) {
			return true
		}
	}
	return false
}

func (a argument) isNull(b []byte) bool { return b == nil || a.emptyIsNull && len(b) == 0 }

// within calls run, which may end with an exception or exhaust the budget.
func (f *Function) within(env *Env, run func(t *thread)) (err error) {
	t := f.begin(env)
	defer func() {
		if r := recover(); r != nil {
			err = failure(r)
		}
		f.end(t)
	}()
	run(t)
	return nil
}

// setArgument decodes an argument into its variable.
func (t *thread) setArgument(i int, b []byte) {
	switch a := t.fn.args[i]; {
	case a.kind != voidKind:
		t.n[a.slot] = decodeNumber(a.kind, b)
	case !a.isNull(b):
		t.r[a.slot] = t.decode(t.fn.spec.ArgTypes[i], b)
	}
}

// result is the value that the body returned.
func (t *thread) result() []byte {
	if k := t.fn.returns; k != voidKind {
		return encodeNumber(k, t.value.n)
	}
	return t.encode(t.fn.spec.Returns, t.value.r)
}

// begin takes a thread from the pool and gives it the budget.
func (f *Function) begin(env *Env) *thread {
	t := f.pool.Get().(*thread)
	t.env, t.mem, t.steps = env, min(env.Memory, holdStep), env.Steps
	t.rest = env.Memory - t.mem
	if env.Memory == 0 {
		t.mem = math.MaxInt64
	}
	if t.steps == 0 {
		t.steps = math.MaxInt64
	}
	t.slice = min(stepsBetween, t.steps)
	t.left, t.taken, t.depth = t.slice, 0, 0
	return t
}

// end returns a thread to the pool, without the objects of its call.
func (f *Function) end(t *thread) {
	clear(t.r)
	clear(t.args[:cap(t.args)])
	t.args, t.value, t.env = t.args[:0], value{}, nil
	f.pool.Put(t)
}
