package auth

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// Resource is an object on which permissions are granted, or a set of them.
type Resource struct {
	Kind     Kind
	Keyspace string       // of data and functions; "": all of them
	Object   string       // a table, a role, a function or a bean
	Args     []types.Type // of a function
	Tables   bool         // all tables of the keyspace

	name string
}

// Kind is a kind of resources.
type Kind uint8

// The kinds of resources.
const (
	Data Kind = iota
	Roles
	Functions
	Beans
)

// roots are the names of the sets of all resources of a kind.
var roots = [...]string{Data: "data", Roles: "roles", Functions: "functions", Beans: "mbean"}

// everything are the same sets in texts.
var everything = [...]string{
	Data: "<all keyspaces>", Roles: "<all roles>", Functions: "<all functions>", Beans: "<all mbeans>",
}

// All is the resource above all others of a kind.
func All(k Kind) Resource { return Resource{Kind: k}.named() }

// Keyspace is a keyspace.
func Keyspace(name string) Resource { return Resource{Kind: Data, Keyspace: name}.named() }

// AllTables are the tables of a keyspace.
func AllTables(keyspace string) Resource {
	return Resource{Kind: Data, Keyspace: keyspace, Tables: true}.named()
}

// Table is a table or a view.
func Table(keyspace, name string) Resource {
	return Resource{Kind: Data, Keyspace: keyspace, Object: name}.named()
}

// Role is a role.
func Role(name string) Resource { return Resource{Kind: Roles, Object: name}.named() }

// FunctionsIn are the functions and aggregates of a keyspace.
func FunctionsIn(keyspace string) Resource {
	return Resource{Kind: Functions, Keyspace: keyspace}.named()
}

// Function is a function or an aggregate.
func Function(keyspace, name string, args []types.Type) Resource {
	return Resource{Kind: Functions, Keyspace: keyspace, Object: name, Args: args}.named()
}

// Bean is an MBean, or the MBeans that match a pattern.
func Bean(name string) Resource { return Resource{Kind: Beans, Object: name}.named() }

// Name is the resource's name in system_auth.
func (r Resource) Name() string { return r.name }

// named is the resource with its name.
func (r Resource) named() Resource {
	r.name = roots[r.Kind]
	if r.Keyspace != "" {
		r.name += "/" + r.Keyspace
	}
	switch {
	case r.Tables:
		r.name += "/*"
	case r.Kind == Functions && r.Object != "":
		classes := make([]string, len(r.Args))
		for i, t := range r.Args {
			classes[i] = types.ExactClassName(t)
		}
		r.name += "/" + r.Object + "[" + strings.Join(classes, "^") + "]"
	case r.Object != "":
		r.name += "/" + r.Object
	}
	return r
}

// ParseResource is the resource of a name in system_auth.
func ParseResource(name string) (Resource, error) {
	root, rest, below := strings.Cut(name, "/")
	for kind, r := range roots {
		if r != root {
			continue
		}
		if !below {
			return All(Kind(kind)), nil
		}
		switch Kind(kind) {
		case Roles:
			return Role(rest), nil
		case Beans:
			return Bean(rest), nil
		case Data:
			return parseData(rest), nil
		case Functions:
			return parseFunction(rest)
		}
	}
	return Resource{}, fmt.Errorf("%q is not the name of a resource", name)
}

func parseData(rest string) Resource {
	keyspace, table, below := strings.Cut(rest, "/")
	switch {
	case !below:
		return Keyspace(keyspace)
	case table == "*":
		return AllTables(keyspace)
	}
	return Table(keyspace, table)
}

func parseFunction(rest string) (Resource, error) {
	keyspace, signature, below := strings.Cut(rest, "/")
	if !below {
		return FunctionsIn(keyspace), nil
	}
	name, classes, ok := strings.Cut(strings.TrimSuffix(signature, "]"), "[")
	if !ok {
		return Resource{}, fmt.Errorf("function %q has no arguments", signature)
	}
	var args []types.Type
	if classes != "" {
		for _, class := range strings.Split(classes, "^") {
			t, err := types.FromClassName(class)
			if err != nil {
				return Resource{}, fmt.Errorf("function %q: %w", signature, err)
			}
			args = append(args, t)
		}
	}
	return Function(keyspace, name, args), nil
}

// String is the resource as texts have it.
func (r Resource) String() string {
	switch {
	case r.Keyspace == "" && r.Object == "":
		return everything[r.Kind]
	case r.Kind == Roles:
		return "<role " + r.Object + ">"
	case r.Kind == Beans:
		return "<mbean " + r.Object + ">"
	case r.Kind == Functions && r.Object == "":
		return "<all functions in " + r.Keyspace + ">"
	case r.Kind == Functions:
		texts := make([]string, len(r.Args))
		for i, t := range r.Args {
			texts[i] = t.String()
		}
		return "<function " + r.Keyspace + "." + r.Object + "(" + strings.Join(texts, ", ") + ")>"
	case r.Tables:
		return "<all tables in " + r.Keyspace + ">"
	case r.Object == "":
		return "<keyspace " + r.Keyspace + ">"
	}
	return "<table " + r.Keyspace + "." + r.Object + ">"
}

// Above are the resource and all resources that contain it, from the smallest to the largest.
func (r Resource) Above() []Resource {
	all := []Resource{r}
	root := All(r.Kind)
	if r.name == root.name {
		return all
	}
	if r.Kind == Data && r.Object != "" {
		all = append(all, AllTables(r.Keyspace))
	}
	if r.Kind == Data && (r.Object != "" || r.Tables) {
		all = append(all, Keyspace(r.Keyspace))
	}
	if r.Kind == Functions && r.Object != "" {
		all = append(all, FunctionsIn(r.Keyspace))
	}
	return append(all, root)
}

// Applicable are the permissions that can be granted on the resource.
func (r Resource) Applicable() Permissions {
	const object = Alter | Drop | Authorize
	top := r.Object == ""
	switch r.Kind {
	case Data:
		const rows = object | Select | Modify | Unmask | SelectMasked
		if top {
			return rows | Create
		}
		return rows
	case Roles:
		if top {
			return object | Describe | Create
		}
		return object | Describe
	case Functions:
		if top {
			return object | Execute | Create
		}
		return object | Execute
	}
	return Authorize | Describe | Execute | Modify | Select
}
