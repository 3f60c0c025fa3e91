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
		{&Vector{Elem: &Set{Elem: Text}, Dim: 2}, "vector<set<text>, 2>", p + "VectorType(" + p + "SetType(" + p +
			"UTF8Type) , 2)"},
		{ut, "u", p + "UserType(ty,75,61:" + p + "Int32Type,4f6464:" + p + "ListType(" + p + "UTF8Type))"},
		{LexicalUUID, "'" + p + "LexicalUUIDType'", p + "LexicalUUIDType"},
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

// TestExactNames has types that have the same class name though one says that the set is frozen.
func TestExactNames(t *testing.T) {
	for _, set := range []Type{&Set{Elem: Int}, &Set{Elem: Int, Frozen: true}} {
		for _, typ := range []Type{
			&List{Elem: &Vector{Elem: set, Dim: 1}, Frozen: true},
			&Tuple{Elems: []Type{&Vector{Elem: &Vector{Elem: set, Dim: 2}, Dim: 1}}},
			&Vector{Elem: &Tuple{Elems: []Type{&Vector{Elem: set, Dim: 1}}}, Dim: 1},
			&Map{Key: Text, Value: set, Frozen: set.(*Set).Frozen},
		} {
			back, err := FromClassName(ExactClassName(typ))
			if err != nil || !Equal(back, typ) || !Equal(Freeze(typ), Freeze(back)) {
				t.Errorf("%s: %s became %v, %v", typ, ExactClassName(typ), back, err)
			}
		}
	}
}

// TestFreezeParts has class names as they may stand in statements and what Cassandra calls the columns' types.
func TestFreezeParts(t *testing.T) {
	for class, want := range map[string]string{
		"Int32Type":                     "int",
		"ListType(ListType(Int32Type))": "list<frozen<list<int>>>",
		"MapType(ListType(Int32Type),SetType(Int32Type))":         "map<frozen<list<int>>, frozen<set<int>>>",
		"SetType(VectorType(SetType(Int32Type), 2))":              "set<vector<frozen<set<int>>, 2>>",
		"VectorType(ListType(SetType(Int32Type)), 2)":             "vector<frozen<list<frozen<set<int>>>>, 2>",
		"TupleType(VectorType(SetType(Int32Type), 2))":            "frozen<tuple<vector<frozen<set<int>>, 2>>>",
		"FrozenType(ListType(VectorType(SetType(Int32Type), 2)))": "frozen<list<vector<frozen<set<int>>, 2>>>",
	} {
		typ, err := FromClassName(class)
		if err != nil || FreezeParts(typ).String() != want {
			t.Errorf("%s: got %v, %v, want %s", class, typ, err, want)
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
