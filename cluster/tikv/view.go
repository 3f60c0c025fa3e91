package tikv

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// views has the timestamps of open views.
type views struct {
	mu     sync.Mutex
	active map[uint64]int
}

// opened and closed count the views at a timestamp.
func (v *views) opened(ts uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active == nil {
		v.active = map[uint64]int{}
	}
	v.active[ts]++
}

func (v *views) closed(ts uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active[ts]--; v.active[ts] == 0 {
		delete(v.active, ts)
	}
}

// oldest returns the oldest timestamp, or 0.
func (v *views) oldest() (first uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for ts := range v.active {
		if first == 0 || ts < first {
			first = ts
		}
	}
	return first
}

// View runs fn at a timestamp of the cluster.
func (e *Engine) View(fn func(engine.Reader) error) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Done()
	ts, err := e.now()
	if err != nil {
		return err
	}
	return e.viewAt(ts, func(v *view) error { return fn(v) })
}

// viewAt runs fn at a timestamp and keeps its versions meanwhile.
func (e *Engine) viewAt(ts uint64, fn func(*view) error) error {
	e.views.opened(ts)
	defer e.views.closed(ts)
	return fn(&view{engine: e, ts: ts})
}

// Scan reads a range in a new view.
func (e *Engine) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return e.View(func(r engine.Reader) error { return r.Scan(start, end, o, fn) })
}

// view reads at one timestamp.
type view struct {
	engine *Engine
	ts     uint64
	read   func(*row) // of a transaction: is called with each row that is read
}

// Get reads a key.
func (v *view) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	from := v.engine.valueKey(key)
	r := row{key: key}
	err = v.scan(from, after(from), engine.ScanOptions{}, func(got *row) (bool, error) {
		r = got.clone()
		return true, nil
	})
	if err != nil {
		return false, err
	}
	if r.empty() {
		if v.read != nil {
			v.read(&r)
		}
		return false, nil
	}
	value, err := r.folded(v.engine.fold)
	if err != nil {
		return false, err
	}
	return true, fn(value)
}

// maxGets is how many keys GetMany reads at the same time.
const maxGets = 16

// GetMany reads keys concurrently, so that maxGets of them take about one round trip.
func (v *view) GetMany(keys [][]byte, fn func(i int, value []byte) (bool, error)) error {
	next := 0
	for some := range slices.Chunk(keys, maxGets) {
		values, errs := make([][]byte, len(some)), make([]error, len(some))
		var asking sync.WaitGroup
		for i, key := range some {
			asking.Go(func() {
				defer panics.Into(&errs[i])
				_, errs[i] = v.Get(key, func(value []byte) error {
					values[i] = bytes.Clone(value)
					return nil
				})
			})
		}
		asking.Wait()
		for i := range some {
			if errs[i] != nil {
				return errs[i]
			}
			if more, err := fn(next, values[i]); err != nil || !more {
				return err
			}
			next++
		}
	}
	return nil
}

// Scan reads a range.
func (v *view) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	from, to := v.engine.bounds(start, end)
	return v.scan(from, to, o, func(r *row) (bool, error) {
		if o.KeysOnly {
			return fn(r.key, nil)
		}
		value, err := r.folded(v.engine.fold)
		if err != nil {
			return false, err
		}
		return fn(r.key, value)
	})
}

// scanBatch is how many keys of the cluster a request of a scan returns.
const scanBatch = 256

// scan calls fn with the rows in a range of encoded keys.
func (v *view) scan(from, to []byte, o engine.ScanOptions, fn func(*row) (bool, error)) error {
	if string(from) >= string(to) {
		return nil
	}
	s := v.engine.cluster.GetSnapshot(v.ts)
	s.SetKeyOnly(o.KeysOnly)
	s.SetScanBatchSize(scanBatch)
	var it iterator
	var err error
	if o.Reverse {
		it, err = s.IterReverse(to, from)
	} else {
		it, err = s.Iter(from, to)
	}
	if err != nil {
		return v.failed(err)
	}
	defer it.Close()
	a := assembly{head: len(v.engine.prefix) + 1, reverse: o.Reverse, keysOnly: o.KeysOnly, fn: func(r *row) (bool, error) {
		if !o.KeysOnly {
			v.engine.noteDeltas(r)
			if v.read != nil {
				v.read(r)
			}
		}
		return fn(r)
	}}
	for it.Valid() {
		if goOn, err := a.add(it.Key(), it.Value()); err != nil || !goOn {
			return err
		}
		if err := it.Next(); err != nil {
			return v.failed(err)
		}
	}
	_, err = a.flush()
	return err
}

// failed adds context to an error.
func (v *view) failed(err error) error { return fmt.Errorf("read from the cluster: %w", err) }

// iterator is an iterator of client-go.
type iterator interface {
	Valid() bool
	Key() []byte
	Value() []byte
	Next() error
	Close()
}

// assembly groups the keys of a scan into rows.
type assembly struct {
	head     int // bytes before encoded keys
	reverse  bool
	keysOnly bool
	fn       func(*row) (bool, error)

	row  row
	next []byte // buffer for keys
}

// add takes the next key and its value. It reports whether the scan continues.
func (a *assembly) add(key, value []byte) (goOn bool, err error) {
	if len(key) < a.head {
		return false, errKey
	}
	var rest []byte
	if a.next, rest, err = splitKey(a.next[:0], key[a.head:]); err != nil {
		return false, err
	}
	if string(a.next) != string(a.row.key) || a.row.empty() {
		if goOn, err := a.flush(); err != nil || !goOn {
			return false, err
		}
		a.row.begin(a.next)
	}
	return true, a.row.add(rest, value, a.keysOnly)
}

// flush calls fn with the complete row, if there is one.
func (a *assembly) flush() (goOn bool, err error) {
	if a.row.empty() {
		return true, nil
	}
	if a.reverse {
		a.row.reverse()
	}
	goOn, err = a.fn(&a.row)
	a.row.reset()
	return goOn, err
}
