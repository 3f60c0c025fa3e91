package badger

import (
	"bytes"
	"slices"
	"sort"

	"github.com/cqld/cqld/store/engine"
)

// Badger keeps what was deleted until compactions come by, and a scan has to walk over it: at the head of a queue that is
// most of what there is. So the engine remembers in which ranges of keys nothing is left, and scans step over them.
//
// A scan that has passed many deleted keys in a row tells the prober, which asks the writer to watch the range, looks
// whether it is empty, and asks the writer to add it. What is written into a hole meanwhile or later divides it. Each
// snapshot has the holes of its commit, so they are as right as the snapshot.
const (
	walkable = 128 // deleted keys in a row that are not worth remembering
	maxHoles = 256
)

// hole is a range of keys, from start to before end, in which there is nothing.
type hole struct {
	start, end []byte
	passed     int // about how many deleted keys are in it
}

func (h *hole) has(key []byte) bool {
	return bytes.Compare(h.start, key) <= 0 && bytes.Compare(key, h.end) < 0
}

// holes do not overlap and stand in their order. They are never changed.
type holes []hole

// at returns the hole that a key is in, or nil.
func (hs holes) at(key []byte) *hole {
	i := sort.Search(len(hs), func(i int) bool { return bytes.Compare(key, hs[i].end) < 0 })
	if i == len(hs) || bytes.Compare(key, hs[i].start) < 0 {
		return nil
	}
	return &hs[i]
}

// before returns the hole that a range which ends before key ends in, or nil.
func (hs holes) before(key []byte) *hole {
	i := sort.Search(len(hs), func(i int) bool { return bytes.Compare(key, hs[i].end) <= 0 })
	if i == len(hs) || bytes.Compare(key, hs[i].start) <= 0 {
		return nil
	}
	return &hs[i]
}

// with returns the holes and one more, which takes in those that it meets.
func (hs holes) with(h hole) holes {
	n := make(holes, 0, len(hs)+1)
	for _, o := range hs {
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

// without returns the holes after something was written to key.
func (hs holes) without(key []byte) holes {
	at := hs.at(key)
	if at == nil {
		return hs
	}
	n := make(holes, 0, len(hs)+1)
	for i := range hs {
		if &hs[i] != at {
			n = append(n, hs[i])
		}
	}
	half := at.passed / 2
	if half < walkable {
		return n
	}
	key = bytes.Clone(key)
	if !bytes.Equal(at.start, key) {
		n = append(n, hole{at.start, key, half})
	}
	if behind := append(key, 0); bytes.Compare(behind, at.end) < 0 {
		n = append(n, hole{behind, at.end, half})
	}
	return n.sorted()
}

// sorted puts holes in order, and gives up the one that is worth least if they are too many.
func (hs holes) sorted() holes {
	if len(hs) > maxHoles {
		least := 0
		for i := range hs {
			if hs[i].passed < hs[least].passed {
				least = i
			}
		}
		hs = slices.Delete(hs, least, least+1)
	}
	slices.SortFunc(hs, func(a, b hole) int { return bytes.Compare(a.start, b.start) })
	return hs
}

// deadWalk follows the deleted keys that a scan passes.
type deadWalk struct {
	count      int
	start, end []byte // from the first one to behind the last
}

// pass notes a deleted key.
func (d *deadWalk) pass(key []byte) {
	d.begin(key)
	d.count++
	d.end = append(append(d.end[:0], key...), 0)
}

// step notes a hole that was stepped over.
func (d *deadWalk) step(h *hole) {
	d.begin(h.start)
	d.end = append(d.end[:0], h.end...)
}

func (d *deadWalk) begin(key []byte) {
	if len(d.end) == 0 {
		d.start = append(d.start[:0], key...)
	}
}

// over tells the prober of what was passed, at a key that is there or the end of the scan.
func (d *deadWalk) over(probes chan<- hole) {
	if d.count >= walkable && probes != nil {
		select {
		case probes <- hole{bytes.Clone(d.start), bytes.Clone(d.end), d.count}:
		default: // it is busy, and will be told again
		}
	}
	d.count, d.end = 0, d.end[:0]
}

// probe looks at the ranges that scans tell of, until the engine is closed.
func (e *Engine) probe() {
	defer e.finished.Done()
	for {
		select {
		case <-e.stop:
			return
		case h := <-e.probes:
			if known := e.current.Load().holes.at(h.start); known == nil || bytes.Compare(known.end, h.end) < 0 {
				e.probeRange(&h)
			}
		}
	}
}

// probeRange makes a hole of a range if it is empty.
func (e *Engine) probeRange(h *hole) {
	if !e.await(request{watch: h}) {
		return
	}
	empty := true
	err := e.Scan(h.start, h.end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		empty = false
		return false, nil
	})
	if empty && err == nil {
		e.await(request{dig: true})
	}
}

// await has the writer do something and reports whether it has.
func (e *Engine) await(r request) bool {
	result := make(chan error, 1)
	r.done = func(err error) { result <- err }
	return e.send(r) == nil && <-result == nil
}

// dig adds the range that was watched to the holes, if nothing was written to it.
func (w *writer) dig() {
	if h := w.watched; h != nil {
		w.watched = nil
		w.holes = w.holes.with(*h)
		w.publish(w.version, w.holes)
	}
}

// fill takes the keys of a commit out of the holes.
func (w *writer) fill(entries []entry) {
	if len(w.holes) == 0 && w.watched == nil {
		return
	}
	for i := range entries {
		if entries[i].value == nil {
			continue
		}
		w.holes = w.holes.without(entries[i].key)
		if w.watched != nil && w.watched.has(entries[i].key) {
			w.watched = nil
		}
	}
}
