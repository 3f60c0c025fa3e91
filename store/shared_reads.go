package store

import "github.com/cqld/cqld/store/engine"

// A view of a shared engine costs a request for its timestamp. A read of one row needs none if it reads one key: what
// was committed last is a snapshot of it.

// newest reads what was committed last. It reads one key, and fails if definitions have changed until then: the row may
// be of a table that was truncated meanwhile, or whose tombstones have to be looked for.
type newest struct {
	engine.Reader
	reader *reader
}

// Get reads the key.
func (n newest) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	r := n.reader
	found, err = n.Reader.Get(key, func(value []byte) error {
		if r.store.moved(r.state) {
			return errTruncated
		}
		return fn(value)
	})
	if !found && err == nil && r.store.moved(r.state) {
		err = errTruncated
	}
	return found, err
}

// readsOneKey reports whether the read gets one key and nothing else.
func (r *reader) readsOneKey() bool {
	read, t := r.read, r.read.Table
	if len(read.Keys) != 1 || read.After != nil || len(read.Lookups) > 0 || read.Nearest != nil ||
		len(t.Static) > 0 || r.store.deletions.FilterOf(r.id, r.clock) != nil {
		return false
	}
	if _, marked := r.state.marked[r.id]; marked {
		return false
	}
	if len(t.Clustering) == 0 {
		return true
	}
	if read.allRows() || read.ranges() != 1 {
		return false
	}
	r.place.slice = read.slice(0)
	return r.place.slice.isRow(t)
}
