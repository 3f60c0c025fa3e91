package exec

import (
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store/pace"
)

// answer is the result of a read while its rows are encoded.
type answer struct {
	Rows
	selection  *planner.Selection
	turn       *pace.Turn // is charged for the memory
	held       int        // bytes of the buffer of Cells that the turn holds
	sizeBefore int        // bytes of the parts in Before
	heldBefore int        // bytes of their buffers that the turn holds
	computed   holding    // the values that functions make
}

// partSize is the size of the parts of a long result. The buffer of cells grows up to it, and is then followed by
// another one: to copy tens of megabytes into a larger buffer takes longer than others can wait.
const partSize = 1 << 20

// maxBudgeted is how many bytes of cells a read with a budget may have when it encodes one more row.
const maxBudgeted = heldStep

// workPerByte is about how much memory the functions of a selection take for each byte of a row: toJson makes up to six
// bytes of one, in a buffer that grows.
const workPerByte = 8

// encode appends the selected values of a row.
func (a *answer) encode(x *expr.Context, row [][]byte) error {
	if len(a.Cells) >= maxBudgeted && a.turn.HasBudget() {
		return pace.ErrBudget
	}
	s := a.selection
	if s.Plain != nil {
		for _, c := range s.Plain {
			v := row[c.Index]
			if cap(a.Cells)-len(a.Cells) < 4+len(v) {
				if err := a.reserve(4 + len(v)); err != nil {
					return err
				}
			}
			a.Cells = appendCell(a.Cells, v)
		}
		return nil
	}
	x.Row = row
	if n := length(row); n > heldStep {
		if err := a.computed.atLeast(a.turn, workPerByte*n); err != nil {
			return err
		}
	}
	for _, e := range s.Exprs {
		v, err := e.Eval(x)
		if err == nil {
			err = a.reserve(4 + len(v.Bytes))
		}
		if err != nil {
			return err
		}
		a.Cells = appendCell(a.Cells, v.Bytes)
	}
	return nil
}

// appendEncoded appends the cells of a row that was encoded before.
func (a *answer) appendEncoded(cells []byte) error {
	if err := a.reserve(len(cells)); err != nil {
		return err
	}
	a.Cells = append(a.Cells, cells...)
	return nil
}

// size is how many bytes the cells have.
func (a *answer) size() int { return a.sizeBefore + len(a.Cells) }

// reserve makes room for n more bytes of cells.
func (a *answer) reserve(n int) error {
	old, wanted := cap(a.Cells), len(a.Cells)+n
	if wanted <= old {
		return nil
	}
	if a.sizeBefore+wanted > maxHeld {
		return errHeld()
	}
	another := len(a.Cells) >= partSize/2
	size := max(min(2*old, partSize), wanted, 512)
	if another {
		size = max(partSize, n)
	}
	if size > heldStep {
		if err := a.turn.Hold(int64(size)); err != nil {
			return err
		}
	}
	if next := make([]byte, 0, size); another {
		a.Before, a.sizeBefore = append(a.Before, a.Cells), a.sizeBefore+len(a.Cells)
		a.Cells, a.heldBefore = next, a.heldBefore+a.held
	} else {
		a.Cells = append(next, a.Cells...)
		a.turn.Give(int64(a.held))
	}
	if a.held = 0; size > heldStep {
		a.held = size
	}
	return nil
}

// take returns a copy of the cells and forgets them.
func (a *answer) take() []byte {
	if len(a.Before) == 0 {
		cells := slices.Clone(a.Cells)
		a.Cells = a.Cells[:0]
		return cells
	}
	cells := slices.Concat(append(a.Before, a.Cells)...)
	a.turn.Give(int64(a.heldBefore))
	a.Before, a.sizeBefore, a.Cells, a.heldBefore = nil, 0, a.Cells[:0], 0
	return cells
}

// appendCell appends a value as the protocol has it: its length, -1 for null, and its bytes.
func appendCell(dst, value []byte) []byte {
	if value == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}
