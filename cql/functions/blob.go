package functions

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// blobFunctions show the bytes of each type as a blob and take them back. Each has its name with
// underscores and without.
var blobFunctions = func() []Function {
	var fs []Function
	for _, underscore := range []string{"_", ""} {
		for _, t := range append(types.Natives(), types.Empty) {
			if t != types.Blob {
				fs = append(fs, conversions(t.String(), underscore, t)...)
			}
		}
		fs = append(fs, conversions("varchar", underscore, types.Text)...)
	}
	return slices.Clip(fs)
}()

// blobExamples are examples of the conversions of some types: a literal and its bytes.
var blobExamples = map[string][2]string{
	"ascii":    {"'a'", "0x61"},
	"bigint":   {"(bigint)-1", "0xffffffffffffffff"},
	"boolean":  {"true", "0x01"},
	"counter":  {"(counter)1", "0x0000000000000001"},
	"date":     {"(date)'1970-01-01'", "0x80000000"},
	"decimal":  {"1.10", "0x000000026e"},
	"double":   {"1.0", "0x3ff0000000000000"},
	"duration": {"1mo2d3ns", "0x020406"},
	"float":    {"(float)1.0", "0x3f800000"},
	"inet":     {"'127.0.0.1'", "0x7f000001"},
	"int":      {"5", "0x00000005"},
	"smallint": {"(smallint)5", "0x0005"},
	"text":     {"'é'", "0xc3a9"},
	"tinyint":  {"(tinyint)-1", "0xff"},
	"uuid":     {"50554d6e-29bb-11e5-b345-feff819cdc9f", "0x50554d6e29bb11e5b345feff819cdc9f"},
	"varint":   {"128", "0x0080"},
}

// conversions are the functions to and from blob of the type called name.
func conversions(name, underscore string, t types.Type) []Function {
	to := Function{
		Name: name + underscore + "as" + underscore + "blob", Args: []types.Type{t}, Returns: types.Blob,
		Doc:  "The bytes of a value of type " + name + ".",
		Call: func(c *Call) (types.Value, error) { return c.Args[0], nil },
	}
	from := Function{
		Name: "blob" + underscore + "as" + underscore + name, Args: []types.Type{types.Blob}, Returns: t,
		Doc: "The value of type " + name + " that has those bytes.",
	}
	if t == types.TimeUUID {
		from.Returns = types.LegacyTimeUUID
	}
	if e, ok := blobExamples[name]; ok {
		to.Examples = []Example{{to.Name + "(" + e[0] + ")", e[1]}}
		if t != types.Counter { // which null is no value of
			to.Examples = append(to.Examples, Example{to.Name + "(null)", "null"})
		}
		from.Examples = []Example{{to.Name + "(" + from.Name + "(" + e[1] + "))", e[1]}}
	}
	from.Call = fromBlob(from.Name, name, t)
	return []Function{to, from}
}

// fromBlob checks the bytes.
func fromBlob(function, typeName string, t types.Type) func(*Call) (types.Value, error) {
	return func(c *Call) (types.Value, error) {
		b := c.Args[0].Bytes
		if b == nil {
			return types.Value{}, nil
		}
		if t.Validate(b) != nil {
			return types.Value{}, cqlerr.Invalidf("In call to function system.%s, value %s is not a valid "+
				"binary representation for type %s", function, types.Blob.Format(b), typeName)
		}
		return c.Args[0], nil
	}
}
