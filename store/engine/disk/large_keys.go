package disk

import (
	"sync"
	"sync/atomic"
)

// largeKeys knows keys whose values in Badger are nearly as long as may be. What is merged into a key is folded only
// when it is flushed, too late to be refused; of these keys it is looked before (see checkGrowth). A flush merges
// maxCommit bytes into a value at most, so no value becomes too long for Badger before it is known here.
type largeKeys struct {
	n    atomic.Int64
	mu   sync.Mutex
	keys map[string]bool
}

// largeValue is from how many bytes on a key is known, and maxLarge how many keys are.
const (
	largeValue = 12 << 20
	maxLarge   = 4096
)

// note notes a key whose value has become long.
func (l *largeKeys) note(key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	if len(l.keys) < maxLarge {
		l.keys[string(key)] = true
		l.n.Store(int64(len(l.keys)))
	}
}

// has reports whether a key is known.
func (l *largeKeys) has(key []byte) bool {
	if l.n.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[string(key)]
}
