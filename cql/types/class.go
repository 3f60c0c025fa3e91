package types

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// className is the class name of a type. In a type that is frozen, or a tuple, what is inside is not
// marked as frozen again.
func className(t Type, insideFrozen bool) string {
	return classNamer{}.name(t, insideFrozen)
}

// ExactClassName is ClassName with all that is frozen marked, inside frozen types too: ClassName does not tell
// frozen<list<vector<set<int>, 1>>> from frozen<list<vector<frozen<set<int>>, 1>>>. FromClassName gives back t.
func ExactClassName(t Type) string { return classNamer{exact: true}.name(t, false) }

// classNamer writes class names, with every FrozenType if it is exact.
type classNamer struct{ exact bool }

// name is the class name of t where insideFrozen says that no FrozenType is written.
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

// frozenClass is the full name of a class, in FrozenType if it is frozen.
func frozenClass(class string, frozen bool) string {
	class = marshalPackage + class
	if frozen {
		return marshalPackage + "FrozenType(" + class + ")"
	}
	return class
}

// simpleClasses has the types of class names without parameters, without their package.
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
