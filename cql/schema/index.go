package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Index is the definition of a secondary index. Its class decides which restrictions it serves.
type Index struct {
	Name    string
	Targets []IndexTarget     // one on users' tables
	Class   string            // of a custom index, as it was written; "" for one of Cassandra's first kind
	Options map[string]string // of a custom index
}

// IndexTarget is a column and the part of it that is indexed.
type IndexTarget struct {
	Column string
	Part   IndexPart
}

// IndexPart is the part of a column that is indexed.
type IndexPart uint8

// The parts: the value of a column that is no collection, parts of collections, and frozen ones as a whole.
const (
	IndexSimple IndexPart = iota
	IndexValues
	IndexKeys
	IndexEntries
	IndexFull
)

var indexParts = [...]string{"", "values", "keys", "entries", "full"}

// String is the word around the column in CQL, in lower case; none for a column alone.
func (p IndexPart) String() string { return indexParts[p] }

// String is the target as CQL writes it.
func (t IndexTarget) String() string {
	if t.Part == IndexSimple {
		return quote.Name(t.Column)
	}
	return t.Part.String() + "(" + quote.Name(t.Column) + ")"
}

// IndexKind is the implementation of an index.
type IndexKind uint8

// The kinds: Cassandra's first one, storage-attached indexes and SSTable-attached ones.
const (
	LegacyIndex IndexKind = iota
	SAI
	SASI
)

// Kind is the kind of an index of a table.
func (x *Index) Kind() IndexKind {
	switch indexClass(x.Class) {
	case saiClass:
		return SAI
	case sasiClass:
		return SASI
	}
	return LegacyIndex
}

// Column is the name of the column that is indexed; one index of Cassandra's own has none.
func (x *Index) Column() string {
	if len(x.Targets) == 0 {
		return ""
	}
	return x.Targets[0].Column
}

// Part is the part of the column that is indexed.
func (x *Index) Part() IndexPart { return x.Targets[0].Part }

// Target is the target as CQL writes it.
func (x *Index) Target() string {
	targets := make([]string, len(x.Targets))
	for i, t := range x.Targets {
		targets[i] = t.String()
	}
	return strings.Join(targets, ", ")
}

// AllOptions are the options with the target and the class, as system_schema.indexes has them.
func (x *Index) AllOptions() map[string]string {
	all := map[string]string{"target": x.Target()}
	if x.Class != "" {
		maps.Copy(all, x.Options)
		all["class_name"] = x.Class
	}
	return all
}

// sameButName reports whether two indexes differ in nothing but their names.
func (x *Index) sameButName(o *Index) bool {
	return x.Class == o.Class && slices.Equal(x.Targets, o.Targets) && maps.Equal(x.Options, o.Options)
}

// CQL is the statement that makes the index on t, as DESCRIBE shows it.
func (x *Index) CQL(t *Table) string {
	text := " INDEX " + quote.Name(x.Name) + " ON " + quote.Name(t.Keyspace) + "." + quote.Name(t.Name) + " (" +
		x.Target() + ")"
	if x.Class == "" {
		return "CREATE" + text + ";"
	}
	text = "CREATE CUSTOM" + text + " USING " + quote.Text(x.Class)
	if len(x.Options) > 0 {
		text += " WITH OPTIONS = " + formatMap(x.Options)
	}
	return text + ";"
}

// WithIndex returns the table with one more index.
func (t *Table) WithIndex(x *Index) *Table {
	spec := *t
	spec.Indexes = append(slices.Clip(t.Indexes), x)
	return NewTable(spec)
}

// WithoutIndex returns the table without the index of that name.
func (t *Table) WithoutIndex(name string) *Table {
	spec := *t
	spec.Indexes = slices.DeleteFunc(slices.Clone(t.Indexes), func(x *Index) bool { return x.Name == name })
	return NewTable(spec)
}

// Index returns the index of that name, or nil.
func (t *Table) Index(name string) *Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// IndexesOn returns the indexes of a column, the oldest first.
func (t *Table) IndexesOn(column string) []*Index {
	var all []*Index
	for _, x := range t.Indexes {
		if x.Column() == column {
			all = append(all, x)
		}
	}
	return all
}

// EqualIndex returns an index that differs from x in nothing but its name, or nil.
func (t *Table) EqualIndex(x *Index) *Index {
	for _, o := range t.Indexes {
		if o.sameButName(x) {
			return o
		}
	}
	return nil
}

// IndexedTable returns the table that has the index of that name, or nil.
func (k *Keyspace) IndexedTable(index string) *Table {
	for _, t := range k.Tables {
		if t.Index(index) != nil {
			return t
		}
	}
	return nil
}

var notWord = regexp.MustCompile(`\W`)

// NewIndexName makes a name for an index that was given none: of its table and the column, if it is one.
func (k *Keyspace) NewIndexName(table string, targets []IndexTarget) string {
	name := table + "_"
	if len(targets) == 1 {
		name += targets[0].Column + "_"
	}
	base := notWord.ReplaceAllString(name+"idx", "")
	free := base
	for i := 1; k.IndexedTable(free) != nil; i++ {
		free = base + "_" + strconv.Itoa(i)
	}
	return free
}

// indexes codes the indexes of a table.
//
//	<n> n × (name class <m> m × (column part) options)
func (c *coder) indexes(t *Table) {
	pointers(c, &t.Indexes, func(x *Index) {
		c.values(&x.Name, &x.Class)
		list(c, &x.Targets, func(target *IndexTarget) {
			if c.values(&target.Column, (*byte)(&target.Part)); target.Part > IndexFull {
				c.fail(fmt.Errorf("index %s is of an unknown part %d of its column", x.Name, target.Part))
			}
		})
		if len(x.Targets) != 1 && c.reading {
			c.fail(fmt.Errorf("index %s has %d columns", x.Name, len(x.Targets)))
		}
		if c.values(&x.Options); len(x.Options) == 0 {
			set(c, &x.Options, nil)
		}
	})
}

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

// IndexedType is the type of the values in an index of a column; for entries of maps it returns the types of both
// parts.
func IndexedType(c *Column, part IndexPart) (indexed, entryKey types.Type) {
	if !types.IsMultiCell(c.Type) {
		return c.Type, nil
	}
	key, value := types.ElementTypes(c.Type)
	switch {
	case value == nil:
		return c.Type, nil
	case key != nil && part == IndexKeys:
		return key, nil
	case key != nil && part == IndexEntries:
		return value, key
	}
	return value, nil
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
