package memory

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// Readers reach the newest version without a lock, and the writer knows whether it is read. A reader increments the
// version's counter before it checks that the version is still published; the writer unpublishes the version before it
// checks the counter. So one of them notices the other: no reader is in a tree whose nodes the writer changes in
// place.

// version is a state of the engine that reads begin on.
type version struct {
	view
	change   uint64 // the last one in it
	memtable uint64 // its number

	readers *atomic.Int64 // not inside the version, which is garbage sooner
}

// retired is a version that is not published any more and was being read.
type retired struct {
	readers *atomic.Int64
	base    Base
}

func (v *version) leave()       { v.readers.Add(-1) }
func (v *version) isRead() bool { return v.readers.Load() != 0 }

// enter returns the newest version, counting a read of it until leave.
func (f *Front) enter() (*version, error) {
	if err := f.below.Damage(); err != nil {
		return nil, err
	}
	for v := f.current.Load(); v != nil; v = f.current.Load() {
		if f.enterAt(v) {
			return v, nil
		}
	}
	f.Mu.Lock() // a commit is being applied
	defer f.Mu.Unlock()
	v := f.current.Load()
	switch {
	case v == nil && f.torn:
		return nil, f.Failed()
	case v == nil:
		return nil, engine.ErrClosed
	}
	v.readers.Add(1)
	return v, nil
}

// enterAt counts a read of a version, unless the version is not published any more.
func (f *Front) enterAt(v *version) bool {
	v.readers.Add(1)
	if f.current.Load() == v {
		return true
	}
	v.leave()
	return false
}

// beginWriting allows the memtable to be changed. It returns the version whose nodes may be changed in place, for
// publish, or nil if the nodes of all versions must not change. slow says that the change takes long, so
// readers keep entering the last version meanwhile.
func (f *Front) beginWriting(slow bool) *version {
	f.changes++
	if !slow {
		if v := f.current.Swap(nil); v != nil {
			if !v.isRead() {
				return v
			}
			f.retire(v)
		}
	}
	f.Memtable.tree.Detach()
	return nil
}

// publish lets reads begin on the present state. v is the result of beginWriting, or nil.
func (f *Front) publish(v *version) {
	f.path.Forget()
	if f.closed.Load() || f.torn {
		return
	}
	if v == nil {
		v = &version{readers: new(atomic.Int64)}
	}
	v.view, v.change, v.memtable = f.latest(), f.changes, f.Memtable.number
	if before := f.current.Swap(v); before != nil && before != v {
		f.retire(before)
	}
	if len(f.oldBases) > 0 {
		f.Forget()
	}
}

// retire notes that a version may still be read.
func (f *Front) retire(v *version) {
	if len(f.retired) > 0 {
		f.Forget()
	}
	if v.isRead() {
		f.retired = append(f.retired, retired{v.readers, v.layers.Base})
	}
}

// AwaitReads waits until all reads have ended that are under way, or ctx ends.
func (f *Front) AwaitReads(ctx context.Context) error {
	f.Mu.Lock()
	f.beginWriting(true)
	f.publish(nil) // so that later reads enter another version
	under := slices.Clone(f.retired)
	f.Mu.Unlock()
	for _, r := range under {
		for r.readers.Load() != 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	return nil
}

// Forget releases the bases that are not read any more, and reports whether no retired version is read. Mu is held.
func (f *Front) Forget() (all bool) {
	f.retired = slices.DeleteFunc(f.retired, func(r retired) bool { return r.readers.Load() == 0 })
	f.oldBases = slices.DeleteFunc(f.oldBases, func(b Base) bool {
		unread := !slices.ContainsFunc(f.retired, func(r retired) bool { return r.base == b })
		if unread {
			b.Release()
		}
		return unread
	})
	return len(f.retired) == 0
}
