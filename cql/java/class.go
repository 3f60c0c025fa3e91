package java

import (
	"slices"
	"strings"
	"sync"
)

// class is a class or interface of the library.
type class struct {
	name     string   // java.util.Map.Entry
	params   []string // K, V
	iface    bool
	abstract bool
	final    bool
	supers   []*typ
	unboxed  *typ
	methods  map[string][]*method // constructors have no name
	fields   map[string]*constantField
	throws   throwKind
	raw      *typ
}

// throwKind tells classes that can be thrown.
type throwKind uint8

const (
	notThrown throwKind = iota
	unchecked
	checked // a body, which catches nothing, cannot throw it
)

// method is a method or a constructor. A native function runs it, in one of the forms that compileCall knows.
type method struct {
	class   *class
	name    string
	static  bool
	vars    []string // type variables
	params  []*typ
	varargs bool
	result  *typ
	price   price
	run     any
}

// constantField is a public constant of a class.
type constantField struct {
	typ   *typ
	value any // as expr.constant, or an object
}

func newClass(name string) *class {
	c := &class{name: name}
	c.raw = &typ{kind: classKind, class: c}
	return c
}

func (c *class) typ() *typ { return c.raw }

// simple is the name without its package.
func (c *class) simple() string {
	if i := strings.Index(c.name, "Map.Entry"); i > 0 {
		return c.name[i:]
	}
	return c.name[strings.LastIndexByte(c.name, '.')+1:]
}

// extends reports whether c is super or below it.
func (c *class) extends(super *class) bool {
	if c == super || super == classObject {
		return true
	}
	for _, s := range c.supers {
		if s.class.extends(super) {
			return true
		}
	}
	return false
}

// declaration describes a class in Java, with the functions that run its methods.
//
//	"final class java.lang.String implements Comparable<String>, CharSequence"
type declaration struct {
	class   *class
	head    string
	methods []native
	fields  []constant
}

// native is a method in Java, without names of parameters, and the function that runs it: "static int max(int, int)".
//
// A literal without a price does not compile, because literals of a native do not name their fields.
type native struct {
	head  string
	price price
	run   any
}

// constant is a field: "int MAX_VALUE".
type constant struct {
	head  string
	value any
}

// library finds classes by their full names, and the imported ones by their simple names.
type library struct {
	byName   map[string]*class
	imported map[string]*class
}

// The packages that Cassandra imports for every function.
var importedPackages = []string{"java.lang.", "java.util."}

var importedClasses = []*class{classByteBuffer, classTupleValue, classUDTValue}

// loadLibrary parses the declarations, once.
var loadLibrary = sync.OnceValue(func() *library {
	lib := &library{byName: make(map[string]*class), imported: make(map[string]*class)}
	all := slices.Concat(langClasses(), numberClasses(), textClasses(), bignumClasses(), collectionClasses(),
		utilClasses(), timeClasses(),
		cassandraClasses(), exceptionClasses())
	simple := make(map[string]*class) // for the declarations, which name every class without its package
	for _, d := range all {
		d.class.unboxed = unboxedTypes[d.class]
		lib.byName[d.class.name] = d.class
		if simple[d.class.simple()] == nil {
			simple[d.class.simple()] = d.class
		}
		for _, pkg := range importedPackages {
			if rest, ok := strings.CutPrefix(d.class.name, pkg); ok && (!strings.Contains(rest, ".") || rest == "Map.Entry") {
				lib.imported[rest] = d.class
			}
		}
	}
	for _, c := range importedClasses {
		lib.imported[c.simple()] = c
	}
	for _, d := range all {
		h := &headParser{parser: parser{tokens: tokenize(d.head)}, names: simple}
		h.class(d.class)
	}
	for _, d := range all {
		c := d.class
		c.methods, c.fields = make(map[string][]*method), make(map[string]*constantField)
		for _, n := range d.methods {
			h := &headParser{parser: parser{tokens: tokenize(n.head)}, names: simple, params: c.params}
			m := h.method(c)
			m.price, m.run = n.price, n.run
			c.methods[m.name] = append(c.methods[m.name], m)
		}
		for _, f := range d.fields {
			h := &headParser{parser: parser{tokens: tokenize(f.head)}, names: simple}
			t := h.typ()
			c.fields[h.identifier().text] = &constantField{t, f.value}
		}
	}
	return lib
})

// headParser parses the declarations of classes and methods.
type headParser struct {
	parser
	names  map[string]*class
	params []string // type variables
}

func (h *headParser) word(text string) bool {
	if h.peek().text == text {
		h.next()
		return true
	}
	return false
}

func (h *headParser) class(c *class) {
	c.final, c.abstract = h.word("final"), h.word("abstract")
	c.iface = !h.word("class") && h.word("interface")
	c.abstract = c.abstract || c.iface
	h.typeName()
	// The parameters are written as type arguments of the name.
	for _, tok := range h.tokens[:h.at] {
		if tok.kind == identifierToken && len(tok.text) == 1 {
			c.params = append(c.params, tok.text)
		}
	}
	h.params = c.params
	for h.word("extends") || h.word("implements") || h.word(",") {
		c.supers = append(c.supers, h.typ())
	}
	if h.peek().kind != endToken {
		panic("declaration of " + c.name)
	}
}

func (h *headParser) method(c *class) *method {
	m := &method{class: c, static: h.word("static"), result: voidType}
	if h.word("<") {
		for !h.word(">") {
			m.vars = append(m.vars, h.identifier().text)
			h.word(",")
		}
		h.params = append(slices.Clone(h.params), m.vars...)
	}
	if h.peek().text == c.simple() && h.peekAt(1).is("(") {
		h.next()
		m.result = c.typ()
		if len(c.params) > 0 {
			var args []*typ
			for _, p := range c.params {
				args = append(args, &typ{kind: varKind, name: p})
			}
			m.result = classType(c, args...)
		}
	} else {
		m.result = h.typ()
		m.name = h.identifier().text
	}
	h.expect("(")
	for !h.word(")") {
		t := h.typ()
		if h.word("...") {
			t, m.varargs = arrayOf(t), true
		}
		m.params = append(m.params, t)
		h.word(",")
	}
	return m
}

func (h *headParser) typ() *typ { return h.resolve(h.typeName()) }

func (h *headParser) resolve(n *typeName) *typ {
	t := primitives[n.name]
	switch {
	case t != nil:
	case slices.Contains(h.params, n.name):
		t = &typ{kind: varKind, name: n.name}
	default:
		c := h.names[n.name]
		if c == nil {
			panic("declaration with " + n.name)
		}
		t = c.typ()
		if len(n.args) > 0 {
			var args []*typ
			for _, a := range n.args {
				args = append(args, h.resolve(a))
			}
			t = classType(c, args...)
		}
	}
	for range n.dims {
		t = arrayOf(t)
	}
	return t
}
