package expr

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Element is the value of a map's key, or the element of a set that equals the key.
type Element struct {
	Of  Expr
	Key *Key
}

// Type is that of the values of the map, or of the elements of the set.
func (e *Element) Type() types.Type {
	switch t := e.Of.Type().(type) {
	case *types.Map:
		return t.Value
	default:
		return t.(*types.Set).Elem
	}
}

// Eval returns null for a key that is not there.
func (e *Element) Eval(x *Context) (types.Value, error) {
	key, err := e.Key.Eval(x)
	if err != nil {
		return types.Value{}, err
	}
	of, err := e.Of.Eval(x)
	if err != nil {
		return types.Value{}, err
	}
	for k, v := range entries(e.Of.Type(), of.Bytes) {
		if KeyType(e.Of.Type()).Compare(k, key.Bytes) == 0 {
			return types.Value{Bytes: v}, nil
		}
	}
	return types.Value{}, nil
}

// String prints of[key].
func (e *Element) String() string { return e.Of.String() + "[" + e.Key.String() + "]" }

// Slice is the part of a map or set from one key to another, both included.
type Slice struct {
	Of       Expr
	From, To *Key // nil: no bound
}

// Type is the collection's.
func (s *Slice) Type() types.Type { return s.Of.Type() }

// Eval returns a collection without elements if there are none between the keys; of a column that is not frozen null.
func (s *Slice) Eval(x *Context) (types.Value, error) {
	from, err := s.From.Eval(x)
	if err != nil {
		return types.Value{}, err
	}
	to, err := s.To.Eval(x)
	if err != nil {
		return types.Value{}, err
	}
	of, err := s.Of.Eval(x)
	if err != nil || of.Bytes == nil {
		return types.Value{}, err
	}
	cut := s.cut(of.Bytes, from.Bytes, to.Bytes)
	if types.DecodeCount(cut) == 0 && types.IsMultiCell(s.Type()) {
		return types.Value{}, nil
	}
	return types.Value{Bytes: cut}, nil
}

// cut makes a collection of the elements between the keys.
func (s *Slice) cut(of, from, to []byte) []byte {
	var keys, values [][]byte
	order := KeyType(s.Of.Type()).Compare
	for k, v := range entries(s.Of.Type(), of) {
		if from != nil && order(k, from) < 0 || to != nil && order(k, to) > 0 {
			continue
		}
		keys, values = append(keys, k), append(values, v)
	}
	if t, ok := s.Of.Type().(*types.Map); ok {
		return types.NewMap(t, keys, values)
	}
	return types.NewSet(s.Of.Type().(*types.Set), keys)
}

// String prints of[from..to].
func (s *Slice) String() string {
	text := s.Of.String() + "["
	if s.From != nil {
		text += s.From.String()
	}
	text += ".."
	if s.To != nil {
		text += s.To.String()
	}
	return text + "]"
}

// Key is the key of an element, or the bound of a slice. No key at all, and an unset bound, has the value null.
type Key struct {
	Expr
	What string // element or slice
	Of   string // the whole, for errors
}

// Eval refuses null.
func (k *Key) Eval(x *Context) (types.Value, error) {
	if k == nil {
		return types.Value{}, nil
	}
	v, err := k.Expr.Eval(x)
	switch {
	case err != nil:
		return v, err
	case v.Unset && k.What == "slice":
		return types.Value{}, nil
	case v.Unset:
		return v, cqlerr.Invalidf("Invalid unset value for %s selection on %s", k.What, k.Of)
	case v.Bytes == nil:
		return v, cqlerr.Invalidf("Invalid null value for %s selection on %s", k.What, k.Of)
	}
	return v, nil
}

// KeyType is the type of the keys of a map or of the elements of a set; nil for other types.
func KeyType(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Map:
		return t.Key
	case *types.Set:
		return t.Elem
	}
	return nil
}

// entries goes through the keys and values of a map, or the elements of a set as both.
func entries(t types.Type, b []byte) func(yield func(k, v []byte) bool) {
	if _, ok := t.(*types.Map); ok {
		return types.Entries(b)
	}
	return func(yield func(k, v []byte) bool) {
		for e := range types.Elements(b) {
			if !yield(e, e) {
				return
			}
		}
	}
}
