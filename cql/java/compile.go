package java

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// compiler checks a body and turns it into closures, in one pass over the tree.
type compiler struct {
	lib     *library
	fn      *Function
	returns *typ

	variables []*variable          // in scope, the innermost last
	named     map[string]*variable // the same by their names, which are different
	n, r      int                  // slots in use
	declared  int                  // how many variables were declared
	used      map[int]bool         // the numbers of the variables that are read
	javaSlot  int                  // the slot of the next variable in Java's frame, which texts of exceptions show
	bits      int                  // variables declared without a value so far

	// assigned has the bits of the variables that certainly have a value here, where code can be reached; all bits
	// where it cannot.
	assigned uint64

	inSwitch bool // variables declared here can be in scope where they have no value

	targets []*target // statements that a break or continue can leave, the innermost last

	at     pos // of the statement, for errors that do not know their place
	worked int // see work
}

// maxWork bounds what a body can make the compiler do, in comparisons of types and bits of constants that it joins.
// Long bodies of people take a hundredth of it; it is gone in about a second.
const maxWork = 30_000_000

// work counts n comparisons or the like, before they are done.
func (c *compiler) work(n int) {
	if c.worked += n; c.worked > maxWork {
		refuse(pos{}, "the body takes too long to compile")
	}
}

// everything is the set of assigned variables where code cannot be reached.
const everything = ^uint64(0)

// variable is a local variable or an argument.
type variable struct {
	name     string
	number   int // in the order of declarations
	typ      *typ
	slot     int
	bit      uint64 // 0: it always has a value
	final    bool
	constant any
	loops    int    // how many loops it is declared in
	shown    string // its name in texts of exceptions
}

// target is a loop, a switch or a labeled statement.
type target struct {
	label           string
	loop, switches  bool
	id              signal
	left            bool   // a break leaves it
	breakAssigned   uint64 // assigned after each break that leaves it
	continued       bool
	continueAssigns uint64
}

// signal is how a statement ended: normally, with return, or with a break or continue of a target.
type signal int

const (
	goesOn signal = iota
	returns
	firstTarget
)

// breakOf and continueOf are the signals of a target.
func (t *target) breakOf() signal    { return t.id }
func (t *target) continueOf() signal { return t.id + 1 }

// statementFunc runs a statement.
type statementFunc func(t *thread) signal

// methodLine is the line of the method in the source that Cassandra generates of a body with up to one argument. Each
// other argument moves it by two.
const methodLine = 55

// function compiles the body of the function.
func (c *compiler) function(body *block) {
	c.fn.strings = make(map[string]*str)
	c.named = make(map[string]*variable)
	spec := &c.fn.spec
	c.javaSlot = 1
	for i, ct := range spec.ArgTypes {
		t := c.valueType(ct)
		if name := tokenize(spec.ArgNames[i]); len(name) != 2 || name[0].kind != identifierToken {
			refuse(pos{1, 1}, "the name of the argument %q is not an identifier of Java", spec.ArgNames[i])
		}
		if c.find(spec.ArgNames[i]) != nil {
			refuse(pos{1, 1}, "Duplicate parameter %s", spec.ArgNames[i])
		}
		v := c.declare(pos{1, 1}, spec.ArgNames[i], t, false)
		v.shown = "\"<parameter" + strconv.Itoa(i+1) + ">\""
		a := argument{slot: v.slot, emptyIsNull: types.EmptyIsNull(ct)}
		if t.primitive() {
			a.kind = t.kind
		}
		c.fn.args = append(c.fn.args, a)
	}
	c.returns = c.valueType(spec.Returns)
	if c.returns.primitive() {
		c.fn.returns = c.returns.kind
	}
	run, completes := c.block(body.body)
	if completes {
		panic(&CompileError{
			Line: 1 + strings.Count(spec.Body, "\n"), Column: 1, Generated: methodLine + 2*max(len(spec.ArgTypes)-1, 0),
			Message: fmt.Sprintf("This method must return a result of type %s", c.returns),
		})
	}
	c.fn.run = run
}

// valueType is the Java type of an argument or a result.
func (c *compiler) valueType(ct types.Type) *typ {
	t := javaType(ct)
	if !c.fn.spec.CalledOnNull {
		t = unboxed(t)
	}
	return t
}

func (c *compiler) find(name string) *variable { return c.named[name] }

// declare adds a variable to the scope. One without a value gets a bit.
func (c *compiler) declare(p pos, name string, t *typ, unassigned bool) *variable {
	if c.find(name) != nil {
		refuse(p, "Duplicate local variable %s", name)
	}
	v := &variable{name: name, typ: t, shown: "\"<local" + strconv.Itoa(c.javaSlot) + ">\""}
	v.slot = c.newSlot(t)
	v.number = c.declared
	c.declared++
	if v.number < len(c.fn.spec.ArgTypes) || c.used[v.number] {
		c.javaSlot++
		if t.kind == longKind || t.kind == doubleKind {
			c.javaSlot++
		}
	}
	if unassigned {
		if c.bits == 64 {
			refuse(p, "more than 64 variables without an initial value are not supported")
		}
		v.bit = 1 << c.bits
		c.bits++
		c.assigned &^= v.bit
	}
	for _, t := range c.targets {
		if t.loop {
			v.loops++
		}
	}
	c.variables = append(c.variables, v)
	c.named[name] = v
	return v
}

// newSlot is a place for a value of a type in the thread.
func (c *compiler) newSlot(t *typ) int {
	if t.primitive() {
		c.n++
		c.fn.n = max(c.fn.n, c.n)
		return c.n - 1
	}
	c.r++
	c.fn.r = max(c.fn.r, c.r)
	return c.r - 1
}

// scope runs compile; the variables it declares end with it. Their slots are not used again within the function, so
// that a closure never sees a value of another type.
func (c *compiler) scope(compile func()) {
	variables, javaSlot := len(c.variables), c.javaSlot
	compile()
	for _, v := range c.variables[variables:] {
		delete(c.named, v.name)
	}
	c.variables = c.variables[:variables]
	c.javaSlot = javaSlot
}

// typ resolves the name of a type.
func (c *compiler) typ(n *typeName) *typ {
	t := primitives[n.name]
	if t == nil {
		cl := c.class(n.name)
		if cl == nil {
			refuse(n.pos, "%s cannot be resolved to a type, or is not supported", n.name)
		}
		t = cl.typ()
		if len(n.args) > 0 {
			var args []*typ
			for _, a := range n.args {
				arg := c.typ(a)
				if !arg.reference() {
					refuse(a.pos, "Syntax error on token \"%s\", Dimensions expected after this token", a.name)
				}
				args = append(args, arg)
			}
			t = classType(cl, args...)
			if len(n.args) != len(cl.params) {
				refuse(n.pos, "Incorrect number of arguments for type %s", cl.simple())
			}
		}
	} else if t == voidType {
		refuse(n.pos, "void is an invalid type for the variable")
	}
	if n.dims > maxDimensions {
		refuse(n.pos, "The type of the array has too many dimensions")
	}
	for range n.dims {
		t = arrayOf(t)
	}
	return t
}

// maxDimensions is Java's limit of the dimensions of arrays.
const maxDimensions = 255

// class finds a class by its name, with or without its package.
func (c *compiler) class(name string) *class {
	if rest, ok := strings.CutPrefix(name, driverTypes); ok {
		name = cassandraTypes + rest
	}
	if found := c.lib.imported[name]; found != nil {
		return found
	}
	if name == "Map.Entry" || name == "Entry" {
		return c.lib.imported[name]
	}
	return c.lib.byName[name]
}

// block compiles statements in a scope. It reports whether the end can be reached.
func (c *compiler) block(list []statement) (run statementFunc, completes bool) {
	c.scope(func() { run, completes = c.sequence(list) })
	return run, completes
}

func (c *compiler) sequence(list []statement) (statementFunc, bool) {
	runs := make([]statementFunc, 0, len(list))
	completes := true
	for _, s := range list {
		if !completes {
			refuse(s.at(), "Unreachable code")
		}
		var run statementFunc
		if run, completes = c.statement(s); run != nil {
			runs = append(runs, run)
		}
		if !completes {
			c.assigned = everything
		}
	}
	return inOrder(runs), completes
}

// inOrder runs statements until one does not end normally.
func inOrder(runs []statementFunc) statementFunc {
	switch len(runs) {
	case 0:
		return func(*thread) signal { return goesOn }
	case 1:
		return runs[0]
	case 2:
		a, b := runs[0], runs[1]
		return func(t *thread) signal {
			if s := a(t); s != goesOn {
				return s
			}
			return b(t)
		}
	}
	return func(t *thread) signal {
		for _, run := range runs {
			if s := run(t); s != goesOn {
				return s
			}
		}
		return goesOn
	}
}
