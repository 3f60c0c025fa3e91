package tables

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/skl"
	"github.com/dgraph-io/badger/v4/table"
)

// Reader reads the memtables and tables of a database of Badger's. A nil Reader knows nothing.
type Reader struct {
	in     *internals
	most   int         // bytes of indexes
	failed func(error) // takes why a file cannot be removed

	mu     sync.RWMutex
	levels *levels // nil: none yet
	closed bool
}

// New makes a reader, or returns an error if this Badger is made otherwise than expected. Where the indexes of all
// tables would have more than most bytes, everything is left to Badger. failed takes why a file cannot be removed that
// Badger has no more.
func New(db *badger.DB, most int64, failed func(error)) (*Reader, error) {
	in, err := internalsOf(db)
	if err != nil {
		return nil, err
	}
	return &Reader{in: in, most: int(most), failed: failed}, nil
}

// maxValue is the longest value that is read here. Badger moves longer ones between value logs, and then an older
// version may be above a newer one.
const maxValue = 64 << 10

// What Badger notes of a value.
const (
	isDeleted = 1 << 0
	isPointer = 1 << 1 // into the value log
)

// lookup looks in memtables.
type lookup struct {
	key   []byte // with its version
	lists []*skl.Skiplist
}

var lookups = sync.Pool{New: func() any { return new(lookup) }}

// Get calls fn with the value that a key has in a snapshot of version. If known is false Badger has to be asked.
func (r *Reader) Get(key []byte, version uint64, fn func(value []byte) error) (found, known bool, err error) {
	if r == nil {
		return false, false, nil
	}
	e, s := r.inMemtables(key, version)
	if s == absent {
		var t *table.Table
		if e, t, s = r.inTables(key, version); t != nil {
			defer func() {
				if err := t.DecrRef(); err != nil {
					r.failed(err)
				}
			}()
		}
	}
	value, found, known := e.read(s)
	if !found {
		return false, known, nil
	}
	return true, true, fn(value)
}

// read is the value of an entry, if there is one. If known is false Badger has to be asked.
func (e *entry) read(s state) (value []byte, found, known bool) {
	switch {
	case s == absent:
		return nil, false, true
	case s == unknown || e.meta&isPointer != 0 || len(e.value) > maxValue:
		return nil, false, false
	case e.meta&isDeleted != 0:
		return nil, false, true
	case len(e.value) == 0: // Badger has an error for it
		return nil, false, false
	}
	return e.value, true, true
}

// inMemtables finds a key in the memtables.
func (r *Reader) inMemtables(key []byte, version uint64) (entry, state) {
	l := r.enterMemtables()
	defer l.leave()
	return l.find(key, version)
}

// enterMemtables holds the memtables until leave is called.
func (r *Reader) enterMemtables() *lookup {
	l := lookups.Get().(*lookup)
	l.lists = r.in.memtables(l.lists[:0])
	return l
}

func (l *lookup) leave() {
	for _, list := range l.lists {
		list.DecrRef()
	}
	clear(l.lists)
	lookups.Put(l)
}

// find finds a key. What is newer is in a newer memtable.
func (l *lookup) find(key []byte, version uint64) (entry, state) {
	l.key = l.key[:0]
	for _, list := range l.lists {
		if len(l.key) == 0 {
			l.key = binary.BigEndian.AppendUint64(append(l.key, key...), math.MaxUint64-version)
		}
		if v := list.Get(l.key); v.Meta != 0 || v.Value != nil {
			if v.ExpiresAt != 0 {
				return entry{}, unknown
			}
			return entry{v.Meta, v.Value}, present // memory of Go's, which stays valid
		}
	}
	return entry{}, absent
}

// inTables finds a key in the tables. The table that it returns is to be let go of, with DecrRef.
func (r *Reader) inTables(key []byte, version uint64) (e entry, t *table.Table, s state) {
	l := r.enter()
	if l == nil {
		return entry{}, nil, unknown
	}
	defer r.mu.RUnlock()
	if e, t, s = l.find(key, version); t != nil {
		t.IncrRef()
	}
	return e, t, s
}

// tries is how often the tables that Badger has are taken before a get is left to Badger, which may be merging them.
const tries = 3

// enter returns the tables that Badger has, with r.mu read-locked, or nil.
func (r *Reader) enter() *levels {
	for range tries {
		r.mu.RLock()
		l := r.levels
		current := l != nil && l.suffice(r.in)
		if current && l.size <= r.most {
			return l
		}
		r.mu.RUnlock()
		if current || !r.refresh() {
			break
		}
	}
	return nil
}

// refresh takes the tables that Badger has. It reports false at the end.
func (r *Reader) refresh() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if before := r.levels; before == nil || !before.areOf(r.in) {
		r.levels = newLevels(r.in, before)
		r.release(before)
	}
	return true
}

// Forget lets go of the tables if Badger has others by now, so that files of those that it has no more are removed.
func (r *Reader) Forget() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.levels != nil && !r.levels.areOf(r.in) {
		r.release(r.levels)
		r.levels = nil
	}
}

// Close lets go of the tables. It comes before Badger is closed, when nobody reads any more.
func (r *Reader) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.release(r.levels)
	r.levels = nil
}

// release lets go of tables.
func (r *Reader) release(l *levels) {
	if l == nil {
		return
	}
	if err := l.release(); err != nil {
		r.failed(err)
	}
}
