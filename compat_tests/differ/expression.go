package main

import "github.com/cqld/cqld/cql/types"

// expression makes expressions of a type, now and then with a mistake in the types.
type expression struct {
	*gen
	columns bool // it may name columns
}

// operators of numbers, with the space around them.
var operators = []string{" + ", " - ", " * ", " / ", " % "}

// numbers are the types of arithmetic.
var numbers = []types.Type{
	types.Int, types.BigInt, types.TinyInt, types.SmallInt, types.VarInt, types.Float, types.Double, types.Decimal,
}

// isNumber reports whether t is one of numbers.
func isNumber(t types.Type) bool {
	for _, n := range numbers {
		if n == t {
			return true
		}
	}
	return false
}

// of is an expression of a type, with at most so many levels.
func (e expression) of(t types.Type, depth int) *node {
	if e.percent(4) {
		t = pick(e.gen, scalars)
	}
	if depth == 0 || e.percent(15) {
		return e.leaf(t)
	}
	_, native := types.Native(t.String())
	switch k := e.IntN(100); {
	case k < 12:
		return seq(words("("+t.String()+")"), e.of(t, depth-1))
	case k < 20 && native && t != types.Duration:
		return seq(words("CAST("), e.of(e.anyColumn().typ, depth-1), words(" AS "+t.String()+")"))
	case k < 24 && depth > 1: // more than a literal in parentheses, which is a tuple
		return seq(words("("), e.typed(t, depth-1), words(")"))
	case k < 32:
		return e.masked(t, depth)
	case k < 40 && e.columns:
		return e.elementOf(t, depth)
	case k < 45 && native:
		return seq(words("blob_as_"+t.String()+"("), e.of(types.Blob, depth-1), words(")"))
	}
	return e.typed(t, depth)
}

// leaf is a value or a column.
func (e expression) leaf(t types.Type) *node {
	if e.columns && e.percent(50) {
		for _, i := range e.Perm(len(e.table.columns)) {
			if c := e.table.columns[i]; types.Equal(c.typ, t) {
				return of(c.name, words(c.name))
			}
		}
	}
	switch k := e.IntN(100); {
	case k < 8:
		return e.term(null(t))
	case k < 10:
		return leaf(&value{typ: t, text: pick(e.gen, wrong)})
	}
	v := e.term(pick(e.gen, e.pool(t)))
	if v.value.bound && e.percent(90) || e.percent(30) { // the function that takes a bare marker is often chosen by chance
		return seq(words("("+t.String()+")"), v)
	}
	return v
}

// typed is an operator or function for the type.
func (e expression) typed(t types.Type, depth int) *node {
	switch t := t.(type) {
	case *types.List:
		if e.percent(30) {
			return e.call("map_values", &types.Map{Key: types.Text, Value: t.Elem, Frozen: true}, depth)
		}
		return e.literalOf("[", "]", depth, t.Elem)
	case *types.Set:
		if e.percent(30) {
			return e.call("map_keys", &types.Map{Key: t.Elem, Value: types.Int, Frozen: true}, depth)
		}
		return e.literalOf("{", "}", depth, t.Elem)
	case *types.Map:
		return seq(words("{"), e.of(t.Key, depth-1), words(": "), e.of(t.Value, depth-1), words("}"))
	case *types.Tuple:
		return e.literalOf("(", ")", depth, t.Elems...)
	case *types.Vector:
		elems := make([]types.Type, t.Dim)
		for i := range elems {
			elems[i] = t.Elem
		}
		return e.literalOf("[", "]", depth, elems...)
	}
	if isNumber(t) {
		return e.number(t, depth)
	}
	if f, ok := functionsOf[t]; ok {
		c := pick(e.gen, f)
		return e.call(c.name, c.args[0], depth, c.args[1:]...)
	}
	return e.leaf(t)
}

// literalOf is a collection, tuple or vector of expressions.
func (e expression) literalOf(open, end string, depth int, elems ...types.Type) *node {
	items := list(open, ", ", end)
	for _, t := range elems {
		items.kids = append(items.kids, e.of(t, depth-1))
	}
	return items
}

// call is a call of a function; operators are called by their sign.
func (e expression) call(name string, first types.Type, depth int, others ...types.Type) *node {
	args := e.literalOf("(", ")", depth, append([]types.Type{first}, others...)...)
	if len(name) == 1 {
		args.prefix, args.separator, args.suffix = "", " "+name+" ", ""
		return args
	}
	if e.percent(5) {
		name = "system." + name
	}
	return seq(words(name), args)
}

// number is an expression of numbers.
func (e expression) number(t types.Type, depth int) *node {
	other := t
	if e.percent(40) {
		other = pick(e.gen, numbers)
	}
	switch k := e.IntN(100); {
	case k < 55:
		return seq(e.of(t, depth-1), words(pick(e.gen, operators)), e.of(other, depth-1))
	case k < 65:
		return seq(words("-"), e.of(t, depth-1))
	case k < 80:
		return e.call(pick(e.gen, []string{"abs", "round", "exp", "log", "log10"}), t, depth)
	case k < 90:
		elems := &types.List{Elem: t, Frozen: true}
		return e.call(pick(e.gen, []string{"collection_min", "collection_max", "collection_sum", "collection_avg"}), elems, depth)
	case t == types.Float:
		v := &types.Vector{Elem: types.Float, Dim: 2}
		return e.call("similarity_"+pick(e.gen, []string{"cosine", "euclidean", "dot_product"}), v, depth, v)
	case t == types.BigInt:
		return e.call("to_unix_timestamp", pick(e.gen, []types.Type{types.Timestamp, types.Date, types.TimeUUID}), depth)
	case t == types.Int:
		return e.call("collection_count", e.anyColumn().typ, depth)
	}
	return e.leaf(t)
}

// signature is a function and its arguments.
type signature struct {
	name string
	args []types.Type
}

// functionsOf are functions by their result type, except the functions of numbers.
var functionsOf = map[types.Type][]signature{
	types.Date: {
		{"to_date", []types.Type{types.Timestamp}},
		{"to_date", []types.Type{types.TimeUUID}},
		{"floor", []types.Type{types.Date, types.Duration}},
		{"floor", []types.Type{types.Date, types.Duration, types.Date}},
		{"+", []types.Type{types.Date, types.Duration}},
		{"-", []types.Type{types.Date, types.Duration}},
	},
	types.Timestamp: {
		{"to_timestamp", []types.Type{types.Date}},
		{"to_timestamp", []types.Type{types.TimeUUID}},
		{"floor", []types.Type{types.Timestamp, types.Duration}},
		{"floor", []types.Type{types.TimeUUID, types.Duration, types.Timestamp}},
		{"+", []types.Type{types.Timestamp, types.Duration}},
		{"-", []types.Type{types.Timestamp, types.Duration}},
	},
	types.Time:     {{"floor", []types.Type{types.Time, types.Duration}}},
	types.TimeUUID: {{"min_timeuuid", []types.Type{types.Timestamp}}, {"maxTimeuuid", []types.Type{types.Timestamp}}},
	types.Text: {
		{"+", []types.Type{types.Text, types.Text}},
		{"+", []types.Type{types.Text, types.ASCII}},
		{"mask_inner", []types.Type{types.Text, types.Int, types.Int}},
		{"mask_outer", []types.Type{types.Text, types.Int, types.Int, types.Text}},
	},
	types.ASCII: {{"+", []types.Type{types.ASCII, types.ASCII}}, {"mask_inner", []types.Type{types.ASCII, types.Int, types.Int}}},
	types.Blob: {
		{"int_as_blob", []types.Type{types.Int}},
		{"textAsBlob", []types.Type{types.Text}},
		{"timestamp_as_blob", []types.Type{types.Timestamp}},
		{"decimal_as_blob", []types.Type{types.Decimal}},
		{"uuid_as_blob", []types.Type{types.UUID}},
		{"boolean_as_blob", []types.Type{types.Boolean}},
		{"mask_hash", []types.Type{types.Int}},
		{"mask_hash", []types.Type{types.Text, types.Text}},
	},
}

// masked hides a value.
func (e expression) masked(t types.Type, depth int) *node {
	switch e.IntN(3) {
	case 0:
		return e.call("mask_replace", t, depth, t)
	case 1:
		return e.call("mask_null", t, depth)
	}
	return e.call("mask_default", t, depth)
}

// elementOf is an element or a part of a collection.
func (e expression) elementOf(t types.Type, depth int) *node {
	key := pick(e.gen, scalars)
	switch of := t.(type) {
	case *types.Set:
		return seq(e.of(of, depth-1), words("["), e.opt(e.key(of.Elem)), words(".."), e.opt(e.key(of.Elem)), words("]"))
	case *types.Map:
		return seq(e.of(of, depth-1), words("["), e.opt(e.key(of.Key)), words(".."), e.opt(e.key(of.Key)), words("]"))
	}
	for _, c := range e.table.columns {
		if m, ok := c.typ.(*types.Map); ok && types.Equal(m.Value, t) {
			return seq(of(c.name, words(c.name)), words("["), e.key(m.Key), words("]"))
		}
	}
	return seq(e.of(&types.Map{Key: key, Value: t, Frozen: true}, depth-1), words("["), e.key(key), words("]"))
}
