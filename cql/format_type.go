package cql

import (
	"strconv"

	"github.com/cqld/cqld/cql/quote"
)

// String prints type<args>, inside frozen<> if that was written.
func (t TypeName) String() string {
	var p printer
	p.when(t.Frozen, "frozen<")
	switch {
	case t.IsClass():
		p.text(quote.Text(t.Class))
	case t.User:
		p.text(QualifiedName{Keyspace: t.Keyspace, Name: t.Name}.userTypeString())
	default:
		p.text(t.Name)
	}
	if len(t.Args) > 0 {
		p.text("<")
		each(&p, t.Args, ", ", func(arg TypeName) { p.text(arg.String()) })
		p.when(t.Name == "vector", ", "+strconv.Itoa(t.Dimension))
		p.text(">")
	}
	p.when(t.Frozen, ">")
	return p.String()
}

// notUserTypes are the words that need quotes to be the name of a user type without a keyspace: native
// types, functions of cells, and the names that are kept for types of the future.
var notUserTypes = wordSet(`ascii bigint blob boolean counter date decimal double duration float inet int
	smallint text time timestamp timeuuid tinyint uuid varchar varint ttl count writetime maxwritetime cast
	json distinct byte complex enum interval macaddr bitstring`)

func (n QualifiedName) userTypeString() string {
	name := ident(n.Name)
	if notUserTypes[n.Name] {
		name = `"` + n.Name + `"`
	}
	if n.Keyspace == "" {
		return name
	}
	return ident(n.Keyspace) + "." + name
}
