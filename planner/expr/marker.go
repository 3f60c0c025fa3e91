package expr

import (
	"strconv"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/types"
)

// Marker is a bind marker: its value comes with each execution.
type Marker struct {
	Index  int
	Of     types.Type
	sorted bool // the type has sets or maps, whose elements clients may send in any order
}

// Type is the type that the receiver has.
func (m *Marker) Type() types.Type { return m.Of }

// Eval returns the bound value, once it has been checked against the type. It may be null or unset.
func (m *Marker) Eval(x *Context) (types.Value, error) {
	v := x.Values[m.Index]
	if v.Bytes == nil {
		return v, nil
	}
	if err := m.Of.Validate(v.Bytes); err != nil {
		return types.Value{}, invalidValue(err)
	}
	if m.sorted {
		v.Bytes = types.Normalize(m.Of, v.Bytes)
	}
	return v, nil
}

func (m *Marker) String() string { return "?" + strconv.Itoa(m.Index) }

// mark records what a marker is for and returns it as an expression.
func (b *Binder) mark(m *cql.Marker, r Receiver) *Marker {
	for len(b.Markers) <= m.Index {
		b.Markers = append(b.Markers, Receiver{})
	}
	if m.Name != "" {
		r.Name = m.Name
	}
	b.Markers[m.Index] = r
	return &Marker{Index: m.Index, Of: r.Type, sorted: hasSortedParts(r.Type)}
}

// hasSortedParts reports whether values of t contain a set or a map.
func hasSortedParts(t types.Type) bool {
	switch t := t.(type) {
	case *types.Set, *types.Map:
		return true
	case *types.List:
		return hasSortedParts(t.Elem)
	case *types.Vector:
		return hasSortedParts(t.Elem)
	case *types.Tuple:
		for _, e := range t.Elems {
			if hasSortedParts(e) {
				return true
			}
		}
	case *types.UserType:
		for _, f := range t.Fields {
			if hasSortedParts(f.Type) {
				return true
			}
		}
	}
	return false
}
