package functions

import (
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
			Call: strict(t, func(b []byte) []byte {
				var elems [][]byte
				for k := range types.Entries(b) {
					elems = append(elems, k)
				}
				return types.NewSet(keys, elems)
			}),
		}
	}),
	"map_values": unary(mapParameter, func(name string, t types.Type) *Function {
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: &types.List{Elem: t.(*types.Map).Value, Frozen: true},
			Doc: "The values of a map, in the order of its keys.",
			Call: strict(t, func(b []byte) []byte {
				var elems [][]byte
				for _, v := range types.Entries(b) {
					elems = append(elems, v)
				}
				return types.NewList(elems)
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
	"collection_avg": unary(numbersParameter, within("The mean of a set or list of numbers.", func(t types.Type) *Function {
		return aggregateOf("avg", t)
	})),
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
				unread := 0
				for e := range types.Elements(c.Args[0].Bytes) {
					if unread += len(e) + 1; unread > 1024 {
						if unread = 0; p.over() {
							return types.Value{}, p.err
						}
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
	numbersParameter = parameter{text: "numeric_set_or_list", check: requires("a numeric set/list", func(t types.Type) bool {
		e := element(t)
		return e != nil && aggregateOf("sum", e) != nil
	})}
)

// requires makes the check that a type is of a kind. As in Cassandra a clustering column in descending order never is.
func requires(kind string, is func(types.Type) bool) func(string, *Arg, types.Type) error {
	return func(function string, a *Arg, t types.Type) error {
		if is(t) && !a.Desc {
			return nil
		}
		return cqlerr.Invalidf("Function %s requires %s argument, but found argument %s of type %s", function, kind, a.Text, t)
	}
}
