package cql

// TypeName is a type as written: int, frozen<list<text>>, ks.address, vector<float, 3>, 'some.Class'.
type TypeName struct {
	Span
	Name      string // list, map, set, tuple, vector, a native name, or a user type's; folded unless quoted
	Keyspace  string // of a user type
	Args      []TypeName
	Dimension int    // of a vector
	Frozen    bool   // written inside frozen<>
	User      bool   // a user type, even if a native type has its name: "int"
	Class     string // a custom class name in quotes; Name is then empty
}

// IsClass reports whether a type was written as a class in quotes, which may be empty.
func (t TypeName) IsClass() bool { return t.Name == "" }
