package functions

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// collectionFamilies look into one collection.
var collectionFamilies = map[string]*family{
	"map_keys": unary(mapParameter, func(name string, t types.Type) *Function {
		keys := &types.Set{Elem: t.(*types.Map).Key, Frozen: true}
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: keys,
			Doc:    "The keys of a map.",
			Costly: true,
			Call: ofMap(func(p *pacer, b []byte) ([]byte, error) {
				elems := types.NewPacked(types.DecodeCount(b))
				elems.Step = p.step
				for k, v := range types.Entries(b) {
					if elems.Add(k); p.read(len(k) + len(v) + 1) {
						return nil, p.err
					}
				}
				return elems.Set(keys), elems.Err()
			}),
		}
	}),
	"map_values": unary(mapParameter, func(name string, t types.Type) *Function {
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: &types.List{Elem: t.(*types.Map).Value, Frozen: true},
			Doc:    "The values of a map, in the order of its keys.",
			Costly: true,
			Call: ofMap(func(p *pacer, b []byte) ([]byte, error) {
				list := binary.BigEndian.AppendUint32(make([]byte, 0, len(b)), uint32(types.DecodeCount(b)))
				for k, v := range types.Entries(b) {
					if list = types.AppendElement(list, v); p.read(len(k) + len(v) + 1) {
						return nil, p.err
					}
				}
				return list, nil
			}),
		}
	}),
	"collection_count": unary(collectionParameter, func(name string, t types.Type) *Function {
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: types.Int,
			Doc:  "The number of elements of a collection.",
			Call: strict(t, func(b []byte) []byte { return types.EncodeInt(int32(types.DecodeCount(b))) }),
		}
	}),
	"collection_min": unary(elementsParameter, within("The least element of a set or list.", extreme("min", -1))),
	"collection_max": unary(elementsParameter, within("The greatest element of a set or list.", extreme("max", 1))),
	"collection_sum": unary(numbersParameter, within("The sum of a set or list of numbers.", func(t types.Type) *Function {
		return aggregateOf("sum", t)
	})),
	"collection_avg": unary(numbersParameter, within("The mean of a set or list of numbers.",
		func(t types.Type) *Function {
			return aggregateOf("avg", t)
		})),
}

// ofMap makes a Call of a function of one map, which may be large: null gives null.
func ofMap(f func(p *pacer, b []byte) ([]byte, error)) func(*Call) (types.Value, error) {
	return func(c *Call) (types.Value, error) {
		if c.Args[0].Bytes == nil {
			return types.Value{}, nil
		}
		b, err := f(c.pacer(), c.Args[0].Bytes)
		return types.Value{Bytes: b}, err
	}
}

// within makes an aggregate a function of one collection, whose elements are its rows.
func within(doc string, aggregate func(t types.Type) *Function) func(string, types.Type) *Function {
	return func(name string, t types.Type) *Function {
		elem := element(t)
		f := aggregate(elem)
		returns := f.Returns
		if elem == types.TimeUUID {
			returns = elem
		}
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: returns, Doc: doc, Costly: true,
			Call: func(c *Call) (types.Value, error) {
				if c.Args[0].Bytes == nil {
					return types.Value{}, nil
				}
				state, p := f.Init(), c.pacer()
				for e := range types.Elements(c.Args[0].Bytes) {
					if p.read(len(e) + 1) {
						return types.Value{}, p.err
					}
					if err := state.Add([]types.Value{{Bytes: e}}); err != nil {
						return types.Value{}, err
					}
				}
				return state.Result()
			},
		}
	}
}

// aggregateOf is the aggregate of that name for values of type t; nil if there is none.
func aggregateOf(name string, t types.Type) *Function {
	for _, f := range byName[name] {
		if f.Args[0] == t {
			return f
		}
	}
	return nil
}

// element is the type of the elements of a set or list; nil for other types.
func element(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.List:
		return t.Elem
	case *types.Set:
		return t.Elem
	}
	return nil
}

// The parameters of functions of collections.
var (
	mapParameter = parameter{text: "map", check: requires("a map", func(t types.Type) bool {
		_, ok := t.(*types.Map)
		return ok
	})}
	collectionParameter = parameter{text: "collection", check: requires("a collection", func(t types.Type) bool {
		_, isMap := t.(*types.Map)
		return isMap || element(t) != nil
	})}
	elementsParameter = parameter{text: "numeric_set_or_list", check: requires("a set or list", func(t types.Type) bool {
		return element(t) != nil
	})}
	numbersParameter = parameter{
		text: "numeric_set_or_list",
		check: requires("a numeric set/list", func(t types.Type) bool {
			e := element(t)
			return e != nil && aggregateOf("sum", e) != nil
		}),
	}
)

// requires makes the check that a type is of a kind. As in Cassandra a clustering column in descending order never is.
func requires(kind string, is func(types.Type) bool) func(string, *Arg, types.Type) error {
	return func(function string, a *Arg, t types.Type) error {
		if is(t) && !a.Desc {
			return nil
		}
		return cqlerr.Invalidf("Function %s requires %s argument, but found argument %s of type %s", function, kind,
			a.Text, t)
	}
}
