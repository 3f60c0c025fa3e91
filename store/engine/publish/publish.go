// Package publish is how readers come to the newest version of what one writer changes in place: they take no lock, and
// the writer knows who reads.
//
// The writer takes the version back before it changes nodes of the tree in it in place, which it does if nobody reads
// it. A reader counts itself before it looks whether its version is still published, and the writer takes the version
// back before it looks whether there are readers. So one of them sees the other.
package publish

import (
	"slices"
	"sync/atomic"
)

// Place has the version that reads begin on. V is what a version has, and H is what a read of it holds that has to
// be given back when the last such read is over.
type Place[V any, H comparable] struct {
	current atomic.Pointer[Version[V, H]] // nil: it is being changed, or the place is closed
	left    []left[H]                     // reads of versions that are not published any more; the writer's
}

// Version is what is published.
type Version[V any, H comparable] struct {
	Value   V
	Holds   H
	readers *atomic.Int64 // stands alone, because it is needed longer than the version
}

// left is what is known of a version that is not published any more and is being read.
type left[H comparable] struct {
	readers *atomic.Int64
	holds   H
}

// Enter counts a read in, which has to call Leave when it is done. It returns nil if nothing is published: the caller
// waits for the writer and calls EnterLast.
func (p *Place[V, H]) Enter() *Version[V, H] {
	for {
		v := p.current.Load()
		if v == nil || p.EnterAt(v) {
			return v
		}
	}
}

// EnterAt counts a read in at a version, unless it is not published any more.
func (p *Place[V, H]) EnterAt(v *Version[V, H]) bool {
	v.readers.Add(1)
	if p.current.Load() == v {
		return true
	}
	v.Leave()
	return false
}

// EnterLast is Enter for who has the writer's lock. It returns nil if the place is closed.
func (p *Place[V, H]) EnterLast() *Version[V, H] {
	v := p.current.Load()
	if v != nil {
		v.readers.Add(1)
	}
	return v
}

// Leave ends a read.
func (v *Version[V, H]) Leave() { v.readers.Add(-1) }

// Last is the version that is published, or nil.
func (p *Place[V, H]) Last() *Version[V, H] { return p.current.Load() }

// IsRead reports whether the version is being read.
func (v *Version[V, H]) IsRead() bool { return v.readers.Load() != 0 }

// BeginWriting comes before the writer changes anything. It returns the version whose nodes may be changed in place and
// which is published again, or nil: then the nodes of all versions stay as they are. long says that readers go on with
// the version there is meanwhile.
func (p *Place[V, H]) BeginWriting(long bool) *Version[V, H] {
	if long {
		return nil
	}
	v := p.current.Swap(nil)
	if v != nil && v.IsRead() {
		p.retire(v)
		return nil
	}
	return v
}

// New makes a version to be published.
func New[V any, H comparable]() *Version[V, H] { return &Version[V, H]{readers: new(atomic.Int64)} }

// Publish lets reads begin on a version.
func (p *Place[V, H]) Publish(v *Version[V, H]) {
	if before := p.current.Swap(v); before != nil && before != v {
		p.retire(before)
	}
}

// Close lets no more reads begin.
func (p *Place[V, H]) Close() {
	if v := p.current.Swap(nil); v != nil {
		p.retire(v)
	}
}

// retire notes who reads what is not published any more.
func (p *Place[V, H]) retire(v *Version[V, H]) {
	if len(p.left) > 0 {
		p.Forget()
	}
	if v.IsRead() {
		p.left = append(p.left, left[H]{v.readers, v.Holds})
	}
}

// Forget drops what nobody reads any more, and reports whether nothing is left.
func (p *Place[V, H]) Forget() (all bool) {
	p.left = slices.DeleteFunc(p.left, func(l left[H]) bool { return l.readers.Load() == 0 })
	return len(p.left) == 0
}

// IsHeld reports whether a read of a version that is not published any more holds something. It goes by the last
// Forget.
func (p *Place[V, H]) IsHeld(what H) bool {
	return slices.ContainsFunc(p.left, func(l left[H]) bool { return l.holds == what })
}
