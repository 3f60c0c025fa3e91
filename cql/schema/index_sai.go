package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// The options of storage-attached indexes: for preparing text for comparison, and for vectors.
var (
	saiTextOptions   = []string{"case_sensitive", "normalize", "ascii"}
	saiVectorOptions = []string{
		"maximum_node_connections", "construction_beam_width", "similarity_function",
		"optimize_for",
	}
)

// saiTypes are the types that have storage-attached indexes, beside those made of others, which have them frozen.
var saiTypes = []types.Type{
	types.ASCII, types.BigInt, types.Boolean, types.Date, types.Decimal, types.Double, types.Float, types.Inet, types.Int,
	types.SmallInt, types.Text, types.Time, types.Timestamp, types.TimeUUID, types.TinyInt, types.UUID, types.VarInt,
}

// checkSAI refuses a storage-attached index that t cannot have.
func checkSAI(t *Table, x *Index) error {
	keys := slices.Collect(maps.Keys(x.Options))
	slices.Sort(keys)
	unknown := slices.DeleteFunc(hashOrder(slices.Clone(keys)), func(k string) bool {
		return slices.Contains(saiTextOptions, k) || slices.Contains(saiVectorOptions, k)
	})
	switch {
	case len(unknown) > 0:
		return cqlerr.Configf("Properties specified [%s] are not understood by StorageAttachedIndex",
			strings.Join(hashOrderFrom(unknown, 2), ", "))
	case len(x.Targets) > 1:
		return cqlerr.Invalidf("A storage-attached index cannot be created over multiple columns: %s", x.Target())
	case len(x.Targets) == 0:
		return cqlerr.Invalidf("Failed to retrieve target column for: ")
	}
	for _, o := range t.Indexes {
		if o.Kind() == SAI && o.Targets[0] == x.Targets[0] {
			return cqlerr.Invalidf("Cannot create more than one storage-attached index on the same column: %s", x.Column())
		}
	}
	c := t.Column(x.Column())
	of, key := IndexedType(c, x.Part())
	if err := checkSAIText(c, x, of, key); err != nil {
		return err
	}
	if err := checkSAIVector(x, of, key); err != nil {
		return err
	}
	if key != nil {
		if err := checkSAIType(key); err != nil {
			return err
		}
	}
	return checkSAIType(of)
}

// checkSAIText refuses options for text that are wrong, or are for something else.
func checkSAIText(c *Column, x *Index, of, key types.Type) error {
	given := map[string]string{}
	for _, name := range saiTextOptions {
		if value, ok := x.Options[name]; ok {
			given[name] = value
		}
	}
	if len(given) == 0 {
		return nil
	}
	if c.Kind.IsKey() {
		return cqlerr.Invalidf("Analysis options are not supported on primary key columns, but found %s", formatMap(given))
	}
	if key != nil || !isText(of) {
		return cqlerr.Invalidf("CQL type %s cannot be analyzed.", indexedTypeName(of, key))
	}
	for _, name := range hashOrder(slices.Sorted(maps.Keys(given))) {
		switch value := given[name]; {
		case value == "":
			return cqlerr.Invalidf("Empty value for boolean option '%s'", name)
		case !strings.EqualFold(value, "true") && !strings.EqualFold(value, "false"):
			return cqlerr.Invalidf("Illegal value for boolean option '%s': %s", name, value)
		}
	}
	return nil
}

// checkSAIVector refuses options for vectors that are wrong, or are for something else.
func checkSAIVector(x *Index, of, key types.Type) error {
	given := func(name string) bool { _, ok := x.Options[name]; return ok }
	_, isVector := of.(*types.Vector)
	if slices.ContainsFunc(saiVectorOptions, given) && (key != nil || !isVector) {
		return cqlerr.Invalidf("CQL type %s cannot have vector options", indexedTypeName(of, key))
	}
	const property = "SAI_VECTOR_ALLOW_CUSTOM_PARAMETERS"
	switch {
	case given("maximum_node_connections"):
		return cqlerr.Invalidf("Maximum node connections cannot be set without enabling %s", property)
	case given("construction_beam_width"):
		return cqlerr.Invalidf("Construction beam width cannot be set without enabling %s", property)
	}
	if f := strings.ToUpper(x.Options["similarity_function"]); given("similarity_function") &&
		f != "EUCLIDEAN" && f != "DOT_PRODUCT" && f != "COSINE" {
		return cqlerr.Invalidf("Similarity function %s was not recognized for index null. Valid values are: EUCLIDEAN, "+
			"DOT_PRODUCT, COSINE", f)
	}
	if f := strings.ToUpper(x.Options["optimize_for"]); given("optimize_for") && f != "LATENCY" && f != "RECALL" {
		return cqlerr.Invalidf("optimize_for '%s' was not recognized for index null. Valid values are: LATENCY, RECALL", f)
	}
	if v, ok := of.(*types.Vector); ok && key == nil {
		if v.Elem != types.Float {
			return cqlerr.Invalidf("SAI ANN indexes are only allowed on vector columns with float elements")
		}
		if v.Dim == 1 && x.Similarity() == "COSINE" {
			return cqlerr.Invalidf("Cosine similarity is not supported for single-dimension vectors")
		}
	}
	return nil
}

// checkSAIType refuses types whose values have no storage-attached indexes.
func checkSAIType(t types.Type) error {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType, *types.Vector:
		return nil
	}
	if slices.Contains(saiTypes, t) {
		return nil
	}
	return cqlerr.Invalidf("Unsupported type: %s", t)
}

// indexedTypeName is the name of the indexed type in error texts; entries of maps have a class.
func indexedTypeName(of, key types.Type) string {
	if key != nil {
		return "'org.apache.cassandra.db.marshal.CompositeType(" + key.ClassName() + "," + of.ClassName() + ")'"
	}
	return of.String()
}

// Similarity is the function that a storage-attached index of vectors orders by.
func (x *Index) Similarity() string {
	if f, ok := x.Options["similarity_function"]; ok {
		return strings.ToUpper(f)
	}
	return "COSINE"
}

// VectorIndexes is how many storage-attached indexes of vectors a table has.
func (t *Table) VectorIndexes() int {
	n := 0
	for _, x := range t.Indexes {
		if _, ok := t.Column(x.Column()).Type.(*types.Vector); ok && x.Kind() == SAI {
			n++
		}
	}
	return n
}
