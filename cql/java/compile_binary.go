package java

import "math"

func (c *compiler) binary(n *operation) *expr {
	// A chain of operators is deep on its left side. It is compiled in a loop, from the innermost on.
	chain := []*operation{n}
	left := n.left
	for {
		b, ok := left.(*operation)
		if !ok || b.op == "&&" || b.op == "||" {
			break
		}
		chain = append(chain, b)
		left = b.left
	}
	e := c.value(left)
	for i := len(chain) - 1; i >= 0; i-- {
		b := chain[i]
		if b.op != "+" {
			e = c.interned(e)
		}
		e = c.operate(b.pos, b.op, e, c.value(b.right))
	}
	return c.interned(e)
}

// interned is e with the one object of its text, if it is constant. The parts of a long chain are not interned, because
// each is a text with all before it.
func (c *compiler) interned(e *expr) *expr {
	if s, ok := e.constant.(*str); ok {
		return constantExpr(e.pos, e.typ, c.intern(s))
	}
	return e
}

// operate compiles an operator with its operands.
func (c *compiler) operate(p pos, op string, left, right *expr) *expr {
	a, b := unboxed(left.typ), unboxed(right.typ)
	switch op {
	case "==", "!=":
		return c.equality(p, op, left, right)
	case "+":
		if isText(left.typ) || isText(right.typ) {
			return c.concatenate(p, left, right)
		}
	case "<<", ">>", ">>>":
		if a.integral() && b.integral() {
			return c.shift(p, op, left, right)
		}
	}
	bitwise := op == "&" || op == "|" || op == "^"
	switch {
	case bitwise && a == booleanType && b == booleanType:
		x, y := c.toPrimitive(left, a).b, c.toPrimitive(right, b).b
		e := &expr{pos: p, typ: booleanType}
		switch op {
		case "&":
			e.b = func(t *thread) bool { l, r := x(t), y(t); return l && r }
		case "|":
			e.b = func(t *thread) bool { l, r := x(t), y(t); return l || r }
		default:
			e.b = func(t *thread) bool { return x(t) != y(t) }
		}
		return e.fold(left, right)
	case !a.numeric() || !b.numeric() || bitwise && (a.floating() || b.floating()) || op[0] == '<' && len(op) == 2 &&
		op[1] == '<':
		refuse(p, "The operator %s is undefined for the argument type(s) %s, %s", op, left.typ, right.typ)
	}
	t := promoted(a, b)
	x, y := c.toPrimitive(left, t), c.toPrimitive(right, t)
	var e *expr
	switch op {
	case "<", "<=", ">", ">=":
		e = &expr{typ: booleanType, b: compareNumbers(op, x, y)}
	default:
		if t.floating() {
			e = &expr{typ: t, f: floatArithmetic(op, x.f, y.f, t == floatType)}
		} else {
			e = &expr{typ: t, n: wholeArithmetic(op, x, y, t == intType)}
		}
		if e.f == nil && e.n == nil {
			refuse(p, "The operator %s is undefined for the argument type(s) %s, %s", op, left.typ, right.typ)
		}
	}
	e.pos = p
	return e.fold(x, y)
}

func isText(t *typ) bool { return t.kind == classKind && t.class == classString }

func compareNumbers(op string, left, right *expr) func(*thread) bool {
	if left.f != nil {
		return comparison(op, left.f, right.f)
	}
	return comparison(op, left.n, right.n)
}

func comparison[T int64 | float64](op string, x, y func(*thread) T) func(*thread) bool {
	switch op {
	case "<":
		return func(t *thread) bool { return x(t) < y(t) }
	case "<=":
		return func(t *thread) bool { return x(t) <= y(t) }
	case ">":
		return func(t *thread) bool { return x(t) > y(t) }
	}
	return func(t *thread) bool { return x(t) >= y(t) }
}

func floatArithmetic(op string, x, y func(*thread) float64, single bool) func(*thread) float64 {
	var f func(*thread) float64
	switch op {
	case "+":
		f = func(t *thread) float64 { return x(t) + y(t) }
	case "-":
		f = func(t *thread) float64 { return x(t) - y(t) }
	case "*":
		f = func(t *thread) float64 { return x(t) * y(t) }
	case "/":
		f = func(t *thread) float64 { return x(t) / y(t) }
	case "%":
		f = func(t *thread) float64 { return math.Mod(x(t), y(t)) }
	}
	if single && f != nil {
		return func(t *thread) float64 { return float64(float32(f(t))) }
	}
	return f
}

// wholeArithmetic computes with int, whose results are cut to 32 bits, or long.
func wholeArithmetic(op string, left, right *expr, int32s bool) func(*thread) int64 {
	x, y := left.n, right.n
	if constant, ok := right.constant.(int64); ok && int32s {
		switch op { // the most frequent ones
		case "+":
			return func(t *thread) int64 { return int64(int32(x(t) + constant)) }
		case "-":
			return func(t *thread) int64 { return int64(int32(x(t) - constant)) }
		}
	}
	switch op {
	case "&":
		return func(t *thread) int64 { return x(t) & y(t) }
	case "|":
		return func(t *thread) int64 { return x(t) | y(t) }
	case "^":
		return func(t *thread) int64 { return x(t) ^ y(t) }
	case "%":
		return func(t *thread) int64 {
			a, b := x(t), y(t)
			if b == 0 {
				divideByZero()
			}
			return a % b
		}
	}
	if int32s {
		switch op {
		case "+":
			return func(t *thread) int64 { return int64(int32(x(t) + y(t))) }
		case "-":
			return func(t *thread) int64 { return int64(int32(x(t) - y(t))) }
		case "*":
			return func(t *thread) int64 { return int64(int32(x(t) * y(t))) }
		case "/":
			return func(t *thread) int64 {
				a, b := x(t), y(t)
				if b == 0 {
					divideByZero()
				}
				return int64(int32(a / b))
			}
		}
		return nil
	}
	switch op {
	case "+":
		return func(t *thread) int64 { return x(t) + y(t) }
	case "-":
		return func(t *thread) int64 { return x(t) - y(t) }
	case "*":
		return func(t *thread) int64 { return x(t) * y(t) }
	case "/":
		return func(t *thread) int64 {
			a, b := x(t), y(t)
			if b == 0 {
				divideByZero()
			}
			return a / b
		}
	}
	return nil
}

// shift compiles a shift, whose type is that of its left operand and whose distance is taken modulo the size.
func (c *compiler) shift(p pos, op string, left, right *expr) *expr {
	t := promoted(unboxed(left.typ), intType)
	l, r := c.toPrimitive(left, t), c.toPrimitive(right, promoted(unboxed(right.typ), intType))
	x, y := l.n, r.n
	e := &expr{pos: p, typ: t}
	switch {
	case t == intType && op == "<<":
		e.n = func(t *thread) int64 { a := x(t); return int64(int32(a) << (y(t) & 31)) }
	case t == intType && op == ">>":
		e.n = func(t *thread) int64 { a := x(t); return int64(int32(a) >> (y(t) & 31)) }
	case t == intType:
		e.n = func(t *thread) int64 { a := x(t); return int64(int32(uint32(a) >> (y(t) & 31))) }
	case op == "<<":
		e.n = func(t *thread) int64 { a := x(t); return a << (y(t) & 63) }
	case op == ">>":
		e.n = func(t *thread) int64 { a := x(t); return a >> (y(t) & 63) }
	default:
		e.n = func(t *thread) int64 { a := x(t); return int64(uint64(a) >> (y(t) & 63)) }
	}
	return e.fold(l, r)
}

// equality compares numbers if one of the operands is primitive, and else whether references are the same object.
func (c *compiler) equality(p pos, op string, left, right *expr) *expr {
	equal := op == "=="
	e := &expr{pos: p, typ: booleanType}
	a, b := unboxed(left.typ), unboxed(right.typ)
	mixed := left.typ.primitive() || right.typ.primitive()
	switch {
	case mixed && a.numeric() && b.numeric():
		t := promoted(a, b)
		l, r := c.toPrimitive(left, t), c.toPrimitive(right, t)
		if t.floating() {
			x, y := l.f, r.f
			e.b = func(t *thread) bool { return (x(t) == y(t)) == equal }
		} else {
			x, y := l.n, r.n
			e.b = func(t *thread) bool { return (x(t) == y(t)) == equal }
		}
		return e.fold(l, r)
	case mixed && a == booleanType && b == booleanType:
		l, r := c.toPrimitive(left, a), c.toPrimitive(right, b)
		x, y := l.b, r.b
		e.b = func(t *thread) bool { return (x(t) == y(t)) == equal }
		return e.fold(l, r)
	case mixed:
		// A primitive value is boxed if the other operand can be such a box.
		if left.typ.primitive() && right.typ.reference() && right.typ != nullType && castable(boxed(left.typ), right.typ) {
			left = c.box(left)
		} else if right.typ.primitive() && left.typ.reference() && left.typ != nullType && castable(boxed(right.typ),
			left.typ) {
			right = c.box(right)
		} else {
			refuse(p, "Incompatible operand types %s and %s", left.typ, right.typ)
		}
	case left.typ != nullType && right.typ != nullType && !castable(left.typ, right.typ):
		refuse(p, "Incompatible operand types %s and %s", left.typ, right.typ)
	}
	x, y := left.r, right.r
	e.b = func(t *thread) bool { return (x(t) == y(t)) == equal }
	return e.fold(left, right)
}

// concatenate appends the texts of the operands. A chain of them fills one builder.
func (c *compiler) concatenate(p pos, left, right *expr) *expr {
	for _, o := range []*expr{left, right} {
		if o.typ == voidType {
			refuse(o.pos, "The operator + is undefined for the argument type(s) %s, %s", left.typ, right.typ)
		}
	}
	e := &expr{pos: p, typ: classString.typ()}
	if left.parts != nil && left.constant == nil {
		e.parts = left.parts // which no other expression appends to
	} else {
		e.parts = append(e.parts, textPart(left))
	}
	e.parts = append(e.parts, textPart(right))
	parts := e.parts
	e.r = func(t *thread) object {
		t.step()
		var b builder
		for _, p := range parts {
			p(t, &b)
		}
		return b.text(t)
	}
	for _, o := range []*expr{left, right} {
		if s, ok := o.constant.(*str); ok && left.constant != nil && right.constant != nil {
			c.work(8 * s.length())
		}
	}
	return e.fold(left, right)
}

func textPart(e *expr) func(*thread, *builder) {
	switch {
	case e.r != nil:
		f := e.r
		return func(t *thread, b *builder) { b.add(t, t.textOf(f(t))) }
	case e.typ == charType:
		f := e.n
		return func(t *thread, b *builder) { b.addUnit(t, uint16(f(t))) }
	}
	k, f := e.typ.kind, e.bits()
	return func(t *thread, b *builder) { b.add(t, t.box(k, f(t)).text(t)) }
}
