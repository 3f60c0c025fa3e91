package functions

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
)

// The error texts were recorded from Cassandra 5.0.
func TestFamilies(t *testing.T) {
	ints := &types.List{Elem: types.Int, Frozen: true}
	table := &types.Map{Key: types.Text, Value: types.TimeUUID, Frozen: true}
	pair := &types.Vector{Elem: types.Float, Dim: 2}
	for _, test := range []struct {
		name     string
		args     []Arg
		receiver types.Type
		want     string
	}{
		{"map_keys", []Arg{{Type: table}}, nil, "system.map_keys : (frozen<map<text, timeuuid>>) -> frozen<set<text>>"},
		{"collection_avg", []Arg{{Type: ints}}, nil, "system.collection_avg : (frozen<list<int>>) -> int"},
		{
			"collection_avg",
			[]Arg{{Text: "c", Type: ints, Desc: true}},
			nil,
			"Function system.collection_avg requires a numeric set/list argument, " +
				"but found argument c of type frozen<list<int>>",
		},
		{
			"similarity_cosine",
			[]Arg{{Type: pair}, {Text: "?"}},
			nil,
			"system.similarity_cosine : (vector<float, 2>, vector<float, 2>) -> float",
		},
		{
			"similarity_cosine",
			[]Arg{{Text: "?"}, {Type: pair}},
			types.Float,
			"Function system.similarity_cosine requires a float vector argument, but found argument ? of type float",
		},
		{
			"similarity_cosine",
			[]Arg{{List: true, Elements: 2, Fits: anyFit}, {List: true, Elements: 3, Fits: anyFit}},
			nil,
			"All arguments must have the same vector dimensions",
		},
		{"mask_replace", []Arg{{Text: "NULL"}, {Type: types.Int}}, types.Int, "system.mask_replace : (int, int) -> int"},
		{
			"mask_replace",
			[]Arg{{Text: "NULL"}, {Type: types.Int}},
			nil,
			"Cannot infer type of argument NULL in call to function system.mask_replace(any, any): " +
				"use type casts to disambiguate",
		},
		{"mask_hash", []Arg{{Type: ints}}, nil, "system.mask_hash : (frozen<list<int>>) -> blob"},
		{
			"mask_inner",
			[]Arg{{Likely: types.ASCII, Fits: anyFit}, {}, {}, {}},
			nil,
			"system.mask_inner : (ascii, int, int, text) -> ascii",
		},
		{
			"mask_outer",
			[]Arg{{Type: types.Text}},
			nil,
			"Invalid number of arguments for function system.mask_outer([text|varchar|ascii], int, int, [text])",
		},
	} {
		got := ""
		if f, err := ResolveArgs(test.name, test.args, test.receiver); err != nil {
			got = err.Error()
		} else {
			got = f.String()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func anyFit(types.Type) Fit { return WeakFit }

// Every function that a family makes is described.
func TestFamiliesDocumented(t *testing.T) {
	some := map[string]types.Type{
		"map_keys":   &types.Map{Key: types.Int, Value: types.Int},
		"map_values": &types.Map{Key: types.Int, Value: types.Int},
	}
	for name, f := range families {
		args := make([]types.Type, len(f.params))
		for i := range args {
			switch {
			case some[name] != nil:
				args[i] = some[name]
			case f.params[i].ofList != nil:
				args[i] = f.params[i].ofList(3)
			case f.params[i].fallback != nil:
				args[i] = f.params[i].fallback
			default:
				args[i] = &types.List{Elem: types.Int, Frozen: true}
			}
		}
		made, err := f.declare(name, args, types.Int)
		if err != nil || made.Name != name || made.Doc == "" || (made.Call == nil) == (made.Init == nil) {
			t.Errorf("%s: got %v, %v", name, made, err)
		}
	}
}
