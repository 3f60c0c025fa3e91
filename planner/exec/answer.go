package exec

import (
	"encoding/binary"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store/pace"
)

// answer is the result of a read while its rows are encoded.
type answer struct {
	Rows
	selection *planner.Selection
	turn      *pace.Turn // is charged for the memory
	held      int        // bytes of the cells that the turn holds
	computed  holding    // the values that functions make
}

// doubledCells is the size up to which the buffer of cells is doubled. Beyond, it grows by half.
const doubledCells = 4 << 20

// workPerByte is about how much memory the functions of a selection take for each byte of a row: toJson makes up to six
// bytes of one, in a buffer that grows.
const workPerByte = 8

// encode appends the selected values of a row.
func (a *answer) encode(x *expr.Context, row [][]byte) error {
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

// reserve makes room for n more bytes of cells.
func (a *answer) reserve(n int) error {
	old, wanted := cap(a.Cells), len(a.Cells)+n
	if wanted <= old {
		return nil
	}
	if wanted > maxHeld {
		return errHeld()
	}
	grown := 2 * old
	if old > doubledCells {
		grown = old + old/2
	}
	grown = max(min(grown, maxHeld), wanted, 512)
	if grown > heldStep {
		if err := a.turn.Hold(int64(grown)); err != nil {
			return err
		}
	}
	a.Cells = append(make([]byte, 0, grown), a.Cells...)
	a.turn.Give(int64(a.held))
	if a.held = 0; grown > heldStep {
		a.held = grown
	}
	return nil
}

// appendCell appends a value as the protocol has it: its length, -1 for null, and its bytes.
func appendCell(dst, value []byte) []byte {
	if value == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}
