package java

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// expr compiles an expression. want is the type that its value is assigned to, or nil; it decides the types of
// collections that do not name theirs.
func (c *compiler) expr(n node, want *typ) *expr {
	switch n := n.(type) {
	case *literal:
		return c.literal(n)
	case *name:
		return c.name(n)
	case *field:
		return c.field(n)
	case *invocation:
		return c.invocation(n, want)
	case *creation:
		return c.creation(n, want)
	case *arrayCreation:
		return c.arrayCreation(n, want)
	case *element, *increment, *assignment:
		return c.variableExpr(n)
	case *unary:
		return c.unary(n)
	case *operation:
		if n.op == "&&" || n.op == "||" {
			return c.logical(n)
		}
		return c.binary(n)
	case *conditional:
		return c.conditional(n, want)
	case *cast:
		return c.cast(n)
	case *instanceOf:
		return c.instanceOf(n)
	case *classLiteral:
		if n.class.name == "" {
			refuse(n.pos, "Syntax error, a class expected")
		}
		t := c.typ(n.class)
		class := &classObjectOf{of: t}
		return &expr{pos: n.pos, typ: classType(classClass, boxed(t)), r: func(*thread) object { return class }}
	}
	refuse(n.at(), "the expression is not supported")
	return nil
}

// value compiles an expression that has a value.
func (c *compiler) value(n node) *expr {
	e := c.expr(n, nil)
	if e.typ == voidType {
		refuse(e.pos, "The expression has no value: its method is void")
	}
	return e
}

// effect compiles an expression whose value is not used.
func (c *compiler) effect(n node) func(*thread) {
	if n, ok := n.(*increment); ok {
		if run := c.incrementLocal(n); run != nil {
			return run
		}
	}
	e := c.expr(n, nil)
	switch {
	case e.run != nil:
		return e.run
	case e.n != nil:
		f := e.n
		return func(t *thread) { f(t) }
	case e.f != nil:
		f := e.f
		return func(t *thread) { f(t) }
	case e.b != nil:
		f := e.b
		return func(t *thread) { f(t) }
	}
	f := e.r
	return func(t *thread) { f(t) }
}

func (c *compiler) literal(n *literal) *expr {
	switch tok := n.tok; tok.kind {
	case stringToken:
		return constantExpr(n.pos, classString.typ(), c.intern(newUnits(tok.units)))
	case charToken:
		return constantExpr(n.pos, charType, int64(tok.units[0]))
	case intToken, longToken:
		return c.wholeLiteral(n)
	case floatToken, doubleToken:
		size, t := 64, doubleType
		if tok.kind == floatToken {
			size, t = 32, floatType
		}
		f, err := strconv.ParseFloat(tok.text, size)
		if err != nil || math.IsInf(f, 0) || f == 0 && strings.ContainsAny(mantissa(tok.text), "123456789") {
			refuse(n.pos, "The literal %s of type %s is out of range ", tok.text, t)
		}
		return constantExpr(n.pos, t, f)
	}
	switch n.tok.text {
	case "true", "false":
		return constantExpr(n.pos, booleanType, n.tok.text == "true")
	}
	return &expr{pos: n.pos, typ: nullType, r: func(*thread) object { return nil }, shown: "\"null\""}
}

// mantissa is a number without its exponent.
func mantissa(text string) string {
	before, _, _ := strings.Cut(text, "e")
	return before
}

func (c *compiler) wholeLiteral(n *literal) *expr {
	size, t := 32, intType
	if n.tok.kind == longToken {
		size, t = 64, longType
	}
	text, negative := strings.CutPrefix(n.tok.text, "-")
	digits, base := text, 10
	switch {
	case strings.HasPrefix(text, "0x"):
		digits, base = text[2:], 16
	case strings.HasPrefix(text, "0b"):
		digits, base = text[2:], 2
	case len(text) > 1 && text[0] == '0':
		digits, base = text[1:], 8
	}
	v, ok := new(big.Int).SetString(digits, base)
	if !ok {
		refuse(n.pos, "Invalid number literal %s", text)
	}
	limit := new(big.Int).Lsh(big.NewInt(1), uint(size)) // of numbers whose bits are written
	if base == 10 {
		limit.Rsh(limit, 1)
		if negative {
			limit.Add(limit, big.NewInt(1))
		}
	}
	if v.Cmp(limit) >= 0 {
		refuse(n.pos, "The literal %s of type %s is out of range ", text, t)
	}
	if negative {
		v.Neg(v)
	}
	number := lowBits(v)
	if size == 32 {
		number = int64(int32(number))
	}
	return constantExpr(n.pos, t, number)
}

// intern is the one object of a constant string.
func (c *compiler) intern(s *str) *str {
	key := textKey(s)
	if known := c.fn.strings[key]; known != nil {
		return known
	}
	c.fn.strings[key] = s
	return s
}

func (c *compiler) name(n *name) *expr {
	v := c.find(n.id)
	if v == nil {
		if n.id == "udfContext" {
			return &expr{pos: n.pos, typ: classUDFContext.typ(), r: func(*thread) object { return &udfContext }}
		}
		refuse(n.pos, "%s cannot be resolved to a variable", n.id)
	}
	c.used[v.number] = true
	if v.bit&^c.assigned != 0 {
		refuse(n.pos, "The local variable %s may not have been initialized", n.id)
	}
	if v.constant != nil {
		return constantExpr(n.pos, v.typ, v.constant)
	}
	return c.read(&expr{pos: n.pos, typ: v.typ, shown: v.shown}, v)
}

var udfContext contextObject

// read makes e the value of a variable.
func (c *compiler) read(e *expr, v *variable) *expr {
	slot := v.slot
	switch {
	case v.typ == booleanType:
		e.b = func(t *thread) bool { return t.n[slot] != 0 }
	case v.typ.floating():
		e.f = func(t *thread) float64 { return math.Float64frombits(uint64(t.n[slot])) }
	case v.typ.primitive():
		e.n = func(t *thread) int64 { return t.n[slot] }
	default:
		e.r = func(t *thread) object { return t.r[slot] }
	}
	return e
}

// classNamed is the class that a name with dots means, unless it begins with a variable.
func (c *compiler) classNamed(n node) *class {
	dotted := dottedName(n)
	first, _, _ := strings.Cut(dotted, ".")
	if dotted == "" || c.find(first) != nil {
		return nil
	}
	return c.class(dotted)
}

func (c *compiler) field(n *field) *expr {
	if class := c.classNamed(n.target); class != nil {
		for k := class; k != nil; k = superclass(k) {
			if f := k.fields[n.id]; f != nil {
				return c.constantField(n.pos, f)
			}
		}
		refuse(n.pos, "%s.%s cannot be resolved or is not a field", class.simple(), n.id)
	}
	e := c.targetExpr(n.target)
	if e.typ.kind == arrayKind && n.id == "length" {
		f, missing := e.r, npe("Cannot read the array length", e)
		return &expr{pos: n.pos, typ: intType, n: func(t *thread) int64 {
			a, _ := f(t).(*array)
			if a == nil {
				missing()
			}
			return int64(a.length())
		}}
	}
	if e.typ.primitive() {
		refuse(n.pos, "The primitive type %s of %s does not have a field %s", e.typ, dottedName(n.target), n.id)
	}
	refuse(n.pos, "%s cannot be resolved or is not a field", n.id)
	return nil
}

func superclass(c *class) *class {
	if len(c.supers) == 0 {
		return nil
	}
	return c.supers[0].class
}

func (c *compiler) constantField(p pos, f *constantField) *expr {
	if o, ok := f.value.(object); ok {
		return &expr{pos: p, typ: f.typ, r: func(*thread) object { return o }}
	}
	return constantExpr(p, f.typ, f.value)
}

// targetExpr compiles the object of a field or a method.
func (c *compiler) targetExpr(n node) *expr {
	if dotted := dottedName(n); dotted != "" {
		first, _, _ := strings.Cut(dotted, ".")
		if c.find(first) == nil && first != "udfContext" {
			if f, ok := n.(*field); !ok || c.classNamed(f.target) == nil {
				refuse(n.at(), "%s cannot be resolved, or is not supported", dotted)
			}
		}
	}
	return c.value(n)
}

func (c *compiler) unary(n *unary) *expr {
	if n.op == "!" {
		e, whenTrue, whenFalse := c.test(n)
		c.assigned = whenTrue & whenFalse
		return e
	}
	e := c.value(n.operand)
	t := unboxed(e.typ)
	if !t.numeric() || n.op == "~" && !t.integral() {
		refuse(n.pos, "The operator %s is undefined for the argument type(s) %s", n.op, e.typ)
	}
	t = promoted(t, intType)
	e = c.toPrimitive(e, t)
	r := &expr{pos: n.pos, typ: t}
	x, f := e.n, e.f
	switch {
	case n.op == "+":
		r.n, r.f = x, f
	case n.op == "~":
		r.n = func(t *thread) int64 { return ^x(t) }
	case t.floating():
		r.f = func(t *thread) float64 { return -f(t) }
	case t == intType:
		r.n = func(t *thread) int64 { return int64(int32(-x(t))) }
	default:
		r.n = func(t *thread) int64 { return -x(t) }
	}
	return r.fold(e)
}

// promoted is the type in which two numbers are computed.
func promoted(a, b *typ) *typ {
	k := max(a.kind, b.kind, intKind)
	for _, t := range []*typ{longType, floatType, doubleType} {
		if t.kind == k {
			return t
		}
	}
	return intType
}

// condition compiles a test of a statement. It returns the variables that have a value after it is true or false.
func (c *compiler) condition(n node) (test func(*thread) bool, whenTrue, whenFalse uint64) {
	e, whenTrue, whenFalse := c.test(n)
	return e.b, whenTrue, whenFalse
}

func (c *compiler) test(n node) (e *expr, whenTrue, whenFalse uint64) {
	switch n := n.(type) {
	case *unary:
		if n.op == "!" {
			e, whenTrue, whenFalse = c.test(n.operand)
			f := e.b
			return (&expr{pos: n.pos, typ: booleanType, b: func(t *thread) bool { return !f(t) }}).fold(e), whenFalse, whenTrue
		}
	case *operation:
		if n.op == "&&" || n.op == "||" {
			return c.logicalTest(n)
		}
	}
	e = c.value(n)
	if unboxed(e.typ) != booleanType {
		refuse(e.pos, "Type mismatch: cannot convert from %s to boolean", e.typ)
	}
	e = c.toPrimitive(e, booleanType)
	whenTrue, whenFalse = c.assigned, c.assigned
	switch {
	case isConstant(e, true):
		whenFalse = everything
	case isConstant(e, false):
		whenTrue = everything
	}
	return e, whenTrue, whenFalse
}

func (c *compiler) logical(n *operation) *expr {
	e, whenTrue, whenFalse := c.logicalTest(n)
	c.assigned = whenTrue & whenFalse
	return e
}

func (c *compiler) logicalTest(n *operation) (e *expr, whenTrue, whenFalse uint64) {
	left, leftTrue, leftFalse := c.test(n.left)
	if n.op == "&&" {
		c.assigned = leftTrue
	} else {
		c.assigned = leftFalse
	}
	right, rightTrue, rightFalse := c.test(n.right)
	a, b := left.b, right.b
	e = &expr{pos: n.pos, typ: booleanType}
	if n.op == "&&" {
		e.b = func(t *thread) bool { return a(t) && b(t) }
		return e.fold(left, right), rightTrue, leftFalse & rightFalse
	}
	e.b = func(t *thread) bool { return a(t) || b(t) }
	return e.fold(left, right), leftTrue & rightTrue, rightFalse
}

func (c *compiler) conditional(n *conditional, want *typ) *expr {
	test, whenTrue, whenFalse := c.test(n.test)
	c.assigned = whenTrue
	yes := c.branch(n.yes, want)
	after := c.assigned
	c.assigned = whenFalse
	no := c.branch(n.no, want)
	c.assigned &= after
	t := c.conditionalType(yes, no, want)
	a, b := c.assignable(yes, t), c.assignable(no, t)
	e := &expr{pos: n.pos, typ: t}
	switch {
	case t == booleanType:
		e.b = either(test.b, a.b, b.b)
	case t.floating():
		e.f = either(test.b, a.f, b.f)
	case t.primitive():
		e.n = either(test.b, a.n, b.n)
	default:
		e.r = either(test.b, a.r, b.r)
	}
	return e.fold(test, a, b)
}

// either evaluates one of two expressions.
func either[T any](test func(*thread) bool, yes, no func(*thread) T) func(*thread) T {
	return func(t *thread) T {
		if test(t) {
			return yes(t)
		}
		return no(t)
	}
}

func (c *compiler) branch(n node, want *typ) *expr {
	e := c.expr(n, want)
	if e.typ == voidType {
		refuse(e.pos, "The expression has no value: its method is void")
	}
	return e
}

// conditionalType is the type of yes and no together.
func (c *compiler) conditionalType(yes, no *expr, want *typ) *typ {
	a, b := unboxed(yes.typ), unboxed(no.typ)
	switch {
	case same(yes.typ, no.typ):
		return yes.typ
	case a == booleanType && b == booleanType:
		return booleanType
	case a.numeric() && b.numeric():
		switch {
		case a == b:
			return a
		case a == byteType && b == shortType, a == shortType && b == byteType:
			return shortType
		case a.kind < intKind && b == intType && no.typ == intType && narrows(no, a):
			return a
		case b.kind < intKind && a == intType && yes.typ == intType && narrows(yes, b):
			return b
		}
		return promoted(a, b)
	case want != nil && want.reference() && c.convert(yes, want, true) != nil && c.convert(no, want, true) != nil:
		return want
	}
	x, y := boxed(yes.typ), boxed(no.typ)
	return common(x, y)
}

func (c *compiler) cast(n *cast) *expr {
	to := c.typ(n.to)
	e := c.expr(n.operand, to)
	if !castable(e.typ, to) {
		refuse(n.pos, "Cannot cast from %s to %s", e.typ, to)
	}
	var r *expr
	switch {
	case to.primitive() && e.typ.reference() && !unboxed(e.typ).primitive():
		f, box := e.r, boxed(to)
		r = c.unbox(&expr{pos: n.pos, typ: box, r: func(t *thread) object { return checkCast(f(t), box) }, shown: e.shown})
	case to.primitive():
		r = c.toPrimitive(e, to)
	case e.typ.primitive():
		r = c.box(e)
	case isSubtype(erase(e.typ), erase(to)):
		r = &expr{pos: n.pos, typ: to, r: e.r, constant: e.constant, shown: e.shown}
	default:
		f, erased := e.r, erase(to)
		r = &expr{pos: n.pos, typ: to, r: func(t *thread) object { return checkCast(f(t), erased) }, shown: e.shown}
	}
	copied := *r
	copied.pos, copied.typ = n.pos, to
	return &copied
}

func (c *compiler) instanceOf(n *instanceOf) *expr {
	e := c.value(n.operand)
	t := c.typ(n.class)
	if e.typ.primitive() || t.primitive() || !castable(e.typ, t) {
		refuse(n.pos, "Incompatible conditional operand types %s and %s", e.typ, t)
	}
	if len(t.args) > 0 {
		refuse(n.pos, "Cannot perform instanceof check against parameterized type %s", t)
	}
	f := e.r
	return &expr{pos: n.pos, typ: booleanType, b: func(th *thread) bool { return instanceOfType(f(th), t) }}
}

func (c *compiler) creation(n *creation, want *typ) *expr {
	t := c.newType(n, want)
	if t.kind == classKind && t.class.abstract {
		refuse(n.pos, "Cannot instantiate the type %s", t)
	}
	args := c.arguments(n.args)
	var all []candidate
	for _, m := range t.class.methods[""] {
		all = append(all, candidate{m, bindings(t)})
	}
	if len(all) == 0 {
		refuse(n.pos, "objects of the class %s cannot be made: its constructors are not supported", t)
	}
	m := c.choose(n.pos, all, args, nil, func() {
		refuse(n.pos, "The constructor %s%s is undefined", t.class.simple(), argumentTypes(args))
	})
	e := c.call(n.pos, m, nil, args)
	e.typ = t
	e.shown = ""
	return e
}

// newType is the type of an object that is made. <> takes the types from the variable that it is assigned to.
func (c *compiler) newType(n *creation, want *typ) *typ {
	if primitives[n.class.name] != nil {
		refuse(n.pos, "Syntax error, a class expected")
	}
	if !n.class.diamond {
		return c.typ(n.class)
	}
	plain := *n.class
	plain.diamond = false
	t := c.typ(&plain)
	if len(t.class.params) == 0 {
		refuse(n.pos, "The type %s is not generic; it cannot be parameterized with arguments <>", t)
	}
	if want == nil || want.kind != classKind || len(want.args) == 0 {
		return t
	}
	var params []*typ
	for _, p := range t.class.params {
		params = append(params, &typ{kind: varKind, name: p})
	}
	own := classType(t.class, params...)
	vars := make(map[string]*typ)
	if s := asSuper(own, want.class); s != nil {
		for i, a := range s.args {
			if a.kind == varKind {
				vars[a.name] = want.args[i]
			}
		}
	}
	return substitute(own, vars)
}

func (c *compiler) arrayCreation(n *arrayCreation, want *typ) *expr {
	if n.elem == nil {
		if want == nil || want.kind != arrayKind {
			refuse(n.pos, "Array constants can only be used in initializers")
		}
		return c.arrayOfElements(n, want)
	}
	elem := c.typ(n.elem)
	t := elem
	if n.dims > maxDimensions {
		refuse(n.pos, "The type of the array has too many dimensions")
	}
	for range n.dims {
		t = arrayOf(t)
	}
	if n.braces {
		return c.arrayOfElements(n, t)
	}
	var sizes []func(*thread) int64
	for _, s := range n.sizes {
		e := c.value(s)
		if u := unboxed(e.typ); !u.integral() || u == longType {
			refuse(e.pos, "Type mismatch: cannot convert from %s to int", e.typ)
		}
		sizes = append(sizes, c.toPrimitive(e, intType).n)
	}
	first := t.elem
	if len(sizes) == 1 {
		size := sizes[0]
		return &expr{pos: n.pos, typ: t, r: func(t *thread) object { return t.newArray(first, int(size(t))) }}
	}
	return &expr{pos: n.pos, typ: t, r: func(t *thread) object {
		all := make([]int, len(sizes))
		for i, s := range sizes {
			all[i] = int(s(t))
		}
		return t.newArrays(first, all)
	}}
}

func (c *compiler) arrayOfElements(n *arrayCreation, of *typ) *expr {
	elem := of.elem
	var refs []func(*thread) object
	var numbers []func(*thread) int64
	for _, v := range n.init {
		e := c.assignable(c.expr(v, elem), elem)
		if e.r != nil {
			refs = append(refs, e.r)
		} else {
			numbers = append(numbers, e.bits())
		}
	}
	count := len(n.init)
	return &expr{pos: n.pos, typ: of, r: func(t *thread) object {
		a := t.newArray(elem, count)
		for i, f := range refs {
			a.r[i] = f(t)
		}
		for i, f := range numbers {
			a.n[i] = f(t)
		}
		return a
	}}
}
