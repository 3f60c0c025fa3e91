package java

import "strconv"

// place is the target of an assignment: a variable or an element of an array.
type place struct {
	variable *variable // nil: an element
	typ      *typ
	prepare  func(*thread) // computes the array and the index of an element
	read     *expr
	array    int // the slots of the array and the index
	index    int
	missing  func()
}

// place compiles the target of an assignment. A variable that is only written needs no value before.
func (c *compiler) place(n node, reads bool) *place {
	switch n := n.(type) {
	case *name:
		v := c.find(n.id)
		if v == nil {
			refuse(n.pos, "%s cannot be resolved to a variable", n.id)
		}
		if v.final && (reads || v.bit == 0 || v.bit&c.assigned != 0 || c.loopsNow() > v.loops) {
			refuse(n.pos, "The final local variable %s cannot be assigned. "+
				"It must be blank and not using a compound assignment", n.id)
		}
		if reads {
			c.used[v.number] = true
		}
		if reads && v.bit&^c.assigned != 0 {
			refuse(n.pos, "The local variable %s may not have been initialized", n.id)
		}
		return &place{variable: v, typ: v.typ, read: c.read(&expr{pos: n.pos, typ: v.typ, shown: v.shown}, v)}
	case *element:
		return c.elementPlace(n)
	case *field:
		refuse(n.pos, "The field %s cannot be assigned", n.id)
	}
	refuse(n.at(), "Invalid argument to operation ++/--")
	return nil
}

func (c *compiler) loopsNow() (n int) {
	for _, t := range c.targets {
		if t.loop {
			n++
		}
	}
	return n
}

func (c *compiler) elementPlace(n *element) *place {
	array, index, elem := c.elementParts(n)
	a, i := c.newSlot(array.typ), c.newSlot(intType)
	p := &place{typ: elem, array: a, index: i}
	from, at := array.r, index.n
	p.prepare = func(t *thread) {
		o := from(t)
		k := at(t)
		t.r[a], t.n[i] = o, k
	}
	p.missing = npe("Cannot store to "+elementKind(elem)+" array", array)
	held := &expr{pos: n.pos, typ: array.typ, shown: array.shown, r: func(t *thread) object { return t.r[a] }}
	p.read = c.load(n.pos, held, &expr{typ: intType, n: func(t *thread) int64 { return t.n[i] }}, elem,
		shownElement(array, index))
	return p
}

func (c *compiler) elementParts(n *element) (array, index *expr, elem *typ) {
	array = c.value(n.array)
	if array.typ.kind != arrayKind {
		refuse(n.pos, "The type of the expression must be an array type but it resolved to %s", array.typ)
	}
	index = c.value(n.index)
	if u := unboxed(index.typ); !u.integral() || u == longType {
		refuse(index.pos, "Type mismatch: cannot convert from %s to int", index.typ)
	}
	return array, c.toPrimitive(index, intType), array.typ.elem
}

// elementKind names arrays in texts of exceptions.
func elementKind(elem *typ) string {
	switch {
	case elem.kind == byteKind, elem.kind == booleanKind:
		return "byte/boolean"
	case elem.primitive():
		return elem.name
	}
	return "object"
}

// shownElement is the name of an element in texts of exceptions.
func shownElement(array, index *expr) string {
	if array.shown == "" || array.shown[0] != '"' {
		return ""
	}
	at := "..."
	if n, ok := index.constant.(int64); ok {
		at = strconv.FormatInt(n, 10)
	} else if index.shown != "" && index.shown[0] == '"' {
		at = index.shown[1 : len(index.shown)-1]
	}
	return array.shown[:len(array.shown)-1] + "[" + at + "]\""
}

// load reads an element.
func (c *compiler) load(p pos, source, index *expr, elem *typ, shown string) *expr {
	from, at := source.r, index.n
	missing := npe("Cannot load from "+elementKind(elem)+" array", source)
	find := func(t *thread) (*array, int64) {
		a, _ := from(t).(*array)
		i := at(t)
		if a == nil {
			missing()
		}
		return a, a.check(i)
	}
	if elem.primitive() {
		return fromBits(p, elem, func(t *thread) int64 {
			a, i := find(t)
			return a.n[i]
		})
	}
	return &expr{pos: p, typ: elem, shown: shown, r: func(t *thread) object {
		a, i := find(t)
		return a.r[i]
	}}
}

// write puts the value of e, which has the type of the place, into it.
func (c *compiler) write(p *place, e *expr) func(*thread) {
	if p.variable != nil {
		return c.store(p.variable, e)
	}
	slot, index, missing := p.array, p.index, p.missing
	if e.r != nil {
		f := e.r
		return func(t *thread) {
			held := t.r[slot]
			at := t.n[index]
			o := f(t)
			a, _ := held.(*array)
			if a == nil {
				missing()
			}
			a.store(a.check(at), o)
			t.r[slot], t.n[index] = a, at
		}
	}
	f := e.bits()
	return func(t *thread) {
		held := t.r[slot]
		at := t.n[index]
		v := f(t)
		a, _ := held.(*array)
		if a == nil {
			missing()
		}
		a.n[a.check(at)] = v
		t.r[slot], t.n[index] = a, at
	}
}

// variableExpr compiles an expression that reads or changes a variable or an element.
func (c *compiler) variableExpr(n node) *expr {
	switch n := n.(type) {
	case *element:
		array, index, elem := c.elementParts(n)
		return c.load(n.pos, array, index, elem, shownElement(array, index))
	case *increment:
		return c.increment(n)
	}
	return c.assignment(n.(*assignment))
}

func (c *compiler) assignment(n *assignment) *expr {
	p := c.place(n.target, n.op != "")
	var e *expr
	if n.op == "" {
		e = c.assignable(c.expr(n.source, p.typ), p.typ)
	} else {
		e = c.compound(n, p)
	}
	if v := p.variable; v != nil {
		c.assigned |= v.bit
	}
	return c.afterwards(n.pos, p, e, false)
}

// compound is the value of target op source, cast to the type of the target.
func (c *compiler) compound(n *assignment, p *place) *expr {
	source := c.value(n.source)
	e := c.operate(n.pos, n.op, p.read, source)
	if p.typ.reference() && !isText(p.typ) && !castable(e.typ, p.typ) || isText(e.typ) && !isText(p.typ) {
		refuse(n.pos, "The operator %s= is undefined for the argument type(s) %s, %s", n.op, p.typ, source.typ)
	}
	return c.castTo(n.pos, e, p.typ)
}

// castTo is the cast of a compound assignment.
func (c *compiler) castTo(at pos, e *expr, to *typ) *expr {
	target := unboxed(to)
	switch {
	case target.numeric() && e.typ.numeric(), target == booleanType && e.typ == booleanType:
		e = c.toPrimitive(e, target)
		if to != target {
			e = c.box(e)
		}
		return e
	}
	if r := c.convert(e, to, true); r != nil {
		return r
	}
	refuse(at, "Type mismatch: cannot convert from %s to %s", e.typ, to)
	return nil
}

// afterwards is an expression that writes e to a place. Its value is that of the place after that, or before it.
func (c *compiler) afterwards(at pos, p *place, e *expr, before bool) *expr {
	write, prepare := c.write(p, e), p.prepare
	if prepare == nil {
		prepare = func(*thread) {}
	}
	r := &expr{pos: at, typ: p.typ}
	switch read := p.read; {
	case read.b != nil:
		r.b = around(read.b, prepare, write, before)
	case read.f != nil:
		r.f = around(read.f, prepare, write, before)
	case read.n != nil:
		r.n = around(read.n, prepare, write, before)
	default:
		r.r = around(read.r, prepare, write, before)
	}
	return r
}

// around writes to a place that is read before the write or after it.
func around[T any](read func(*thread) T, prepare, write func(*thread), before bool) func(*thread) T {
	return func(t *thread) T {
		prepare(t)
		if before {
			old := read(t)
			write(t)
			return old
		}
		write(t)
		return read(t)
	}
}

// incrementLocal is ++ or -- of an int variable whose value is not used: the step of most loops.
func (c *compiler) incrementLocal(n *increment) func(*thread) {
	target, ok := n.target.(*name)
	if !ok {
		return nil
	}
	v := c.find(target.id)
	if v == nil || v.typ != intType || v.final || v.bit&^c.assigned != 0 {
		return nil
	}
	slot := v.slot
	if n.op == "++" {
		return func(t *thread) { t.n[slot] = int64(int32(t.n[slot] + 1)) }
	}
	return func(t *thread) { t.n[slot] = int64(int32(t.n[slot] - 1)) }
}

func (c *compiler) increment(n *increment) *expr {
	p := c.place(n.target, true)
	t := unboxed(p.typ)
	if !t.numeric() {
		refuse(n.pos, "Type mismatch: cannot convert from %s to int", p.typ)
	}
	one := constantExpr(n.pos, intType, int64(1))
	e := c.castTo(n.pos, c.operate(n.pos, n.op[:1], p.read, one), p.typ)
	return c.afterwards(n.pos, p, e, !n.prefix)
}
