package shell

import (
	"iter"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// record is a row whose cells have names.
type record struct {
	r     *client.Result
	cells [][]byte
}

// records iterates over the rows of a result.
func records(r *client.Result) iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, cells := range r.Rows {
			if !yield(record{r, cells}) {
				return
			}
		}
	}
}

// value is the cell of a column; ok is false if there is no such column.
func (r record) value(name string) (b []byte, ok bool) {
	for i, c := range r.r.Columns {
		if c.Name == name {
			return r.cells[i], true
		}
	}
	return nil, false
}

// text is the cell of a text column, or "".
func (r record) text(name string) string {
	b, _ := r.value(name)
	return string(b)
}

// texts are the elements of a list or set of texts.
func (r record) texts(name string) (all []string) {
	b, _ := r.value(name)
	if b == nil {
		return nil
	}
	for e := range types.Elements(b) {
		all = append(all, string(e))
	}
	return all
}

// number is the cell of an int or a bigint, or 0.
func (r record) number(name string) int64 {
	b, _ := r.value(name)
	switch len(b) {
	case 4:
		return int64(types.DecodeInt(b))
	case 8:
		return types.DecodeBigInt(b)
	}
	return 0
}

// orEmpty is a result, or one without rows.
func orEmpty(r *client.Result) *client.Result {
	if r == nil {
		return &client.Result{}
	}
	return r
}
