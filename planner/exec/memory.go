package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store/pace"
)

// maxHeld is the largest number of bytes that a read may hold of gathered rows, and of the cells of a result without
// pages.
var maxHeld = 64 << 20

// heldStep is the number of bytes from which on the turn of an execution is charged.
const heldStep = 64 << 10

// errHeld refuses a result that would take too much memory.
func errHeld() error {
	return cqlerr.Invalidf("The rows of one result or of what is sorted, and what functions return to one statement, may have up "+
		"to %d bytes in cqld, and these have more: ask for pages or fewer rows", maxHeld)
}

// errTooManyRows refuses a write before its rows take memory.
func errTooManyRows(maxRows int) error {
	return cqlerr.Invalidf("One write of cqld changes up to %d rows or ranges of rows, and this is of more", maxRows)
}

// holding is memory of one kind that grows while a read goes on.
type holding struct {
	used, held int
}

// grow counts n more bytes, or fewer if n is negative.
func (h *holding) grow(turn *pace.Turn, n int) error {
	if h.used += n; h.used > maxHeld {
		return errHeld()
	}
	return h.charge(turn)
}

// atLeast counts a buffer that is used again and again, by the largest size that it has had.
func (h *holding) atLeast(turn *pace.Turn, n int) error {
	h.used = max(h.used, n)
	return h.charge(turn)
}

// charge charges the turn for the bytes that it does not hold yet, and as many again: so it is charged less often.
func (h *holding) charge(turn *pace.Turn) error {
	if h.used <= h.held || h.used < heldStep {
		return nil
	}
	more := max(heldStep, h.used-h.held, min(h.held, maxHeld-h.held))
	h.held += more
	return turn.Hold(int64(more))
}

// step lets other work run. Its error ends the execution.
func step(turn *pace.Turn) error {
	if err := turn.Step(); err != nil {
		return &expr.Ended{Cause: err}
	}
	return nil
}
