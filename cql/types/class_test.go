package types

import "testing"

// The names were read from system_schema and from result metadata of Cassandra 5.0.
func TestNames(t *testing.T) {
	const p = marshalPackage
	ut := &UserType{Keyspace: "ty", Name: "u", Fields: []Field{{"a", Int}, {"Odd", &List{Elem: Text}}}}
	for _, test := range []struct {
		t           Type
		name, class string
	}{
		{&List{Elem: Int}, "list<int>", p + "ListType(" + p + "Int32Type)"},
		{
			&List{Elem: Int, Frozen: true}, "frozen<list<int>>",
			p + "FrozenType(" + p + "ListType(" + p + "Int32Type))",
		},
		{
			Freeze(&Map{Key: Text, Value: &Set{Elem: Int}}), "frozen<map<text, frozen<set<int>>>>",
			p + "FrozenType(" + p + "MapType(" + p + "UTF8Type," + p + "SetType(" + p + "Int32Type)))",
		},
		{
			&Map{Key: Text, Value: Freeze(&Set{Elem: Int})}, "map<text, frozen<set<int>>>",
			p + "MapType(" + p + "UTF8Type," + p + "FrozenType(" + p + "SetType(" + p + "Int32Type)))",
		},
		{
			Freeze(&Tuple{Elems: []Type{Int, &List{Elem: Text}}}), "frozen<tuple<int, frozen<list<text>>>>",
			p + "TupleType(" + p + "Int32Type," + p + "ListType(" + p + "UTF8Type))",
		},
		{&Vector{Elem: Float, Dim: 3}, "vector<float, 3>", p + "VectorType(" + p + "FloatType , 3)"},
		{
			&Vector{Elem: Freeze(&List{Elem: Int}), Dim: 2}, "vector<frozen<list<int>>, 2>",
			p + "VectorType(" + p + "FrozenType(" + p + "ListType(" + p + "Int32Type)) , 2)",
		},
		{ut, "u", p + "UserType(ty,75,61:" + p + "Int32Type,4f6464:" + p + "ListType(" + p + "UTF8Type))"},
		{&Custom{Class: p + "LexicalUUIDType"}, "'" + p + "LexicalUUIDType'", p + "LexicalUUIDType"},
	} {
		if got := test.t.String(); got != test.name {
			t.Errorf("got %s, want %s", got, test.name)
		}
		if got := test.t.ClassName(); got != test.class {
			t.Errorf("got %s, want %s", got, test.class)
		}
		back, err := FromClassName(test.class)
		if err != nil || !Equal(back, test.t) {
			t.Errorf("%s became %v, %v", test.class, back, err)
		}
	}
	for _, typ := range Natives() {
		if back, err := FromClassName(typ.ClassName()); err != nil || back != typ {
			t.Errorf("%s became %v, %v", typ.ClassName(), back, err)
		}
	}
}

func TestFromClassName(t *testing.T) {
	for class, want := range map[string]string{
		"Int32Type":                       "int",
		"":                                "blob",
		"DateType":                        "timestamp",
		"ReversedType(Int32Type)":         "int",
		"LegacyTimeUUIDType":              "timeuuid",
		"EmptyType":                       "empty",
		"FrozenType(ListType(Int32Type))": "frozen<list<int>>",
		"VectorType(FloatType,2)":         "vector<float, 2>",
		"CompositeType(Int32Type,UTF8Type)": "'org.apache.cassandra.db.marshal.CompositeType(" +
			"org.apache.cassandra.db.marshal.Int32Type,org.apache.cassandra.db.marshal.UTF8Type)'",
		"Foo":                   "error: Unable to find abstract-type class 'org.apache.cassandra.db.marshal.Foo'",
		"MapType(Int32Type)":    "error: Invalid definition for comparator org.apache.cassandra.db.marshal.MapType.",
		"VectorType(Int32Type)": "error: Syntax error parsing ')'",
		"ListType(":             "error: Syntax error parsing ''",
	} {
		typ, err := FromClassName(class)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = typ.String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", class, got, want)
		}
	}
}

func TestNative(t *testing.T) {
	if v, ok := Native("varchar"); !ok || v != Text {
		t.Errorf("varchar is %v", v)
	}
	if v, ok := Native("list"); ok {
		t.Errorf("list is %v", v)
	}
}
