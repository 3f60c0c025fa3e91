package expr

import (
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// Cell has the values of WRITETIME and TTL for a cell.
type Cell struct {
	Timestamp int64  // microseconds
	ExpiresAt int64  // seconds since 1970; 0: never
	Missing   bool   // there is none: a field of a user type without a value
	Parts     []Cell // of a column that is not frozen: its elements or fields; nil if they do not differ
}

// Stamp is WRITETIME, MAXWRITETIME or TTL of a column, or of parts of one. A column that is not frozen and its slices
// have one for each part.
type Stamp struct {
	Name string // writetime, maxwritetime or ttl
	Of   Expr   // a Column, or Elements, Slices and Fields of one
}

// Type is bigint or int, or a list of these.
func (s *Stamp) Type() types.Type {
	one := types.Type(types.BigInt)
	if s.Name == "ttl" {
		one = types.Int
	}
	if s.Name != "maxwritetime" && hasCells(s.Of) {
		return &types.List{Elem: one, Frozen: true}
	}
	return one
}

// hasCells reports whether a value consists of cells.
func hasCells(e Expr) bool {
	switch e := e.(type) {
	case *Column:
		return types.IsMultiCell(e.Column.Type)
	case *Slice:
		return hasCells(e.Of)
	}
	return false
}

// Eval returns null where there is no cell.
func (s *Stamp) Eval(x *Context) (types.Value, error) {
	cells, err := cellsOf(x, s.Of)
	if err != nil || len(cells) == 0 {
		return types.Value{}, err
	}
	if s.Name == "maxwritetime" {
		latest := slices.MaxFunc(cells, func(a, b Cell) int { return a.compare(b) })
		cells = []Cell{latest}
	}
	values := make([][]byte, len(cells))
	for i, c := range cells {
		values[i] = s.of(x, c)
	}
	if _, list := s.Type().(*types.List); list {
		return types.Value{Bytes: types.NewList(values)}, nil
	}
	return types.Value{Bytes: values[0]}, nil
}

// compare orders cells by when they were written; one that is missing comes first.
func (c Cell) compare(o Cell) int {
	switch {
	case c.Missing || o.Missing:
		return boolInt(o.Missing) - boolInt(c.Missing)
	case c.Timestamp < o.Timestamp:
		return -1
	}
	return boolInt(c.Timestamp > o.Timestamp)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// of is the requested value of one cell.
func (s *Stamp) of(x *Context, c Cell) []byte {
	switch {
	case c.Missing:
		return nil
	case s.Name != "ttl":
		return binary.BigEndian.AppendUint64(nil, uint64(c.Timestamp))
	case c.ExpiresAt == 0:
		return nil
	}
	return binary.BigEndian.AppendUint32(nil, uint32(c.ExpiresAt-x.Now))
}

// cellsOf are the cells of a value: one for each part, or the one that all of it is in.
func cellsOf(x *Context, e Expr) ([]Cell, error) {
	switch e := e.(type) {
	case *Column:
		return columnCells(x, e), nil
	case *Element:
		return partCells(x, e.Of, func(parts []byte) (from, to int, err error) {
			key, err := e.Key.Eval(x)
			return partsBetween(e.Of.Type(), parts, key.Bytes, key.Bytes, err)
		})
	case *Field:
		return partCells(x, e.Of, func(value []byte) (from, to int, err error) {
			if types.TupleFields(value, e.Index+1)[e.Index] == nil {
				return 0, 0, nil
			}
			return e.Index, e.Index + 1, nil
		})
	case *Slice:
		return partCells(x, e.Of, func(parts []byte) (from, to int, err error) {
			first, err := e.From.Eval(x)
			if err != nil {
				return 0, 0, err
			}
			last, err := e.To.Eval(x)
			return partsBetween(e.Of.Type(), parts, first.Bytes, last.Bytes, err)
		})
	}
	return nil, nil
}

// columnCells are the cells of a column.
func columnCells(x *Context, c *Column) []Cell {
	value := x.Row[c.Column.Index]
	if value == nil {
		return nil
	}
	cell := x.Cell(c.Column.Index)
	if !types.IsMultiCell(c.Column.Type) {
		return []Cell{cell}
	}
	if cell.Parts == nil {
		return slices.Repeat([]Cell{cell}, types.DecodeCount(value))
	}
	return cell.Parts
}

// partCells are the cells of a value whose parts from one to another are selected. If they are all in one cell it is
// this one, if there are any.
func partCells(x *Context, of Expr, find func(value []byte) (from, to int, err error)) ([]Cell, error) {
	value, err := of.Eval(x)
	if err != nil {
		return nil, err
	}
	from, to, err := find(value.Bytes)
	if err != nil || from == to {
		return nil, err
	}
	cells, err := cellsOf(x, of)
	if err != nil || !hasCells(of) {
		return cells, err
	}
	return cells[from:to], nil
}

// partsBetween are the places of the parts between two keys, both included; nil: no bound.
func partsBetween(t types.Type, value, first, last []byte, err error) (from, to int, _ error) {
	if err != nil {
		return 0, 0, err
	}
	order := KeyType(t).Compare
	for k := range entries(t, value) {
		if first != nil && order(k, first) < 0 {
			from++
		}
		if last == nil || order(k, last) <= 0 {
			to++
		}
	}
	return from, max(from, to), nil
}

// String prints writetime(column), or the function that it is.
func (s *Stamp) String() string { return s.Name + "(" + s.Of.String() + ")" }
