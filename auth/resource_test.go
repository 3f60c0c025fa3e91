package auth

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// The names are those of system_auth of Cassandra 5.0.8, the texts those of its errors.
func TestResources(t *testing.T) {
	const marshal = "org.apache.cassandra.db.marshal."
	for _, test := range []struct {
		resource   Resource
		name, text string
		above      int // how many resources, with itself
	}{
		{All(Data), "data", "<all keyspaces>", 1},
		{Keyspace("k"), "data/k", "<keyspace k>", 2},
		{AllTables("k"), "data/k/*", "<all tables in k>", 3},
		{Table("k", "t"), "data/k/t", "<table k.t>", 4},
		{All(Roles), "roles", "<all roles>", 1},
		{Role("a/b"), "roles/a/b", "<role a/b>", 2},
		{All(Functions), "functions", "<all functions>", 1},
		{FunctionsIn("k"), "functions/k", "<all functions in k>", 2},
		{
			Function("k", "f", []types.Type{types.Int, &types.List{Elem: types.Text}}),
			"functions/k/f[" + marshal + "Int32Type^" + marshal + "ListType(" + marshal + "UTF8Type)]",
			"<function k.f(int, list<text>)>", 3,
		},
		{Function("k", "f", nil), "functions/k/f[]", "<function k.f()>", 3},
		{All(Beans), "mbean", "<all mbeans>", 1},
		{Bean("a:b=c"), "mbean/a:b=c", "<mbean a:b=c>", 2},
	} {
		if test.resource.Name() != test.name || test.resource.String() != test.text ||
			len(test.resource.Above()) != test.above {
			t.Errorf("%s, %s, above %v, want %s, %s", test.resource.Name(), test.resource, test.resource.Above(), test.name,
				test.text)
		}
		parsed, err := ParseResource(test.name)
		if err != nil || parsed.String() != test.text || parsed.Name() != test.name {
			t.Errorf("%s is read as %s, %v", test.name, parsed, err)
		}
	}
	for _, bad := range []string{"", "nope", "functions/k/f", "functions/k/f[nope"} {
		if r, err := ParseResource(bad); err == nil {
			t.Errorf("%q is read as %s", bad, r)
		}
	}
}

// Nobody who has logged in is refused what everybody may read, and superusers nothing.
func TestCheck(t *testing.T) {
	local, paxos := NewNeed(Select, Table("system", "local")), NewNeed(Select, Table("system", "paxos"))
	anybody := &User{Name: "a", Granted: map[string]Permissions{"data": Every}}
	if err := anybody.Check(&local); err != nil {
		t.Error(err)
	}
	if err := anybody.Check(&paxos); err == nil {
		t.Error("a permission on all keyspaces counts in the server's own")
	}
	for _, u := range []*User{nil, {Super: true}} {
		if err := u.CheckAll([]Need{local, paxos}); err != nil || !u.Has(Drop, All(Data)) {
			t.Errorf("%+v: %v", u, err)
		}
	}
}
