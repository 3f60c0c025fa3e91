package define

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// typeNames lists the user types of a keyspace by name, whatever their case.
func typeNames(k *schema.Keyspace) (rows [][][]byte) {
	all := k.SortedTypes()
	slices.SortStableFunc(all, func(a, b *types.UserType) int { return compareFolded(a.Name, b.Name) })
	for _, t := range all {
		rows = append(rows, textRow(quote.Name(k.Name), "type", quote.Name(t.Name)))
	}
	return rows
}

// userType is one user type.
func (d *Describe) userType(c *schema.Catalog) ([][][]byte, error) {
	k, err := d.within(c)
	if err != nil {
		return nil, err
	}
	t := k.Types[d.Name]
	if t == nil {
		return nil, cqlerr.Invalidf("User defined type '%s' not found in '%s'", d.Name, d.Keyspace)
	}
	return [][][]byte{typeRow(t)}, nil
}

func typeRow(t *types.UserType) [][]byte {
	return textRow(quote.Name(t.Keyspace), "type", quote.Name(t.Name), schema.TypeCQL(t))
}
