package store

import (
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// lookahead has the keys of rows that entries of an index stand for, in their order. The engine gets all of these rows
// at the same time.
type lookahead struct {
	getter engine.ManyGetter // nil: each row is read at once
	most   int               // keys
	keys   [][]byte
	buf    []byte // of the keys

	take func(i int, value []byte) (bool, error) // takes the row of a key, as a value that is made once
}

// The most that is got at a time.
const (
	aheadRows  = 16
	aheadBytes = 16 << 10
)

// begin begins with no keys. Where few rows are wanted few are got. Where rows must have entries in other
// indexes as well, most are not read, so each is got when it is its turn.
func (a *lookahead) begin(r *reader) {
	a.getter, _ = r.src.(engine.ManyGetter)
	a.most = aheadRows
	if want := r.read.Want; want > 0 {
		a.most = min(want, aheadRows)
	}
	if a.most == 1 || len(r.lookup.others) > 0 {
		a.getter = nil
	}
	if a.take == nil {
		a.take = func(i int, value []byte) (bool, error) { return r.takeCandidate(a.keys[i][rows.AreaSize:], value) }
	}
	a.keys, a.buf = a.keys[:0], a.buf[:0]
}

// takeEntry takes an entry of the value that is read, given its key.
func (r *reader) takeEntry(key, _ []byte) (bool, error) {
	return r.lookAhead(key[len(r.lookup.entry):])
}

// lookAhead takes the key of a row, without its area. When there are enough keys it gets their rows.
func (r *reader) lookAhead(rest []byte) (bool, error) {
	a := &r.lookup.ahead
	if a.getter == nil {
		return r.findCandidate(rest)
	}
	from := len(a.buf)
	a.buf = append(rows.AppendArea(a.buf, r.id, rows.AreaRows), rest...)
	a.keys = append(a.keys, a.buf[from:])
	if len(a.keys) < a.most && len(a.buf) < aheadBytes {
		return true, nil
	}
	return r.takeAhead()
}

// takeAhead gets the rows of the keys that were taken.
func (r *reader) takeAhead() (more bool, err error) {
	a := &r.lookup.ahead
	if len(a.keys) > 0 {
		err = a.getter.GetMany(a.keys, a.take)
	}
	a.keys, a.buf = a.keys[:0], a.buf[:0]
	return !r.done, err
}
