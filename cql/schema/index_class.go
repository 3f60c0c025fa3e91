package schema

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// The classes of custom indexes.
const (
	saiClass  = "org.apache.cassandra.index.sai.StorageAttachedIndex"
	sasiClass = "org.apache.cassandra.index.sasi.SASIIndex"
)

// indexClass is the class that a name means: storage-attached indexes have short ones.
func indexClass(name string) string {
	switch strings.ToLower(name) {
	case "sai", "storageattachedindex":
		return saiClass
	}
	return name
}

// IsSASI reports whether a class as written is that of SASI indexes.
func IsSASI(class string) bool { return indexClass(class) == sasiClass }

// CheckIndex refuses an index that t cannot have, of those whose targets are all right in themselves.
func CheckIndex(t *Table, x *Index) error {
	if !wordName.MatchString(x.Name) {
		return cqlerr.Configf("Illegal index name %s", x.Name)
	}
	switch class := indexClass(x.Class); class {
	case "":
		return nil
	case saiClass:
		return checkSAI(t, x)
	case sasiClass:
		return checkSASI(t, x)
	case "java.lang.Object", "java.lang.String":
		return cqlerr.Configf("Specified Indexer class (%s) does not implement the Indexer interface", class)
	default:
		return cqlerr.Configf("Unable to find custom indexer class '%s'", class)
	}
}

// IndexedType is the type of what an index has of a column, and for entries of maps the types of both parts.
func IndexedType(c *Column, part IndexPart) (t types.Type, key types.Type) {
	if !types.IsMultiCell(c.Type) {
		return c.Type, nil
	}
	switch of := c.Type.(type) {
	case *types.List:
		return of.Elem, nil
	case *types.Set:
		return of.Elem, nil
	case *types.Map:
		switch part {
		case IndexKeys:
			return of.Key, nil
		case IndexEntries:
			return of.Value, of.Key
		}
		return of.Value, nil
	}
	return c.Type, nil
}

// isText reports whether t is one of the types whose values are text.
func isText(t types.Type) bool { return t == types.Text || t == types.ASCII }

// javaMap prints the options of an index as Java does.
func javaMap(m map[string]string, keys []string) string {
	items := hashOrder(keys)
	for i, k := range items {
		items[i] = k + "=" + m[k]
	}
	return "{" + strings.Join(items, ", ") + "}"
}
