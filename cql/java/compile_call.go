package java

import (
	"slices"
	"strings"
)

// candidate is a method that a call may mean, with the types of its class's parameters.
type candidate struct {
	m    *method
	vars map[string]*typ
}

// chosen is the method that a call means.
type chosen struct {
	m       *method
	params  []*typ // of the arguments; the elements of a variable number each have one
	result  *typ
	varargs bool
}

func (c *compiler) arguments(nodes []node) []*expr {
	args := make([]*expr, len(nodes))
	for i, n := range nodes {
		args[i] = c.value(n)
	}
	return args
}

// argumentTypes is (int, String).
func argumentTypes(args []*expr) string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.typ.String()
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func (c *compiler) invocation(n *invocation, want *typ) *expr {
	if class := c.classNamed(n.target); class != nil {
		return c.invoke(n, class.typ(), nil, want)
	}
	target := c.targetExpr(n.target)
	if target.typ.primitive() {
		refuse(n.pos, "Cannot invoke %s() on the primitive type %s", n.id, target.typ)
	}
	if target.typ == nullType {
		refuse(n.pos, "Cannot invoke %s() on the null type", n.id)
	}
	return c.invoke(n, target.typ, target, want)
}

// invoke compiles a call of a method of t. A static one has no target.
func (c *compiler) invoke(n *invocation, t *typ, target *expr, want *typ) *expr {
	args := c.arguments(n.args)
	var all []candidate
	c.collect(t, n.id, &all)
	if target == nil {
		all = slices.DeleteFunc(all, func(k candidate) bool {
			return !k.m.static && k.m.class == classObject || k.m.static && k.m.class.iface && k.m.class != t.class
		})
	}
	m := c.choose(n.pos, all, args, want, func() {
		if len(all) > 0 {
			refuse(n.pos, "The method %s%s in the type %s is not applicable for the arguments %s, or is not supported",
				n.id, signature(all, len(args)), t, argumentTypes(args))
		}
		refuse(n.pos, "The method %s%s is undefined for the type %s, or is not supported", n.id, argumentTypes(args), t)
	})
	if target == nil && !m.m.static {
		refuse(n.pos, "Cannot make a static reference to the non-static method %s%s from the type %s", n.id,
			paramTypes(m.m), t)
	}
	if m.m.static && target != nil {
		if m.m.class.iface {
			refuse(n.pos, "This static method of interface %s can only be accessed as %s.%s", m.m.class.simple(),
				m.m.class.simple(), n.id)
		}
		target = nil
	}
	return c.call(n.pos, m, target, args)
}

// signature shows the parameters of a method that was perhaps meant.
func signature(all []candidate, arguments int) string {
	k := all[0]
	for _, other := range all {
		if len(other.m.params) == arguments && len(k.m.params) != arguments {
			k = other
		}
	}
	shown := *k.m
	shown.params = nil
	for _, p := range k.m.params {
		shown.params = append(shown.params, substitute(p, k.vars))
	}
	return paramTypes(&shown)
}

func paramTypes(m *method) string {
	names := make([]string, len(m.params))
	for i, p := range m.params {
		names[i] = p.String()
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// collect gathers the methods of that name of a type and of all it extends. Overriding methods come first.
func (c *compiler) collect(t *typ, name string, all *[]candidate) {
	if t.kind == arrayKind {
		t = classObject.typ()
	}
	for _, m := range t.class.methods[name] {
		if !slices.ContainsFunc(*all, func(k candidate) bool { return sameParams(k.m, m) }) {
			*all = append(*all, candidate{m, bindings(t)})
		}
	}
	for _, s := range t.class.supers {
		super := s
		switch {
		case len(t.args) > 0:
			super = substitute(s, bindings(t))
		case len(t.class.params) > 0:
			super = erase(s)
		}
		c.collect(super, name, all)
	}
	if len(t.class.supers) == 0 && t.class != classObject {
		c.collect(classObject.typ(), name, all)
	}
}

func sameParams(a, b *method) bool {
	return slices.EqualFunc(a.params, b.params, func(x, y *typ) bool { return same(erase(x), erase(y)) })
}

// choose finds the method that a call means, as Java does: first without boxing, then with it, and then with a variable
// number of arguments; of several, the one with the most special parameters.
func (c *compiler) choose(p pos, all []candidate, args []*expr, want *typ, undefined func()) *chosen {
	size := 1
	for _, a := range args {
		size += a.typ.size + 1
	}
	work := size * len(all)
	for _, k := range all {
		for _, t := range k.vars {
			work += t.size
		}
	}
	for phase := range 3 {
		c.work(2 * work)
		var fitting []*chosen
		for _, k := range all {
			if m := c.applicable(k, args, want, phase); m != nil {
				fitting = append(fitting, m)
			}
		}
		if len(fitting) == 0 {
			continue
		}
		for _, m := range fitting {
			if !slices.ContainsFunc(fitting, func(o *chosen) bool { return !moreSpecial(m, o) }) {
				return m
			}
		}
		refuse(p, "The method %s%s is ambiguous", fitting[0].m.name, argumentTypes(args))
	}
	undefined()
	return nil
}

func moreSpecial(a, b *chosen) bool {
	if len(a.params) != len(b.params) {
		return len(a.params) > len(b.params)
	}
	for i, p := range a.params {
		q := b.params[i]
		switch {
		case p.primitive() && q.primitive():
			if !widens(p, q) {
				return false
			}
		case p.primitive() != q.primitive():
			return false
		case !isSubtype(erase(p), erase(q)):
			return false
		}
	}
	return true
}

// applicable returns the method with the types of its parameters if the arguments fit.
func (c *compiler) applicable(k candidate, args []*expr, want *typ, phase int) *chosen {
	params := k.m.params
	varargs := phase == 2
	if varargs {
		fixed := len(params) - 1
		if !k.m.varargs || len(args) < fixed {
			return nil
		}
		elem := params[fixed].elem
		params = slices.Clone(params[:fixed])
		for range len(args) - fixed {
			params = append(params, elem)
		}
	}
	if len(params) != len(args) {
		return nil
	}
	// The types of the method's own variables come from the use of its result, or from the arguments.
	for _, from := range []*typ{want, nil} {
		vars := make(map[string]*typ, len(k.vars)+len(k.m.vars))
		for name, t := range k.vars {
			vars[name] = t
		}
		if from == nil || len(k.m.vars) == 0 {
			for i, p := range params {
				infer(p, args[i].typ, k.m.vars, vars)
			}
			if want != nil {
				inferResult(k.m, want, vars)
			}
		} else {
			inferResult(k.m, from, vars)
			for i, p := range params {
				inferMissing(p, args[i].typ, k.m.vars, vars)
			}
		}
		m := &chosen{m: k.m, varargs: varargs, result: substitute(k.m.result, vars)}
		for i, p := range params {
			t := substitute(p, vars)
			if !c.fitsPhase(args[i], t, phase) {
				m = nil
				break
			}
			m.params = append(m.params, t)
		}
		if m != nil {
			return m
		}
	}
	return nil
}

// fitsPhase reports whether an argument fits a parameter: without boxing in the first phase.
func (c *compiler) fitsPhase(e *expr, t *typ, phase int) bool {
	if phase == 0 && e.typ.primitive() != t.primitive() {
		return false
	}
	return c.convert(e, t, false) != nil
}

// infer binds the type variables in a parameter by the type of an argument.
func infer(param, arg *typ, own []string, vars map[string]*typ) {
	switch {
	case param.kind == varKind:
		if !slices.Contains(own, param.name) || arg.kind == nullKind {
			return
		}
		t := boxed(arg)
		if known := vars[param.name]; known != nil {
			t = common(known, t)
		}
		vars[param.name] = t
	case param.kind == arrayKind && arg.kind == arrayKind && arg.elem.reference():
		infer(param.elem, arg.elem, own, vars)
	case param.kind == classKind && arg.kind == classKind:
		if s := asSuper(arg, param.class); s != nil && len(s.args) == len(param.args) {
			for i, p := range param.args {
				infer(p, s.args[i], own, vars)
			}
		}
	}
}

// inferMissing is infer for variables that are not known yet.
func inferMissing(param, arg *typ, own []string, vars map[string]*typ) {
	var missing []string
	for _, name := range own {
		if vars[name] == nil {
			missing = append(missing, name)
		}
	}
	infer(param, arg, missing, vars)
}

// inferResult finds type variables from the type that the result is used as.
func inferResult(m *method, want *typ, vars map[string]*typ) {
	if want.kind == classKind && m.result.kind == classKind {
		s := asSuper(m.result, want.class)
		if s == nil || len(s.args) != len(want.args) {
			return
		}
		for i, a := range s.args {
			if a.kind == varKind && slices.Contains(m.vars, a.name) && vars[a.name] == nil {
				vars[a.name] = want.args[i]
			}
		}
	}
	if m.result.kind == varKind && slices.Contains(m.vars, m.result.name) && vars[m.result.name] == nil &&
		want.reference() {
		vars[m.result.name] = want
	}
}

// call compiles the call of a method.
func (c *compiler) call(p pos, k *chosen, target *expr, args []*expr) *expr {
	for i, a := range args {
		args[i] = c.convert(a, k.params[i], false)
	}
	if k.varargs {
		fixed := len(k.m.params) - 1
		args = append(slices.Clone(args[:fixed]), variableArguments(p, k.m.params[fixed].elem, args[fixed:]))
	}
	e := &expr{pos: p, typ: k.result}
	if fast := pureCall(e, k.m, args); fast {
		return e
	}
	run, price := k.m.run.(nativeFunc), k.m.price
	charged := price == linear || price == product
	values := make([]func(*thread) value, 0, len(args)+1)
	var missing func() // throws the exception of a target that is null, once the arguments are evaluated
	if target != nil {
		f := target.r
		values = append(values, func(t *thread) value { return value{r: f(t)} })
		missing = npe("Cannot invoke \""+shownMethod(k.m, target.typ)+"\"", target)
	}
	for _, a := range args {
		values = append(values, a.value())
	}
	call := func(t *thread) value {
		t.step()
		base := len(t.args)
		for _, v := range values {
			t.args = append(t.args, v(t))
		}
		if missing != nil && t.args[base].r == nil {
			missing()
		}
		if charged {
			price.charge(t, t.args[base:])
		}
		result := run(t, t.args[base:])
		t.args = t.args[:base]
		return result
	}
	switch {
	case k.result == voidType:
		e.run = func(t *thread) { call(t) }
	case k.result.primitive():
		n := fromBits(p, k.result, func(t *thread) int64 { return call(t).n })
		e.n, e.f, e.b = n.n, n.f, n.b
	case k.m.result.kind == varKind && !(k.result.kind == classKind && k.result.class == classObject):
		// Through a raw type, an object of another class may have got into the collection.
		erased := erase(k.result)
		e.r = func(t *thread) object { return checkCast(call(t).r, erased) }
	default:
		e.r = func(t *thread) object { return call(t).r }
	}
	if e.r != nil {
		of := k.m.class.typ()
		if target != nil && k.m.class != classObject {
			of = target.typ
		}
		e.shown = "the return value of \"" + shownMethod(k.m, of) + "\""
	}
	return e
}

// shownMethod is a method as texts of exceptions have it: java.util.List.get(int), without the packages of Object and
// String.
func shownMethod(m *method, t *typ) string {
	names := make([]string, len(m.params))
	for i, p := range m.params {
		names[i] = shownType(erase(p))
	}
	owner := erase(t)
	if owner.kind != classKind {
		owner = classObject.typ()
	}
	return shownType(owner) + "." + m.name + "(" + strings.Join(names, ", ") + ")"
}

func shownType(t *typ) string {
	name := t.fullName()
	for _, c := range []*class{classObject, classString} {
		if strings.HasPrefix(name, c.name) && (len(name) == len(c.name) || name[len(c.name)] == '[') {
			return c.simple() + name[len(c.name):]
		}
	}
	return strings.Replace(name, "Map.Entry", "Map$Entry", 1)
}

// variableArguments are the last arguments of a call as an array.
func variableArguments(p pos, elem *typ, args []*expr) *expr {
	elem = erase(elem)
	var refs []func(*thread) object
	for _, a := range args {
		refs = append(refs, a.r)
	}
	return &expr{pos: p, typ: arrayOf(elem), r: func(t *thread) object {
		a := t.newArray(elem, len(refs))
		for i, f := range refs {
			a.r[i] = f(t)
		}
		return a
	}}
}

// pureCall compiles calls of functions of one or two numbers without a detour over arguments as values.
func pureCall(e *expr, m *method, args []*expr) bool {
	single := m.result == floatType
	switch f := m.run.(type) {
	case func(int64) int64:
		x := args[0].n
		e.n = func(t *thread) int64 {
			t.step()
			return f(x(t))
		}
	case func(int64, int64) int64:
		x, y := args[0].n, args[1].n
		e.n = func(t *thread) int64 {
			t.step()
			return f(x(t), y(t))
		}
	case func(float64) float64:
		x := args[0].f
		e.f = func(t *thread) float64 {
			t.step()
			v := f(x(t))
			if single {
				v = float64(float32(v))
			}
			return v
		}
	case func(float64, float64) float64:
		x, y := args[0].f, args[1].f
		e.f = func(t *thread) float64 {
			t.step()
			return f(x(t), y(t))
		}
	default:
		return false
	}
	return true
}
