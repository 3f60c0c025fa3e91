package define

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// dropping is what DROP FUNCTION and DROP AGGREGATE have in common.
type dropping struct {
	what           string // FUNCTION or AGGREGATE
	keyspace, name string
	args           written
	given          bool // the arguments were: else there may be one of the name only
	shown          string
}

// String is what is to be dropped as texts name it.
func (d *dropping) String() string {
	name := d.keyspace + "." + d.name
	if d.given {
		name += "(" + d.args.String() + ")"
	}
	return name
}

// resolve finds the types of the arguments, refusing a name of several without them.
func (d *dropping) resolve(k *schema.Keyspace) ([]types.Type, error) {
	if !d.given && len(callablesNamed(k, d.name)) > 1 {
		return nil, cqlerr.Invalidf("'DROP %s %s' matches multiple function definitions; specify the argument types by "+
			"issuing a statement like 'DROP %[1]s %[2]s (type, type, ...)'. You can use cqlsh 'DESCRIBE %[1]s %[2]s' command "+
			"to find all overloads", d.what, d.name)
	}
	if err := d.args.checkNotFrozen("Argument"); err != nil {
		return nil, err
	}
	return d.args.resolve(k)
}

// newDropping is the work on a statement whose arguments may be missing.
func newDropping(what, keyspace, name string, args *cql.Signature) *dropping {
	d := &dropping{what: what, keyspace: keyspace, name: name, given: args != nil}
	if args != nil {
		d.args = slices.Clone(args.Types)
	}
	return d
}

// prepare is what Cassandra does to know which permissions are needed, and refuses the server's own keyspaces.
func (d *dropping) prepare(k *schema.Keyspace) error {
	if k != nil && len(callablesNamed(k, d.name)) > 0 {
		if _, err := d.args.resolve(k); err != nil {
			return err
		}
	}
	return schema.CheckKeyspaceName(d.keyspace)
}

// found is the function or aggregate that is meant, or nil. named gives all of a name, exact the one with arguments.
func found[T any](
	d *dropping, k *schema.Keyspace, named func(string) []*T, exact func(string, []types.Type) *T,
) (*T, error) {
	if err := d.prepare(k); err != nil {
		return nil, err
	}
	d.shown = d.String() // before user types get the names of their keyspaces
	if k == nil {
		return nil, nil
	}
	args, err := d.resolve(k)
	if err != nil {
		return nil, err
	}
	if d.given {
		return exact(d.name, args), nil
	}
	if all := named(d.name); len(all) == 1 {
		return all[0], nil
	}
	return nil, nil
}

// droppedFrom plans where something is dropped whose arguments may be missing.
func (p *planning) droppedFrom(name cql.QualifiedName, args *cql.Signature) (keyspace string, err error) {
	if args != nil {
		if err := checkTypeClasses(args.Types...); err != nil {
			return "", err
		}
	}
	return p.scope.Keyspace(name)
}
