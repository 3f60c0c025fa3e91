package tombstones

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/cqld/cqld/cql/schema"
)

// An engine keeps removed keys until a compaction drops them, and a scan steps over each of them: at the head of a
// queue a read does little else. So reads jump over ranges of keys that are known to be empty.
//
// A read hints at a range in which it passed many dead rows, or waited long for the first key. One goroutine follows
// the hints. It notes the range, so that writers take their keys out of it, waits until earlier writes have ended, and
// looks which rows may not be purged. The rest of the range is empty for reads until a write, whatever else happens to
// the table. Then it purges the rows.
const (
	LongRun   = 256                    // removed keys in a row that are worth a purge or a jump
	slowStart = time.Millisecond       // a scan that takes longer to its first key may have stepped over removed ones
	StepTime  = 250 * time.Nanosecond  // about the time for each of them
	maxEmpty  = 256                    // ranges
	maxEdges  = 2 << 10                // bytes of the first and the last key of a range
	MaxLeft   = 32                     // keys in a range that is emptied
	Emptying  = uint64(math.MaxUint64) // the time since which a range is empty that is being emptied
)

// emptyRange is a range of keys, from start to before end, in which the engine has none.
type emptyRange struct {
	Start, End []byte
	removed    int // about how many keys were, or will be
	Since      uint64
}

// emptyRanges are in order and do not overlap. They are never changed.
type emptyRanges []emptyRange

// EmptyRanges returns the ranges that are known.
func (d *Tracker) EmptyRanges() emptyRanges {
	if e := d.empty.Load(); e != nil {
		return *e
	}
	return nil
}

// At returns the place of the first range that ends after a key, and whether the key is in it.
func (e emptyRanges) At(key []byte) (int, bool) {
	i := sort.Search(len(e), func(i int) bool { return bytes.Compare(key, e[i].End) < 0 })
	return i, i < len(e) && bytes.Compare(e[i].Start, key) <= 0
}

// First returns the first range in the way of a scan that asked the clock before it chose its snapshot, or nil.
func (e emptyRanges) First(start, end []byte, reverse bool, clock uint64) (found *emptyRange) {
	i, _ := e.At(start)
	for ; i < len(e) && bytes.Compare(e[i].Start, end) < 0; i++ {
		if e[i].Since <= clock {
			if found = &e[i]; !reverse {
				break
			}
		}
	}
	return found
}

// replaceEmpty puts other ranges in place of those from i to before j, unless too few keys were removed in them. If
// there are too many ranges, one goes in which the fewest were. d.mu is held.
func (d *Tracker) replaceEmpty(i, j int, with ...emptyRange) {
	e := d.EmptyRanges()
	with = slices.DeleteFunc(with, func(x emptyRange) bool { return x.removed < d.LongRun })
	if e = slices.Concat(e[:i], with, e[j:]); len(e) > maxEmpty {
		fewest := 0
		for i := range e {
			if e[i].removed < e[fewest].removed {
				fewest = i
			}
		}
		e = slices.Delete(e, fewest, fewest+1)
	}
	d.empty.Store(&e)
}

// Fill takes a key out of the empty ranges, before it is written.
func (d *Tracker) Fill(key []byte) {
	if _, in := d.EmptyRanges().At(key); !in {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.EmptyRanges()
	if i, in := e.At(key); in {
		left, right := e[i], e[i]
		left.End, right.Start = bytes.Clone(key), append(bytes.Clone(key), 0)
		left.removed /= 2
		right.removed -= left.removed
		d.replaceEmpty(i, i+1, left, right)
	}
}

// Watch notes a range that is being emptied, united with overlapping empty ranges. It reports false if one of them
// contains all of it.
func (d *Tracker) Watch(h *PurgeHint) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.EmptyRanges()
	i, _ := e.At(h.Start)
	j := i
	for ; j < len(e) && bytes.Compare(e[j].Start, h.End) < 0; j++ {
		x := &e[j]
		if h.Waited || bytes.Compare(x.Start, h.Start) <= 0 && bytes.Compare(h.End, x.End) <= 0 {
			return false
		}
		h.Start = slices.MinFunc([][]byte{h.Start, x.Start}, bytes.Compare)
		h.End = slices.MaxFunc([][]byte{h.End, x.End}, bytes.Compare)
		h.Removed += x.removed
	}
	if len(h.Start)+len(h.End) <= maxEdges {
		d.replaceEmpty(i, j, emptyRange{h.Start, h.End, h.Removed, Emptying})
	}
	return true
}

// EndWatch lets reads jump over the rest of the range that was emptied, or forgets it. Ranges that meet are united.
func (d *Tracker) EndWatch(isEmpty bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.tick()
	var e emptyRanges
	for _, x := range d.EmptyRanges() {
		if x.Since == Emptying {
			if !isEmpty {
				continue
			}
			x.Since = now
		}
		if n := len(e) - 1; n >= 0 && bytes.Equal(e[n].End, x.Start) {
			x.Start, x.removed, x.Since = e[n].Start, e[n].removed+x.removed, max(e[n].Since, x.Since)
			e = e[:n]
		}
		e = append(e, x)
	}
	d.empty.Store(&e)
}

// PurgeHint is a range of keys in which a read has seen only rows that may be purged.
type PurgeHint struct {
	Table      *schema.Table
	Id         uint32
	Start, End []byte
	Removed    int  // about how many keys are, or will be
	Waited     bool // the read has seen nothing at all
}
