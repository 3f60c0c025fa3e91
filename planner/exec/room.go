package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
)

// maxHeld is how many bytes a read may hold of rows that are gathered, and of the cells of a result that has no pages.
var maxHeld = 64 << 20

const (
	heldStep  = 64 << 10 // from here on its turn is told
	fastGrown = 4 << 20  // cells up to here get twice the room
)

// workPerByte is about how much memory the functions of a selection take for each byte of a row: as JSON a byte may have
// six, in a buffer that grows.
const workPerByte = 8

// errHeld refuses a result that would take too much memory.
func errHeld() error {
	return cqlerr.Invalidf("The rows of one result or of what is sorted may have up to %d bytes in cqld, and these have more: "+
		"ask for pages or fewer rows", maxHeld)
}

// reserve makes room for n more bytes of cells.
func (r *reading) reserve(n int) error {
	old, wanted := cap(r.out.Cells), len(r.out.Cells)+n
	if wanted <= old {
		return nil
	}
	if wanted > maxHeld {
		return errHeld()
	}
	grown := 2 * old
	if old > fastGrown {
		grown = old + old/2
	}
	grown = max(min(grown, maxHeld), wanted, 512)
	if grown > heldStep {
		if err := r.read.Turn.Hold(int64(grown)); err != nil {
			return err
		}
	}
	r.out.Cells = append(make([]byte, 0, grown), r.out.Cells...)
	r.read.Turn.Give(int64(r.cellsHeld))
	if r.cellsHeld = 0; grown > heldStep {
		r.cellsHeld = grown
	}
	return nil
}

// holding is memory of one kind that grows while a read goes on.
type holding struct {
	used, held int
}

// add counts n more bytes, or fewer.
func (h *holding) add(r *reading, n int) error {
	if h.used += n; h.used > maxHeld {
		return errHeld()
	}
	return h.hold(r)
}

// hold takes what is used beyond what is held, and as much again so that it is asked for seldom.
func (h *holding) hold(r *reading) error {
	if h.used <= h.held || h.used < heldStep {
		return nil
	}
	more := max(heldStep, h.used-h.held, min(h.held, maxHeld-h.held))
	h.held += more
	return r.read.Turn.Hold(int64(more))
}

// atLeast counts memory that is used again and again, by the most that it takes.
func (h *holding) atLeast(r *reading, n int) error {
	h.used = max(h.used, n)
	return h.hold(r)
}
