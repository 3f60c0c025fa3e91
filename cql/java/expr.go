package java

import "math"

// expr is a compiled expression. One of its functions computes it, by its type: b a boolean, n a whole number or a
// character, f a floating number, r a reference; run alone if it is void.
type expr struct {
	pos pos
	typ *typ

	n   func(*thread) int64
	f   func(*thread) float64
	b   func(*thread) bool
	r   func(*thread) object
	run func(*thread)

	constant any                       // bool, int64, float64 or *str if the value is known
	parts    []func(*thread, *builder) // of a concatenation of strings
	shown    string                    // the name of the reference in the text of a NullPointerException; may be empty
}

// value is the expression as an argument of a native function.
func (e *expr) value() func(*thread) value {
	if e.r != nil {
		f := e.r
		return func(t *thread) value { return value{r: f(t)} }
	}
	f := e.bits()
	return func(t *thread) value { return value{n: f(t)} }
}

// bits is the value of a primitive type, as in value.
func (e *expr) bits() func(*thread) int64 {
	switch {
	case e.b != nil:
		f := e.b
		return func(t *thread) int64 { return fromBool(f(t)) }
	case e.f != nil:
		f := e.f
		return func(t *thread) int64 { return floatBits(f(t)) }
	}
	return e.n
}

// fromBits makes an expression of a primitive type, whose value f returns as in value.
func fromBits(p pos, t *typ, f func(*thread) int64) *expr {
	e := &expr{pos: p, typ: t}
	switch {
	case t == booleanType:
		e.b = func(t *thread) bool { return f(t) != 0 }
	case t.floating():
		e.f = func(t *thread) float64 { return math.Float64frombits(uint64(f(t))) }
	default:
		e.n = f
	}
	return e
}

// constantExpr is an expression of a known value.
func constantExpr(p pos, t *typ, v any) *expr {
	e := &expr{pos: p, typ: t, constant: v}
	switch v := v.(type) {
	case bool:
		e.b = func(*thread) bool { return v }
	case int64:
		e.n = func(*thread) int64 { return v }
	case float64:
		e.f = func(*thread) float64 { return v }
	case *str:
		e.r = func(*thread) object { return v }
	}
	return e
}

// fold computes an expression whose operands are constant. One that throws, like 1 / 0, stays as it is.
func (e *expr) fold(operands ...*expr) *expr {
	for _, o := range operands {
		if o.constant == nil {
			return e
		}
	}
	v, ok := e.compute()
	if !ok {
		return e
	}
	return constantExpr(e.pos, e.typ, v)
}

func (e *expr) compute() (v any, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, thrown := r.(stop); !thrown {
				panic(r)
			}
		}
	}()
	t := &thread{env: &Env{}, left: math.MaxInt64, slice: math.MaxInt64, steps: math.MaxInt64, mem: 1 << 20}
	switch {
	case e.b != nil:
		return e.b(t), true
	case e.f != nil:
		return e.f(t), true
	case e.n != nil:
		return e.n(t), true
	}
	s, isText := e.r(t).(*str)
	return s, isText
}

// npe returns a function that throws the NullPointerException of a reference, with Java's text.
func npe(what string, e *expr) func() {
	if e.shown != "" {
		what += " because " + e.shown + " is null"
	}
	return func() { throw(classNullPointerException, what) }
}

// toPrimitive converts to a primitive type, unboxing first.
func (c *compiler) toPrimitive(e *expr, to *typ) *expr {
	if e.typ.reference() {
		e = c.unbox(e)
	}
	from := e.typ
	if from == to {
		return e
	}
	k := to.kind
	r := &expr{pos: e.pos, typ: to}
	switch {
	case from.floating() && to.floating():
		f := e.f
		r.f = f
		if to == floatType {
			r.f = func(t *thread) float64 { return float64(float32(f(t))) }
		}
	case from.floating():
		f := e.f
		r.n = func(t *thread) int64 { return fromFloat(f(t), k) }
	case to == floatType:
		f := e.n
		r.f = func(t *thread) float64 { return float64(float32(f(t))) }
	case to == doubleType:
		f := e.n
		r.f = func(t *thread) float64 { return float64(f(t)) }
	case widens(from, to):
		r.n = e.n
	case to == intType:
		f := e.n
		r.n = func(t *thread) int64 { return int64(int32(f(t))) }
	default:
		f := e.n
		r.n = func(t *thread) int64 { return fromWhole(f(t), k) }
	}
	return r.fold(e)
}

// unbox is the value of a box.
func (c *compiler) unbox(e *expr) *expr {
	to := unboxed(e.typ)
	f := e.r
	missing := npe("Cannot invoke \""+e.typ.fullName()+"."+to.name+"Value()\"", e)
	if to == intType {
		return fromBits(e.pos, to, func(t *thread) int64 {
			b, _ := f(t).(*boxInt)
			if b == nil {
				missing()
			}
			return int64(b.v)
		})
	}
	return fromBits(e.pos, to, func(t *thread) int64 {
		o := f(t)
		if o == nil {
			missing()
		}
		return unbox(o)
	})
}

// box is a primitive value as an object.
func (c *compiler) box(e *expr) *expr {
	k, f := e.typ.kind, e.bits()
	r := &expr{pos: e.pos, typ: boxed(e.typ)}
	r.r = func(t *thread) object { return t.box(k, f(t)) }
	return r
}

// narrows reports whether a constant fits into a smaller type, to which it may be assigned then.
func narrows(e *expr, to *typ) bool {
	n, ok := e.constant.(int64)
	if !ok || e.typ.kind > intKind || !e.typ.integral() || !to.integral() || to.kind > intKind {
		return false
	}
	return fromWhole(n, to.kind) == n
}

// assignable converts e to the type of a variable or result, or refuses it.
func (c *compiler) assignable(e *expr, to *typ) *expr {
	if r := c.convert(e, to, true); r != nil {
		return r
	}
	refuse(e.pos, "Type mismatch: cannot convert from %s to %s", e.typ, to)
	return nil
}

// convert converts e as an argument of a method, or with assigning as a value that is assigned. nil: it cannot be.
func (c *compiler) convert(e *expr, to *typ, assigning bool) *expr {
	switch from := e.typ; {
	case from == voidType:
		return nil
	case from.primitive() && to.primitive():
		if widens(from, to) || assigning && narrows(e, to) {
			return c.toPrimitive(e, to)
		}
	case from.primitive():
		if isSubtype(boxed(from), to) {
			return c.box(e)
		}
		if u := unboxed(to); assigning && u.primitive() && narrows(e, u) && u != longType {
			return c.box(c.toPrimitive(e, u))
		}
	case to.primitive():
		if u := unboxed(from); u.primitive() && widens(u, to) {
			return c.toPrimitive(e, to)
		}
	case isSubtype(from, to) || !assigning && fits(from, to):
		return e
	}
	return nil
}

// fits is isSubtype for parameters of the library's methods, most of which have wildcards in Java: a list of integers
// is a collection of numbers.
func fits(a, b *typ) bool {
	if isSubtype(a, b) {
		return true
	}
	if b.kind != classKind || !a.reference() {
		return false
	}
	s := asSuper(a, b.class)
	if s == nil {
		return false
	}
	for i, arg := range s.args {
		if i < len(b.args) && !fits(arg, b.args[i]) {
			return false
		}
	}
	return true
}
