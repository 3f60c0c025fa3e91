package java

import (
	"slices"
	"strconv"
)

// statement compiles a statement. It reports whether the next one can be reached, as Java defines that; run is nil if
// there is nothing to do.
func (c *compiler) statement(s statement) (run statementFunc, completes bool) {
	c.at = s.at()
	switch s := s.(type) {
	case *block:
		return c.block(s.body)
	case *emptyStatement:
		return nil, true
	case *local:
		return c.local(s), true
	case *expressionStatement:
		return effect(c.effect(s.expr)), true
	case *ifStatement:
		return c.ifStatement(s)
	case *whileStatement:
		return c.loop("", nil, s.test, nil, s.body, s.pos)
	case *forStatement:
		return c.forLoop("", s)
	case *doStatement:
		return c.doLoop("", s)
	case *forEachStatement:
		return c.forEach("", s)
	case *switchStatement:
		return c.switchStatement("", s)
	case *labeled:
		return c.labeled(s)
	case *jump:
		return c.jump(s), false
	case *returnStatement:
		return c.returnStatement(s), false
	case *throwStatement:
		return c.throwStatement(s), false
	}
	refuse(s.at(), "the statement is not supported")
	return nil, false
}

func effect(f func(*thread)) statementFunc {
	return func(t *thread) signal {
		f(t)
		return goesOn
	}
}

func (c *compiler) local(s *local) statementFunc {
	var runs []statementFunc
	for _, d := range s.vars {
		var t *typ
		var e *expr
		if s.typ.name == "var" && len(s.typ.args) == 0 {
			if d.init == nil {
				refuse(d.pos, "Cannot use 'var' on variable without initializer")
			}
			if len(s.vars) > 1 || d.dims+s.typ.dims > 0 {
				refuse(d.pos, "'var' is not allowed in a compound declaration or as an element type of an array")
			}
			if a, ok := d.init.(*arrayCreation); ok && a.elem == nil {
				refuse(d.pos, "Array initializer needs an explicit target-type")
			}
			e = c.expr(d.init, nil)
			switch {
			case e.typ == nullType:
				refuse(d.pos, "Cannot infer type for local variable initialized to 'null'")
			case e.typ == voidType:
				refuse(d.pos, "Variable initializer is 'void' -- cannot infer variable type")
			}
			t = e.typ
		} else {
			t = c.typ(s.typ)
			if d.dims > maxDimensions {
				refuse(d.pos, "The type of the array has too many dimensions")
			}
			for range d.dims {
				t = arrayOf(t)
			}
		}
		if d.init == nil {
			v := c.declare(d.pos, d.id, t, true)
			v.final = s.final
			continue
		}
		if c.find(d.id) != nil {
			refuse(d.pos, "Duplicate local variable %s", d.id)
		}
		// The variable is in scope in its own initializer, where it has no value yet.
		v := c.declare(d.pos, d.id, t, e == nil)
		if e == nil {
			e = c.assignable(c.expr(d.init, t), t)
		}
		c.assigned |= v.bit
		if v.bit != 0 && !c.inSwitch {
			c.bits--
			c.assigned &^= v.bit
			v.bit = 0
		}
		if v.final = s.final; s.final && e.constant != nil && (t.primitive() || t.class == classString) {
			v.constant = e.constant
		}
		runs = append(runs, effect(c.store(v, e)))
	}
	if len(runs) == 0 {
		return nil
	}
	return inOrder(runs)
}

// store puts the value of e into a variable.
func (c *compiler) store(v *variable, e *expr) func(*thread) {
	slot := v.slot
	switch {
	case e.b != nil:
		f := e.b
		return func(t *thread) { t.n[slot] = fromBool(f(t)) }
	case e.f != nil:
		f := e.f
		return func(t *thread) { t.n[slot] = floatBits(f(t)) }
	case e.n != nil:
		f := e.n
		return func(t *thread) { t.n[slot] = f(t) }
	}
	f := e.r
	return func(t *thread) { t.r[slot] = f(t) }
}

func (c *compiler) ifStatement(s *ifStatement) (statementFunc, bool) {
	test, whenTrue, whenFalse := c.condition(s.test)
	c.assigned = whenTrue
	yes, completes := c.scoped(s.yes)
	after := c.assigned
	c.assigned = whenFalse
	if s.no == nil {
		c.assigned &= after
		return func(t *thread) signal {
			if test(t) {
				return yes(t)
			}
			return goesOn
		}, true
	}
	no, otherwise := c.scoped(s.no)
	c.assigned &= after
	return func(t *thread) signal {
		if test(t) {
			return yes(t)
		}
		return no(t)
	}, completes || otherwise
}

// scoped compiles a statement that is part of another. Where its end cannot be reached, everything is assigned.
func (c *compiler) scoped(s statement) (run statementFunc, completes bool) {
	if _, ok := s.(*local); ok {
		refuse(s.at(), "Syntax error, a declaration cannot stand here")
	}
	c.scope(func() { run, completes = c.statement(s) })
	if !completes {
		c.assigned = everything
	}
	if run == nil {
		run = func(*thread) signal { return goesOn }
	}
	return run, completes
}

// enter makes a statement the target of jumps while compile runs.
func (c *compiler) enter(t *target, compile func()) {
	t.id = firstTarget + signal(2*len(c.targets))
	t.breakAssigned, t.continueAssigns = everything, everything
	c.targets = append(c.targets, t)
	compile()
	c.targets = c.targets[:len(c.targets)-1]
}

// isConstant reports whether a condition is always v.
func isConstant(e *expr, v bool) bool {
	b, ok := e.constant.(bool)
	return ok && b == v
}

func (c *compiler) forLoop(label string, s *forStatement) (run statementFunc, completes bool) {
	c.scope(func() {
		init, _ := c.sequence(s.init)
		loop, ends := c.loop(label, init, s.test, s.update, s.body, s.pos)
		run, completes = loop, ends
	})
	return run, completes
}

// loop compiles while and for. test is nil if there is none.
func (c *compiler) loop(label string, init statementFunc, test node, update []node, body statement,
	p pos,
) (statementFunc, bool) {
	condition := func(*thread) bool { return true }
	whenTrue, whenFalse := c.assigned, everything
	endless := test == nil
	if test != nil {
		var e *expr
		e, whenTrue, whenFalse = c.test(test)
		condition = e.b
		endless = isConstant(e, true)
		if isConstant(e, false) {
			refuse(body.at(), "Unreachable code")
		}
	}
	jumps := &target{label: label, loop: true}
	c.assigned = whenTrue
	var run statementFunc
	var updates []func(*thread)
	c.enter(jumps, func() {
		var completes bool
		run, completes = c.scoped(body)
		if completes || jumps.continued {
			c.assigned &= jumps.continueAssigns
		}
		for _, u := range update {
			updates = append(updates, c.effect(u))
		}
	})
	c.assigned = whenFalse & jumps.breakAssigned
	leaves, again := jumps.breakOf(), jumps.continueOf()
	step := func(*thread) {}
	switch len(updates) {
	case 0:
	case 1:
		step = updates[0]
	default:
		step = func(t *thread) {
			for _, u := range updates {
				u(t)
			}
		}
	}
	return func(t *thread) signal {
		if init != nil {
			init(t)
		}
		for condition(t) {
			t.step()
			if s := run(t); s != goesOn && s != again {
				if s == leaves {
					break
				}
				return s
			}
			step(t)
		}
		return goesOn
	}, !endless || jumps.left
}

func (c *compiler) doLoop(label string, s *doStatement) (statementFunc, bool) {
	jumps := &target{label: label, loop: true}
	var run statementFunc
	var test *expr
	completes := false
	c.enter(jumps, func() {
		run, completes = c.scoped(s.body)
		c.assigned &= jumps.continueAssigns
	})
	var whenFalse uint64
	test, _, whenFalse = c.test(s.test)
	c.assigned = whenFalse & jumps.breakAssigned
	condition, leaves, again := test.b, jumps.breakOf(), jumps.continueOf()
	return func(t *thread) signal {
		for {
			t.step()
			if s := run(t); s != goesOn && s != again {
				if s == leaves {
					return goesOn
				}
				return s
			}
			if !condition(t) {
				return goesOn
			}
		}
	}, (completes || jumps.continued) && !isConstant(test, true) || jumps.left
}

func (c *compiler) forEach(label string, s *forEachStatement) (run statementFunc, completes bool) {
	c.scope(func() { run = c.forEachLoop(label, s) })
	return run, true
}

func (c *compiler) forEachLoop(label string, s *forEachStatement) statementFunc {
	over := c.expr(s.over, nil)
	var elem *typ
	switch {
	case over.typ.kind == arrayKind:
		elem = over.typ.elem
	case asSuper(over.typ, classIterable) != nil:
		elem = classObject.typ()
		if i := asSuper(over.typ, classIterable); len(i.args) > 0 {
			elem = i.args[0]
		}
	default:
		refuse(over.pos, "Can only iterate over an array or an instance of java.lang.Iterable")
	}
	t := elem
	if s.typ.name != "var" {
		t = c.typ(s.typ)
	}
	before := c.assigned
	// Java keeps the iterator, or an index, the length and the array, in front of the variable.
	first := c.javaSlot
	c.javaSlot++
	if over.typ.kind == arrayKind {
		c.javaSlot += 2
	}
	v := c.declare(s.pos, s.id, t, false)

	// The element is read from a variable of the compiler's.
	current := &variable{typ: elem, slot: c.newSlot(elem)}
	shown := "the return value of \"java.util.Iterator.next()\""
	if over.typ.kind == arrayKind {
		shown = "\"<local" + strconv.Itoa(first+2) + ">[<local" + strconv.Itoa(first) + ">]\""
	}
	e := c.assignable(c.checked(&expr{pos: s.pos, typ: elem, shown: shown}, current), t)
	assign := c.store(v, e)

	jumps := &target{label: label, loop: true}
	var body statementFunc
	c.enter(jumps, func() { body, _ = c.scoped(s.body) })
	c.assigned = before
	leaves, again, from, slot := jumps.breakOf(), jumps.continueOf(), over.r, current.slot
	missing := npe("Cannot invoke \""+shownType(erase(over.typ))+".iterator()\"", over)
	if over.typ.kind == arrayKind {
		missing = npe("Cannot read the array length", over)
		primitive := elem.primitive()
		return func(t *thread) signal {
			a, _ := from(t).(*array)
			if a == nil {
				missing()
			}
			for i := range a.length() {
				t.step()
				if primitive {
					t.n[slot] = a.n[i]
				} else {
					t.r[slot] = a.r[i]
				}
				assign(t)
				if s := body(t); s != goesOn && s != again {
					if s == leaves {
						break
					}
					return s
				}
			}
			return goesOn
		}
	}
	return func(t *thread) signal {
		o := from(t)
		if o == nil {
			missing()
		}
		for it := o.(iterable).iterate(t); it.hasNext(); {
			t.step()
			t.r[slot] = it.next(t)
			assign(t)
			if s := body(t); s != goesOn && s != again {
				if s == leaves {
					break
				}
				return s
			}
		}
		return goesOn
	}
}

// checked reads a variable that has an element of a collection. An element that got there through a raw type can be of
// another class.
func (c *compiler) checked(e *expr, v *variable) *expr {
	e = c.read(e, v)
	if !e.typ.reference() || e.typ.class == classObject {
		return e
	}
	f, t := e.r, erase(e.typ)
	e.r = func(th *thread) object { return checkCast(f(th), t) }
	return e
}

func (c *compiler) labeled(s *labeled) (statementFunc, bool) {
	for _, t := range c.targets {
		if t.label == s.label {
			refuse(s.pos, "Duplicate label %s", s.label)
		}
	}
	switch body := s.body.(type) {
	case *whileStatement:
		return c.loop(s.label, nil, body.test, nil, body.body, body.pos)
	case *forStatement:
		return c.forLoop(s.label, body)
	case *doStatement:
		return c.doLoop(s.label, body)
	case *forEachStatement:
		return c.forEach(s.label, body)
	case *switchStatement:
		return c.switchStatement(s.label, body)
	}
	jumps := &target{label: s.label}
	var run statementFunc
	var completes bool
	c.enter(jumps, func() { run, completes = c.scoped(s.body) })
	c.assigned &= jumps.breakAssigned
	leaves := jumps.breakOf()
	return func(t *thread) signal {
		if s := run(t); s != leaves {
			return s
		}
		return goesOn
	}, completes || jumps.left
}

func (c *compiler) jump(s *jump) statementFunc {
	for _, t := range slices.Backward(c.targets) {
		switch {
		case s.label != "" && t.label != s.label, s.label == "" && !t.loop && !(s.breaks && t.switches):
			continue
		case !s.breaks && !t.loop:
			refuse(s.pos, "continue cannot be used outside of a loop")
		}
		id := t.breakOf()
		if s.breaks {
			t.left = true
			t.breakAssigned &= c.assigned
		} else {
			id = t.continueOf()
			t.continued = true
			t.continueAssigns &= c.assigned
		}
		return func(*thread) signal { return id }
	}
	switch {
	case s.label != "":
		refuse(s.pos, "The label %s is missing", s.label)
	case s.breaks:
		refuse(s.pos, "break cannot be used outside of a loop or a switch")
	}
	refuse(s.pos, "continue cannot be used outside of a loop")
	return nil
}

func (c *compiler) returnStatement(s *returnStatement) statementFunc {
	if s.value == nil {
		refuse(s.pos, "This method must return a result of type %s", c.returns)
	}
	e := c.assignable(c.expr(s.value, c.returns), c.returns)
	if e.r != nil {
		f := e.r
		return func(t *thread) signal {
			t.value.r = f(t)
			return returns
		}
	}
	f := e.bits()
	return func(t *thread) signal {
		t.value.n = f(t)
		return returns
	}
}

func (c *compiler) throwStatement(s *throwStatement) statementFunc {
	e := c.expr(s.value, nil)
	if e.typ.kind != classKind || !e.typ.class.extends(classThrowable) {
		refuse(e.pos, "No exception of type %s can be thrown; an exception type must be a subclass of Throwable", e.typ)
	}
	if e.typ.class.throws == checked {
		refuse(s.pos, "Unhandled exception type %s", e.typ)
	}
	f := e.r
	missing := npe("Cannot throw exception", e)
	return func(t *thread) signal {
		o := f(t)
		if o == nil {
			missing()
		}
		panic(stop{o.(*throwable).exception()})
	}
}
