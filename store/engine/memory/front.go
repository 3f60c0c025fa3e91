package memory

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// Front is the part of an engine that is in memory. An engine embeds it, and calls Init before anything else.
type Front struct {
	fold     engine.Fold
	below    Below
	checkOp  func(*engine.Op) error
	current  atomic.Pointer[version] // nil: it is being changed, or the engine is closed
	updating chan struct{}           // has an element while an update is under way
	large    sync.Mutex              // held by a large commit, before Mu
	under    atomic.Int64            // operations that Close waits for
	closed   atomic.Bool             // set with Mu held
	failed   atomic.Pointer[error]   // why there are no more commits

	Mu       sync.Mutex // the lock of writers: it guards all that follows
	Changed  sync.Cond  // broadcast when Admit may have to look again; Close does so too
	Memtable Memtable   // the one that commits change
	Layers   *Layers    // below the memtable; replaced as a whole

	changes  uint64  // counts changes
	restored uint64  // the change that was the last Restore
	dropped  uint64  // the number of the last memtable that was flushed
	filter   *filter // of keys that no layer has; nil: there are no layers
	path     tree.Path
	undo     []undo    // of the commit that is being applied
	torn     bool      // a commit panicked, and the memtable could not be restored: nothing is read
	retired  []retired // versions that are read and not published any more; as of the last forget
	oldBases []Base    // which retired versions may still read
}

// Below is the part of an engine below its Front. Mu is held when Admit and Append are called.
type Below interface {
	// CheckKey refuses keys that cannot be stored.
	CheckKey(key []byte) error

	// Damage is why nothing can be read any more, or nil.
	Damage() error

	// Admit returns when a commit may be applied, or says why it may not. It waits on Changed. freeing is for a commit
	// that leads to space being freed.
	Admit(ops []engine.Op, size int, freeing bool) error

	// Append makes a commit durable that was applied to the memtable. If it fails, the commit is reverted. full asks for
	// the memtable to be frozen.
	Append(ops []engine.Op) (full bool, err error)

	// Defer reports whether it calls done later, and then Release. It is called for commits that were appended.
	Defer(done func(error)) bool
}

// Base is the lowest layer: an immutable snapshot.
type Base interface {
	engine.Reader

	// Release is called when nothing reads the snapshot any more.
	Release()
}

// Layers are below the memtable. They are immutable.
type Layers struct {
	Frozen []*Memtable // waiting to be flushed, the newest first
	Base   Base        // a snapshot with the rows that were flushed before Frozen; nil: there are no layers
}

// Init makes the front ready, with an empty memtable above base, and with so many bytes for filters of the keys that
// were never written.
func (f *Front) Init(fold engine.Fold, below Below, base Base, filterBytes int64) {
	f.filter = newFilter(filterBytes)
	f.init(fold.Recovering(), below, tree.New(), &Layers{Base: base})
}

func (f *Front) init(fold engine.Fold, below Below, t tree.Tree, l *Layers) {
	f.fold, f.below, f.updating, f.Changed.L = fold, below, make(chan struct{}, 1), &f.Mu
	f.checkOp = f.refuse
	f.Memtable, f.Layers = Memtable{tree: t, number: 1}, l
	f.publish(nil)
}

// Acquire counts an operation that Close waits for, unless the engine is closed.
func (f *Front) Acquire() error {
	f.under.Add(1)
	if f.closed.Load() {
		f.under.Add(-1)
		return engine.ErrClosed
	}
	return nil
}

// Release ends operations that Acquire has counted.
func (f *Front) Release(n int64) { f.under.Add(-n) }

// Fail ends all commits until the engine is opened again, and reports whether they had not ended before. Close and
// reads go on.
func (f *Front) Fail(reason error) bool { return f.failed.CompareAndSwap(nil, &reason) }

// Failed is the reason that was given to Fail, or nil.
func (f *Front) Failed() error {
	if p := f.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// Refused is the error of commits after Fail, or nil.
func (f *Front) Refused() error {
	if err := f.Failed(); err != nil {
		return fmt.Errorf("%w: no more writes until the data is opened again: %w", engine.ErrRefused, err)
	}
	return nil
}

// IsClosed reports whether Close was called.
func (f *Front) IsClosed() bool { return f.closed.Load() }

// Close waits for the commits and updates that are not answered and for the reads under way.
func (f *Front) Close() error {
	f.Mu.Lock()
	if f.closed.Load() {
		f.Mu.Unlock()
		return engine.ErrClosed
	}
	f.closed.Store(true)
	if v := f.current.Swap(nil); v != nil {
		f.retire(v)
	}
	f.Changed.Broadcast()
	f.Mu.Unlock()
	for i := 0; f.busy(); i++ {
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// busy reports whether a closed engine still has to wait.
func (f *Front) busy() bool {
	if f.under.Load() != 0 {
		return true
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return !f.Forget()
}

// Freeze puts the memtable on top of the layers and begins another one. Mu is held.
func (f *Front) Freeze() {
	f.beginWriting(true)
	f.freeze()
	f.publish(nil)
}

func (f *Front) freeze() {
	m := f.Memtable
	if invariants.Enabled {
		f.checkFrozen(&m)
	}
	f.Memtable = Memtable{tree: tree.New(), number: m.number + 1, Last: m.Last}
	f.Layers = &Layers{Frozen: append([]*Memtable{&m}, f.Layers.Frozen...), Base: f.Layers.Base}
}

// checkFrozen panics unless a memtable that is being frozen is sound and newer than the frozen ones.
func (f *Front) checkFrozen(m *Memtable) {
	_, _, err := m.tree.Check()
	invariants.Check(err == nil, "a memtable that is frozen: %v", err)
	for _, older := range f.Layers.Frozen {
		invariants.Check(older.number < m.number && older.Last <= m.Last, "memtable %d with commits up to %d is frozen "+
			"above memtable %d with commits up to %d", m.number, m.Last, older.number, older.Last)
		m = older
	}
	invariants.Check(m.number > f.dropped, "memtable %d is frozen, and memtable %d was flushed", m.number, f.dropped)
}

// OldestFrozen is the memtable that is flushed next, or nil. Mu is held.
func (f *Front) OldestFrozen() *Memtable {
	if n := len(f.Layers.Frozen); n > 0 {
		return f.Layers.Frozen[n-1]
	}
	return nil
}

// Flushed drops the oldest frozen memtable: base has its rows. Mu is held.
func (f *Front) Flushed(m *Memtable, base Base) {
	invariants.Check(f.OldestFrozen() == m, "memtable %d was flushed out of order", m.number)
	l := f.Layers
	f.beginWriting(true)
	f.Layers = &Layers{Frozen: l.Frozen[:len(l.Frozen)-1], Base: base}
	f.dropped = m.number
	f.oldBases = append(f.oldBases, l.Base)
	f.publish(nil)
	f.Forget() // also of an engine that is being closed
}

// Memtable has the newest rows in a tree. What a row means is in rows.go.
type Memtable struct {
	Size int64  // bytes of its rows, about
	Last uint64 // the sequence number of the last commit in it, or before it

	tree   tree.Tree
	number uint64 // counts memtables
	folded []byte // the last value that deltas were folded into
}

// Each calls fn with the rows of a frozen memtable, in the order of their keys, as operations that make the same
// changes to the layers below. err says that deltas in the memtable cannot be folded.
func (m *Memtable) Each(fold engine.Fold, fn func(op engine.Op, err error) error) error {
	return m.tree.Scan(nil, nil, false, func(r tree.Row) (bool, error) {
		k, value, err := content(r, fold)
		op := engine.Op{Kind: engine.Put, Key: r.Key(), Value: value}
		switch k {
		case deleted:
			op.Kind, op.Value = engine.Delete, nil
		case merged:
			op.Kind = engine.Merge
		}
		return true, fn(op, err)
	})
}
