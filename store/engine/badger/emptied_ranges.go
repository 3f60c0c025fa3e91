package badger

import (
	"bytes"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Badger keeps deleted keys until a compaction removes them, and a scan walks over them: at the head of a queue that
// is most of its work. So the engine remembers ranges of keys that are empty now, and scans step over them.
//
// A scan that passes many deleted keys in a row adds their range to the emptied ranges of its snapshot, which never
// changes. The next snapshot begins with these ranges, without the keys that were written since.
const (
	walkable   = 128 // deleted keys in a row that are not worth remembering
	maxEmptied = 256
)

// emptiedRange is a range of keys, from start to before end, without a key.
type emptiedRange struct {
	start, end []byte
	passed     int // about how many deleted keys are in it
}

// emptiedRanges are in order and do not overlap. They are never changed.
type emptiedRanges []emptiedRange

// at returns the range that a key is in, or nil.
func (rs emptiedRanges) at(key []byte) *emptiedRange {
	i := sort.Search(len(rs), func(i int) bool { return bytes.Compare(key, rs[i].end) < 0 })
	if i == len(rs) || bytes.Compare(key, rs[i].start) < 0 {
		return nil
	}
	return &rs[i]
}

// before returns the range that has the last place before a key, or nil.
func (rs emptiedRanges) before(key []byte) *emptiedRange {
	i := sort.Search(len(rs), func(i int) bool { return bytes.Compare(key, rs[i].end) <= 0 })
	if i == len(rs) || bytes.Compare(key, rs[i].start) <= 0 {
		return nil
	}
	return &rs[i]
}

// with returns the ranges and one more, united with those that it meets.
func (rs emptiedRanges) with(h emptiedRange) emptiedRanges {
	n := make(emptiedRanges, 0, len(rs)+1)
	for _, o := range rs {
		if bytes.Compare(o.end, h.start) < 0 || bytes.Compare(h.end, o.start) < 0 {
			n = append(n, o)
			continue
		}
		if bytes.Compare(o.start, h.start) < 0 {
			h.start = o.start
		}
		if bytes.Compare(o.end, h.end) > 0 {
			h.end = o.end
		}
		h.passed += o.passed
	}
	return append(n, h).sorted()
}

// without returns the ranges after a write to key, which divides the range that it is in.
func (rs emptiedRanges) without(key []byte) emptiedRanges {
	at := rs.at(key)
	if at == nil {
		return rs
	}
	n := make(emptiedRanges, 0, len(rs)+1)
	for i := range rs {
		if &rs[i] != at {
			n = append(n, rs[i])
		}
	}
	half := at.passed / 2
	if half < walkable {
		return n
	}
	key = bytes.Clone(key)
	if !bytes.Equal(at.start, key) {
		n = append(n, emptiedRange{at.start, key, half})
	}
	if behind := append(key, 0); bytes.Compare(behind, at.end) < 0 {
		n = append(n, emptiedRange{behind, at.end, half})
	}
	return n.sorted()
}

// sorted sorts ranges, and drops the one with the fewest deleted keys if they are too many.
func (rs emptiedRanges) sorted() emptiedRanges {
	if len(rs) > maxEmptied {
		least := 0
		for i := range rs {
			if rs[i].passed < rs[least].passed {
				least = i
			}
		}
		rs = slices.Delete(rs, least, least+1)
	}
	slices.SortFunc(rs, func(a, b emptiedRange) int { return bytes.Compare(a.start, b.start) })
	return rs
}

// emptied has the emptied ranges of a snapshot.
type emptied struct {
	ranges atomic.Pointer[emptiedRanges] // nil: there are none
	mu     sync.Mutex                    // held to change ranges
	final  bool                          // nothing is added any more
}

func (e *emptied) set(ranges emptiedRanges) {
	if len(ranges) > 0 {
		e.ranges.Store(&ranges)
	}
}

// get returns the ranges.
func (e *emptied) get() emptiedRanges {
	if p := e.ranges.Load(); p != nil {
		return *p
	}
	return nil
}

// add adds a range in which the snapshot has no key.
func (e *emptied) add(h emptiedRange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.final {
		e.set(e.get().with(h))
	}
}

// finish returns the ranges, to which nothing is added any more.
func (e *emptied) finish() emptiedRanges {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.final = true
	return e.get()
}

// deletedRun is a run of deleted keys that a scan passes.
type deletedRun struct {
	reverse     bool
	count       int
	first, last []byte // from the least key to behind the greatest one; no last: there is no run
}

// pass adds a deleted key.
func (d *deletedRun) pass(key []byte) {
	fresh := len(d.last) == 0
	if fresh || d.reverse {
		d.first = append(d.first[:0], key...)
	}
	if fresh || !d.reverse {
		d.last = append(append(d.last[:0], key...), 0)
	}
	d.count++
}

// step adds an emptied range that was stepped over.
func (d *deletedRun) step(h *emptiedRange) {
	fresh := len(d.last) == 0
	if fresh || d.reverse {
		d.first = append(d.first[:0], h.start...)
	}
	if fresh || !d.reverse {
		d.last = append(d.last[:0], h.end...)
	}
}

// end ends the run, at a key that is there or at the end of the scan, and adds a long one to the emptied ranges.
func (d *deletedRun) end(e *emptied) {
	if d.count >= walkable {
		e.add(emptiedRange{bytes.Clone(d.first), bytes.Clone(d.last), d.count})
	}
	d.count, d.last = 0, d.last[:0]
}
