package expr

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Settled is the name of a type with frozen<> wherever the type is frozen: what is inside frozen<> is, and so is what
// tuples are made of, but not the elements of vectors.
func Settled(n cql.TypeName) cql.TypeName { return settled(n, false) }

// settled is Settled of what may stand inside frozen<>.
func settled(n cql.TypeName, frozen bool) cql.TypeName {
	n.Frozen = n.Frozen || frozen && (n.User || len(n.Args) > 0)
	inside := n.Frozen
	if !n.User {
		inside = n.Name == "tuple" || n.Frozen && n.Name != "vector"
	}
	args := make([]cql.TypeName, len(n.Args))
	for i, a := range n.Args {
		args[i] = settled(a, inside)
	}
	n.Args = args
	return n
}

// Qualify writes the keyspace before the names of user types in n that have none. Error texts and names of columns show
// it once a type was looked for.
func Qualify(n *cql.TypeName, keyspace string) {
	if n.User && n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	for i := range n.Args {
		Qualify(&n.Args[i], keyspace)
	}
}

// TypeText is the name of a type as Cassandra's texts show it: settled, without quotes, and without frozen<> where a
// type cannot be anything else.
func TypeText(n cql.TypeName) string { return typeText(Settled(n)) }

// typeText is TypeText of a name that is settled.
func typeText(n cql.TypeName) string {
	text := n.Name
	switch {
	case n.IsClass():
		text = "'" + n.Class + "'"
		if t, err := types.FromClassName(n.Class); err == nil {
			text = "'" + t.ClassName() + "'"
		}
	case n.User && n.Keyspace != "":
		text = n.Keyspace + "." + n.Name
	case len(n.Args) > 0:
		args := make([]string, len(n.Args))
		for i, a := range n.Args {
			args[i] = typeText(a)
		}
		if n.Name == "vector" {
			args = append(args, strconv.Itoa(n.Dimension))
		}
		text += "<" + strings.Join(args, ", ") + ">"
	}
	if n.Frozen && (n.User || n.Name != "tuple" && n.Name != "vector") {
		return "frozen<" + text + ">"
	}
	return text
}

// ErrSetOfDurations refuses a type of sets: durations have no order.
func ErrSetOfDurations(set string) error {
	return cqlerr.Invalidf("Durations are not allowed inside sets: %s", set)
}

// ErrDurationKeys refuses a type of maps whose keys are durations.
func ErrDurationKeys(mapType string) error {
	return cqlerr.Invalidf("Durations are not allowed as map keys: %s", mapType)
}
