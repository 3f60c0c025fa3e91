package badger

import (
	"bytes"
	"slices"
	"sort"

	"github.com/cqld/cqld/store/engine"
)

// Badger keeps deleted keys until a compaction removes them, and a scan walks over them: at the head of a queue that
// is most of its work. So the engine remembers ranges of keys that are empty now, and scans step over them.
//
// A scan that has passed many deleted keys in a row tells the prober. The prober asks the writer to watch the range,
// looks whether it is empty, and asks the writer to remember it. A write into an emptied range divides it. Each
// snapshot has the emptied ranges of its own commit.
const (
	walkable   = 128 // deleted keys in a row that are not worth remembering
	maxEmptied = 256
)

// emptiedRange is a range of keys, from start to before end, without a key.
type emptiedRange struct {
	start, end []byte
	passed     int // about how many deleted keys are in it
}

func (h *emptiedRange) has(key []byte) bool {
	return bytes.Compare(h.start, key) <= 0 && bytes.Compare(key, h.end) < 0
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

// deletedRun is a run of deleted keys that a scan passes.
type deletedRun struct {
	count      int
	start, end []byte // from the first one to behind the last
}

// pass adds a deleted key.
func (d *deletedRun) pass(key []byte) {
	d.begin(key)
	d.count++
	d.end = append(append(d.end[:0], key...), 0)
}

// step adds an emptied range that was stepped over.
func (d *deletedRun) step(h *emptiedRange) {
	d.begin(h.start)
	d.end = append(d.end[:0], h.end...)
}

func (d *deletedRun) begin(key []byte) {
	if len(d.end) == 0 {
		d.start = append(d.start[:0], key...)
	}
}

// over ends the run, at a key that is there or at the end of the scan, and tells the prober of a long one.
func (d *deletedRun) over(probes chan<- emptiedRange) {
	if d.count >= walkable && probes != nil {
		select {
		case probes <- emptiedRange{bytes.Clone(d.start), bytes.Clone(d.end), d.count}:
		default: // it is busy, and will be told again
		}
	}
	d.count, d.end = 0, d.end[:0]
}

// probe probes the ranges that scans tell of, until the engine is closed.
func (e *Engine) probe() {
	defer e.finished.Done()
	for {
		select {
		case <-e.stop:
			return
		case h := <-e.probes:
			if known := e.current.Load().emptied.at(h.start); known == nil || bytes.Compare(known.end, h.end) < 0 {
				e.probeRange(&h)
			}
		}
	}
}

// probeRange makes an emptied range of a range without keys.
func (e *Engine) probeRange(h *emptiedRange) {
	if !e.await(request{watch: h}) {
		return
	}
	empty := true
	err := e.Scan(h.start, h.end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		empty = false
		return false, nil
	})
	if empty && err == nil {
		e.await(request{remember: true})
	}
}

// await sends the writer a request and reports whether it was done.
func (e *Engine) await(r request) bool {
	result := make(chan error, 1)
	r.done = func(err error) { result <- err }
	return e.send(r) == nil && <-result == nil
}

// rememberEmptied adds the watched range to the emptied ones, unless something was written to it.
func (w *writer) rememberEmptied() {
	if h := w.watched; h != nil {
		w.watched = nil
		w.emptied = w.emptied.with(*h)
		w.publish(w.version, w.emptied)
	}
}

// divideEmptied takes the keys of a commit out of the emptied ranges.
func (w *writer) divideEmptied(entries []entry) {
	if len(w.emptied) == 0 && w.watched == nil {
		return
	}
	for i := range entries {
		if entries[i].value == nil {
			continue
		}
		w.emptied = w.emptied.without(entries[i].key)
		if w.watched != nil && w.watched.has(entries[i].key) {
			w.watched = nil
		}
	}
}
