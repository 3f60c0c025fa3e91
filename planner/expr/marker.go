package expr

import (
	"strconv"

	"github.com/cqld/cqld/cql/types"
)

// Marker is a bind marker: its value comes with each execution.
type Marker struct {
	Index int
	Of    types.Type
}

// Type is the type that the receiver has.
func (m *Marker) Type() types.Type { return m.Of }

// Eval returns the bound value, once it has been checked against the type, as it is stored: clients may send elements
// of sets and maps in any order. It may be null or unset.
func (m *Marker) Eval(x *Context) (types.Value, error) {
	v := x.Values[m.Index]
	if v.Bytes == nil {
		return v, nil
	}
	if err := types.ValidateBound(m.Of, v.Bytes); err != nil {
		return types.Value{}, invalidValue(err)
	}
	v.Bytes = types.NormalizeBound(m.Of, v.Bytes)
	return v, nil
}

// String prints ? and the index of the marker.
func (m *Marker) String() string { return "?" + strconv.Itoa(m.Index) }
