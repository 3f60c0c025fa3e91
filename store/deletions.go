package store

import (
	"sync"

	"github.com/cqld/cqld/store/engine"
)

// deletionIndex knows in memory which partitions may have tombstones of ranges or of the partition, so
// that reading the others costs nothing. A partition is entered before its first tombstone is
// committed: whoever looks after choosing a snapshot misses none that the snapshot has.
type deletionIndex struct {
	mu     sync.RWMutex
	tables map[uint32]map[int64]struct{} // tokens by the table's number
}

func (x *deletionIndex) add(id uint32, token int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tables == nil {
		x.tables = map[uint32]map[int64]struct{}{}
	}
	tokens := x.tables[id]
	if tokens == nil {
		tokens = map[int64]struct{}{}
		x.tables[id] = tokens
	}
	tokens[token] = struct{}{}
}

func (x *deletionIndex) has(id uint32, token int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, ok := x.tables[id][token]
	return ok
}

// any reports whether a table may have any.
func (x *deletionIndex) any(id uint32) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.tables[id]) > 0
}

func (x *deletionIndex) drop(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.tables, id)
}

// load enters what a table has stored.
func (x *deletionIndex) load(r engine.Reader, id uint32) error {
	start, end := appendArea(nil, id, areaDeletions), appendArea(nil, id, areaRows)
	return r.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		if len(key) < areaSize+tokenSize {
			return false, errKey
		}
		x.add(id, tokenOf(key))
		return true, nil
	})
}
