package types

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// className is the class name of a type. The parts of a frozen type or tuple are not marked as frozen again.
func className(t Type, insideFrozen bool) string {
	return classNamer{}.name(t, insideFrozen)
}

// ExactClassName is ClassName with every frozen type marked, also inside frozen types, so that FromClassName returns
// t again: ClassName does not distinguish frozen<list<vector<set<int>, 1>>> from frozen<list<vector<frozen<set<int>>,
// 1>>>.
func ExactClassName(t Type) string { return classNamer{exact: true}.name(t, false) }

// classNamer writes class names, with every FrozenType if it is exact.
type classNamer struct{ exact bool }

// name is the class name of t, without FrozenType if insideFrozen.
func (n classNamer) name(t Type, insideFrozen bool) string {
	inner := func(frozen bool) func(Type) string {
		return func(e Type) string { return n.name(e, !n.exact && (insideFrozen || frozen)) }
	}
	switch t := t.(type) {
	case *List:
		return frozenClass("ListType("+inner(t.Frozen)(t.Elem)+")", t.Frozen && !insideFrozen)
	case *Set:
		return frozenClass("SetType("+inner(t.Frozen)(t.Elem)+")", t.Frozen && !insideFrozen)
	case *Map:
		params := joinTypes([]Type{t.Key, t.Value}, ",", inner(t.Frozen))
		return frozenClass("MapType("+params+")", t.Frozen && !insideFrozen)
	case *Tuple:
		return marshalPackage + "TupleType(" + joinTypes(t.Elems, ",", inner(true)) + ")"
	case *UserType:
		params := t.Keyspace + "," + hex.EncodeToString([]byte(t.Name))
		for _, f := range t.Fields {
			params += "," + hex.EncodeToString([]byte(f.Name)) + ":" + inner(t.Frozen)(f.Type)
		}
		return frozenClass("UserType("+params+")", t.Frozen && !insideFrozen)
	case *Vector:
		return marshalPackage + "VectorType(" + inner(false)(t.Elem) + " , " + strconv.Itoa(t.Dim) + ")"
	}
	return t.ClassName()
}

// frozenClass adds the package, and FrozenType if frozen.
func frozenClass(class string, frozen bool) string {
	class = marshalPackage + class
	if frozen {
		return marshalPackage + "FrozenType(" + class + ")"
	}
	return class
}

// simpleClasses maps class names without parameters, and without package, to types.
var simpleClasses = func() map[string]Type {
	m := map[string]Type{
		"DateType": Timestamp, "EmptyType": Empty, "LegacyTimeUUIDType": TimeUUID, "LexicalUUIDType": LexicalUUID,
	}
	for _, t := range natives {
		m[strings.TrimPrefix(t.ClassName(), marshalPackage)] = t
	}
	return m
}()

// customClasses are the classes that may be types of columns though CQL has no name for them.
var customClasses = map[string]bool{
	"CompositeType": true, "DynamicCompositeType": true, "PartitionerDefinedOrder": true,
}

// FromClassName returns the type of a class name, with or without its package.
func FromClassName(class string) (Type, error) {
	if strings.TrimSpace(class) == "" {
		return Blob, nil
	}
	p := classParser{rest: class}
	t, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); p.rest != "" {
		return nil, invalidf("Syntax error parsing '%s': unexpected '%s'", class, p.rest)
	}
	return t, nil
}

// maxClassDepth bounds how deep class names may be nested.
const maxClassDepth = 1024

// classParser reads a class name with parameters in parentheses.
type classParser struct{ rest string }

// skipSpace skips white space.
func (p *classParser) skipSpace() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

// take skips white space and reads s.
func (p *classParser) take(s string) bool {
	p.skipSpace()
	var found bool
	p.rest, found = strings.CutPrefix(p.rest, s)
	return found
}

// word reads up to a delimiter.
func (p *classParser) word() string {
	p.skipSpace()
	n := strings.IndexAny(p.rest, "(),: \t\n")
	if n < 0 {
		n = len(p.rest)
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return w
}

// parse reads one class with its parameters.
func (p *classParser) parse(depth int) (Type, error) {
	before := p.rest
	full := p.word()
	name := strings.TrimPrefix(full, marshalPackage)
	if depth > maxClassDepth || name == "" {
		return nil, invalidf("Syntax error parsing '%s'", before)
	}
	if t, ok := simpleClasses[name]; ok {
		return t, nil
	}
	switch name {
	case "UserType":
		t, err := p.userType(depth)
		if err != nil {
			return nil, invalidDefinition(name)
		}
		return t, nil
	case "VectorType":
		return p.vector(depth)
	case "ListType", "SetType", "MapType", "TupleType", "FrozenType", "ReversedType":
		params, err := p.params(depth)
		if err != nil {
			return nil, err
		}
		return parametrized(name, params)
	}
	if !customClasses[name] {
		return nil, unknownClass(full)
	}
	return p.custom(name, depth)
}

// unknownClass is the error for a class that is not a type.
func unknownClass(name string) error {
	if !strings.Contains(name, ".") {
		name = marshalPackage + name
	}
	return invalidf("Unable to find abstract-type class '%s'", name)
}

// params reads types in parentheses.
func (p *classParser) params(depth int) ([]Type, error) {
	if !p.take("(") {
		return nil, invalidf("Syntax error parsing '%s'", p.rest)
	}
	var params []Type
	for {
		t, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		params = append(params, t)
		if p.take(")") {
			return params, nil
		}
		if !p.take(",") {
			return nil, invalidf("Syntax error parsing '%s'", p.rest)
		}
	}
}

// invalidDefinition is the error for a class with wrong parameters.
func invalidDefinition(name string) error {
	return invalidf("Invalid definition for comparator %s%s.", marshalPackage, name)
}

// parametrized makes a type from its parameters.
func parametrized(name string, params []Type) (Type, error) {
	want := map[string]int{"MapType": 2, "TupleType": len(params)}[name]
	if len(params) != max(1, want) {
		return nil, invalidDefinition(name)
	}
	switch name {
	case "ListType":
		return &List{Elem: params[0]}, nil
	case "SetType":
		return &Set{Elem: params[0]}, nil
	case "MapType":
		return &Map{Key: params[0], Value: params[1]}, nil
	case "TupleType":
		return Freeze(&Tuple{Elems: params}), nil
	case "FrozenType":
		return Freeze(params[0]), nil
	}
	return params[0], nil
}

// vector reads (T , n).
func (p *classParser) vector(depth int) (Type, error) {
	if !p.take("(") {
		return nil, invalidf("Syntax error parsing '%s'", p.rest)
	}
	elem, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	comma := p.take(",")
	dim, err := strconv.ParseInt(p.word(), 10, 32)
	if !comma || err != nil || !p.take(")") {
		return nil, invalidf("Syntax error parsing '%s'", p.rest)
	}
	if dim < 1 {
		return nil, invalidf("vectors may only have positive dimensions; given %d", dim)
	}
	return &Vector{Elem: elem, Dim: int(dim)}, nil
}

// userType reads (keyspace,name,field:type,...), the name and fields in hex.
func (p *classParser) userType(depth int) (Type, error) {
	ok := p.take("(")
	t := &UserType{Keyspace: p.word()}
	ok = p.take(",") && ok
	name, err := hex.DecodeString(p.word())
	if !ok || err != nil {
		return nil, invalidf("Syntax error parsing '%s'", p.rest)
	}
	t.Name = string(name)
	for p.take(",") {
		field, err := hex.DecodeString(p.word())
		if err != nil || !p.take(":") {
			return nil, invalidf("Syntax error parsing '%s'", p.rest)
		}
		elem, err := p.parse(depth + 1)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, Field{Name: string(field), Type: elem})
	}
	if !p.take(")") {
		return nil, invalidf("Syntax error parsing '%s'", p.rest)
	}
	return t, nil
}

// IsReversedClass reports whether a class name is ReversedType, another class in the opposite order. FromClassName
// returns the other class's type.
func IsReversedClass(name string) bool {
	class, _, _ := strings.Cut(name, "(")
	return strings.TrimPrefix(strings.TrimSpace(class), marshalPackage) == "ReversedType"
}
