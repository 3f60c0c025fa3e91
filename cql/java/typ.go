package java

import (
	"slices"
	"strings"
)

// kind tells the primitive types apart, in the order in which numbers widen, and from references.
type kind uint8

const (
	voidKind kind = iota
	booleanKind
	byteKind
	shortKind
	charKind
	intKind
	longKind
	floatKind
	doubleKind
	nullKind // the type of null
	classKind
	arrayKind
	varKind // a type variable of a class or method of the library
)

// typ is a type of Java. Primitive types are the package's variables; others are compared by same.
type typ struct {
	kind  kind
	class *class
	args  []*typ // of the class; nil if it is not generic, or raw
	elem  *typ   // of an array
	name  string // of a primitive type or a type variable
	size  int    // how many types it consists of, for arguments that are classes or arrays
}

// maxTypeSize bounds how many types a type consists of. Without it var doubles them with each line:
//
//	var b = Collections.singletonMap(a, a); var c = Collections.singletonMap(b, b);
const maxTypeSize = 500

// checkSize refuses a type that is too large.
func (t *typ) checkSize() *typ {
	if t.size > maxTypeSize {
		refuse(pos{}, "the type is too large")
	}
	return t
}

var (
	voidType    = &typ{kind: voidKind, name: "void"}
	booleanType = &typ{kind: booleanKind, name: "boolean"}
	byteType    = &typ{kind: byteKind, name: "byte"}
	shortType   = &typ{kind: shortKind, name: "short"}
	charType    = &typ{kind: charKind, name: "char"}
	intType     = &typ{kind: intKind, name: "int"}
	longType    = &typ{kind: longKind, name: "long"}
	floatType   = &typ{kind: floatKind, name: "float"}
	doubleType  = &typ{kind: doubleKind, name: "double"}
	nullType    = &typ{kind: nullKind, name: "null"}
)

var primitives = map[string]*typ{
	"boolean": booleanType, "byte": byteType, "short": shortType, "char": charType, "int": intType, "long": longType,
	"float": floatType, "double": doubleType, "void": voidType,
}

func (t *typ) primitive() bool { return t.kind >= booleanKind && t.kind <= doubleKind }
func (t *typ) numeric() bool   { return t.kind >= byteKind && t.kind <= doubleKind }
func (t *typ) integral() bool  { return t.kind >= byteKind && t.kind <= longKind }
func (t *typ) floating() bool  { return t.kind == floatKind || t.kind == doubleKind }
func (t *typ) reference() bool { return t.kind >= nullKind }

// String is the type as the compiler's errors print it, without packages.
func (t *typ) String() string { return t.text(func(c *class) string { return c.simple() }) }

// fullName is the type with its package, erased, as exceptions print it.
func (t *typ) fullName() string {
	return erase(t).text(func(c *class) string { return c.name })
}

func (t *typ) text(className func(*class) string) string {
	switch t.kind {
	case arrayKind:
		return t.elem.text(className) + "[]"
	case classKind:
		if len(t.args) == 0 {
			return className(t.class)
		}
		args := make([]string, len(t.args))
		for i, a := range t.args {
			args[i] = a.text(className)
		}
		return className(t.class) + "<" + strings.Join(args, ",") + ">"
	}
	return t.name
}

// classType is a class with the types that its parameters are.
func classType(c *class, args ...*typ) *typ {
	t := &typ{kind: classKind, class: c, args: args, size: 1}
	for _, a := range args {
		t.size += a.size
	}
	return t.checkSize()
}

func arrayOf(elem *typ) *typ {
	t := &typ{kind: arrayKind, elem: elem, size: elem.size + 1}
	return t.checkSize()
}

func same(a, b *typ) bool {
	return a == b || a.kind == b.kind && a.class == b.class && a.name == b.name &&
		(a.elem == nil || same(a.elem, b.elem)) && slices.EqualFunc(a.args, b.args, same)
}

// erase is a type without the types of its parameters.
func erase(t *typ) *typ {
	switch {
	case t.kind == varKind:
		return classObject.typ()
	case t.kind == arrayKind:
		return arrayOf(erase(t.elem))
	case len(t.args) > 0:
		return t.class.typ()
	}
	return t
}

// substitute replaces type variables; unknown ones become Object.
func substitute(t *typ, vars map[string]*typ) *typ {
	switch {
	case t.kind == varKind:
		if known := vars[t.name]; known != nil {
			return known
		}
		return classObject.typ()
	case t.kind == arrayKind:
		return arrayOf(substitute(t.elem, vars))
	case len(t.args) > 0:
		args := make([]*typ, len(t.args))
		for i, a := range t.args {
			if a.kind == varKind && vars[a.name] == nil {
				return t.class.typ() // the receiver is raw
			}
			args[i] = substitute(a, vars)
		}
		return classType(t.class, args...)
	}
	return t
}

// bindings are the types of a class's parameters in t.
func bindings(t *typ) map[string]*typ {
	vars := make(map[string]*typ, len(t.args))
	for i, a := range t.args {
		vars[t.class.params[i]] = a
	}
	return vars
}

// asSuper is t seen as the class c that it extends or implements, or nil.
func asSuper(t *typ, c *class) *typ {
	switch t.kind {
	case arrayKind:
		if c == classObject {
			return c.typ()
		}
		return nil
	case classKind:
	default:
		return nil
	}
	if t.class == c {
		return t
	}
	if c == classObject {
		return c.typ()
	}
	for _, s := range t.class.supers {
		if found := asSuper(s, c); found != nil {
			if len(t.args) == 0 && len(t.class.params) > 0 {
				return erase(found)
			}
			return substitute(found, bindings(t))
		}
	}
	return nil
}

// isSubtype reports whether a reference of type a may be used as a b. Raw types fit their generic forms.
func isSubtype(a, b *typ) bool {
	switch {
	case a == b || a.kind == nullKind && b.reference():
		return true
	case !a.reference() || !b.reference():
		return false
	case b.kind == varKind, b.kind == classKind && b.class == classObject:
		return true
	case b.kind == arrayKind:
		return a.kind == arrayKind && (same(a.elem, b.elem) || isSubtype(a.elem, b.elem))
	case b.kind != classKind:
		return false
	}
	s := asSuper(a, b.class)
	if s == nil {
		return false
	}
	return len(s.args) == 0 || len(b.args) == 0 || slices.EqualFunc(s.args, b.args, same)
}

// widens reports whether a primitive value of type a becomes a b by itself.
func widens(a, b *typ) bool {
	switch {
	case a == b:
		return true
	case !a.numeric() || !b.numeric():
		return false
	case b.kind == charKind, a.kind == charKind && b.kind < intKind:
		return false
	}
	return a.kind < b.kind
}

// boxes are the classes of the primitive types.
var boxes = map[kind]*class{
	booleanKind: classBoolean, byteKind: classByte, shortKind: classShort, charKind: classCharacter, intKind: classInteger,
	longKind: classLong, floatKind: classFloat, doubleKind: classDouble,
}

// boxed is the class of a primitive type; other types are as they are.
func boxed(t *typ) *typ {
	if c := boxes[t.kind]; c != nil {
		return c.typ()
	}
	return t
}

// unboxed is the primitive type of a boxed one; other types are as they are.
func unboxed(t *typ) *typ {
	if t.kind == classKind && t.class.unboxed != nil {
		return t.class.unboxed
	}
	return t
}

// castable reports whether a cast from a to b may succeed.
func castable(a, b *typ) bool {
	switch {
	case a.kind == voidKind || b.kind == voidKind:
		return false
	case a.numeric() && b.numeric() || a == b:
		return true
	case a.primitive() && b.primitive():
		return false
	case a.primitive():
		return isSubtype(boxed(a), b)
	case b.primitive():
		u := unboxed(a)
		return u.primitive() && widens(u, b) || !u.primitive() && isSubtype(boxed(b), a)
	}
	ea, eb := erase(a), erase(b)
	if isSubtype(ea, eb) || isSubtype(eb, ea) {
		if b.kind == arrayKind {
			return true
		}
		s := asSuper(a, classOf(b))
		return s == nil || isSubtype(s, b)
	}
	if ea.kind == arrayKind || eb.kind == arrayKind {
		return ea.kind == arrayKind && eb.kind == arrayKind && ea.elem.reference() && eb.elem.reference() &&
			castable(ea.elem, eb.elem)
	}
	return ea.class.iface && !eb.class.final || eb.class.iface && !ea.class.final
}

// classOf is the class of a type for asSuper.
func classOf(t *typ) *class {
	if t.kind == classKind {
		return t.class
	}
	return classObject
}

// common is a type that both references have: one of them if it fits, else the first class or interface that they
// share.
func common(a, b *typ) *typ {
	switch {
	case isSubtype(a, b):
		return b
	case isSubtype(b, a):
		return a
	case a.kind != classKind || b.kind != classKind:
		return classObject.typ()
	}
	for _, c := range []*class{classNumber, classList, classSet, classMap, classCollection} {
		x, y := asSuper(a, c), asSuper(b, c)
		if x != nil && y != nil {
			if same(x, y) {
				return x
			}
			return c.typ()
		}
	}
	return classObject.typ()
}
