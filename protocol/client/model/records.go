package model

import (
	"iter"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// Record is a row whose cells have names.
type Record struct {
	r     *client.Result
	cells [][]byte
}

// Records iterates over the rows of a result, which may be nil.
func Records(r *client.Result) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		if r == nil {
			return
		}
		for _, cells := range r.Rows {
			if !yield(Record{r, cells}) {
				return
			}
		}
	}
}

// Value is the cell of a column; ok is false if there is no such column.
func (r Record) Value(name string) (b []byte, ok bool) {
	for i, c := range r.r.Columns {
		if c.Name == name {
			return r.cells[i], true
		}
	}
	return nil, false
}

// Text is the cell of a text column, or "".
func (r Record) Text(name string) string {
	b, _ := r.Value(name)
	return string(b)
}

// Texts are the elements of a list or set of texts.
func (r Record) Texts(name string) (all []string) {
	b, _ := r.Value(name)
	if b == nil {
		return nil
	}
	for e := range types.Elements(b) {
		all = append(all, string(e))
	}
	return all
}

// Number is the cell of an int or a bigint, or 0.
func (r Record) Number(name string) int64 {
	b, _ := r.Value(name)
	switch len(b) {
	case 4:
		return int64(types.DecodeInt(b))
	case 8:
		return types.DecodeBigInt(b)
	}
	return 0
}

// True is the cell of a boolean, or false.
func (r Record) True(name string) bool {
	b, _ := r.Value(name)
	return len(b) == 1 && b[0] != 0
}

// Address is the cell of an inet column as text, or "".
func (r Record) Address(name string) string {
	b, _ := r.Value(name)
	if len(b) == 0 {
		return ""
	}
	return types.DecodeInet(b).String()
}
