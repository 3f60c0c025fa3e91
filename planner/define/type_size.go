package define

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// The largest types that can be defined: they are stored, compared and sent with all that is inside them, and each user
// type may double those that it is made of.
const (
	maxTypeParts = 4096
	maxTypeDepth = 200
)

// checkTypeSize refuses types that are too large.
func checkTypeSize(t types.Type) error {
	if parts, depth := types.Size(t); parts > maxTypeParts || depth > maxTypeDepth {
		return cqlerr.Invalidf("A type may consist of at most %d others, nested at most %d times", maxTypeParts, maxTypeDepth)
	}
	return nil
}

// checkEachSize is checkTypeSize of several types.
func checkEachSize(all []types.Type) error {
	for _, t := range all {
		if err := checkTypeSize(t); err != nil {
			return err
		}
	}
	return nil
}

// checkTypeSizes refuses a change of a type that makes any that uses it too large.
func checkTypeSizes(k *schema.Keyspace, name string) error {
	for _, t := range k.Types {
		if types.UsesUserType(t, name) {
			if err := checkTypeSize(t); err != nil {
				return err
			}
		}
	}
	for _, table := range k.TablesAndViews() {
		if !table.UsesType(name) {
			continue
		}
		for _, c := range table.Columns {
			if err := checkTypeSize(c.Type); err != nil {
				return err
			}
		}
	}
	for _, f := range k.Functions {
		if err := checkEachSize(append(slices.Clip(f.Args), f.Returns)); err != nil {
			return err
		}
	}
	for _, a := range k.Aggregates {
		if err := checkEachSize(append(a.StateArgs(), a.Returns)); err != nil {
			return err
		}
	}
	return nil
}
