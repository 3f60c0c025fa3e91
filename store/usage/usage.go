package usage

import (
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Estimate is roughly the size of a table. Sweeps count it; later writes are added as if all rows were new, in
// partitions like the others.
type Estimate struct {
	Partitions int64
	Rows       int64 // static ones too
	Bytes      int64 // of keys and values, as stored
	Tombstones int64 // of cells, rows and ranges; expired cells too

	LargestPartition int64  // bytes
	LargestKey       []byte // its serialized key
}

// MeanPartition is the mean size of a partition in bytes.
func (e *Estimate) MeanPartition() int64 {
	if e.Partitions == 0 {
		return 0
	}
	return e.Bytes / e.Partitions
}

// Table is the usage of one table.
type Table struct {
	waits sync.Mutex // held by the current AwaitWrites
	mu    sync.Mutex
	estimate
	period  int    // counts the calls of AwaitWrites
	writing [2]int // mutations that are being committed and have begun in an even or an odd period
	stale   bool   // Recount was called since the last sweep began
}

// estimate is the last count and everything since.
type estimate struct {
	counted Estimate // by the last sweep
	swept   bool     // there was a sweep
	written struct{ rows, bytes int64 }
	due     int64 // the second from which something may be purged; math.MaxInt64: nothing
	sweptAt int64
}

// NewUsage is the usage of a table that has to be swept, because nothing is known of it.
func NewUsage() *Table { return &Table{} }

// BeginWrite adds a mutation, which is being committed until EndWrite is called with the returned period.
func (u *Table) BeginWrite(rows, bytes int, due int64) (period int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.writing[u.period&1]++
	u.written.rows += int64(rows)
	u.written.bytes += int64(bytes)
	u.due = min(u.due, due)
	return u.period
}

// EndWrite is called when a mutation is committed or has failed.
func (u *Table) EndWrite(period int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.writing[period&1]--
}

// AwaitWrites waits until the mutations have ended that have begun before.
func (u *Table) AwaitWrites() {
	u.waits.Lock()
	defer u.waits.Unlock()
	u.mu.Lock()
	before := u.period
	u.period++
	u.mu.Unlock()
	for u.isWriting(before) {
		time.Sleep(100 * time.Microsecond)
	}
}

func (u *Table) isWriting(period int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.writing[period&1] > 0
}

// Copy returns the usage without the mutations that are being committed.
func (u *Table) Copy() *Table {
	u.mu.Lock()
	defer u.mu.Unlock()
	return &Table{estimate: u.estimate}
}

// Restore replaces the estimate by that of another usage, which never changes.
func (u *Table) Restore(from *Table) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.estimate = from.estimate
}

// NoteDue notes that something may be purged from a second on.
func (u *Table) NoteDue(second int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.due = min(u.due, second)
}

// IsIdle reports whether no mutation is being committed.
func (u *Table) IsIdle() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.writing == [2]int{}
}

// RowsWritten returns how many rows were written since the table was counted, and whether all of these are committed.
func (u *Table) RowsWritten() (n int64, idle bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.written.rows, u.writing == [2]int{}
}

// A table is counted again after so many rows were written, and so many seconds.
const (
	recountRows    = 1000
	recountSeconds = 60
)

// WantsSweep reports whether the table should be swept: something may be purged, or half as much was written as there
// was when it was counted. A table that grows is gone through three times in all.
func (u *Table) WantsSweep(now int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.swept || u.stale || u.due <= now {
		return true
	}
	return u.written.rows > max(recountRows, u.counted.Rows/2) && now >= u.sweptAt+recountSeconds
}

// Recount makes WantsSweep true if the table was never counted, or a tenth as much was written since then. Each 100,000
// rows put it off by a second, so that a large table is not gone through all the time.
func (u *Table) Recount(now int64) (wants bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stale = !u.swept || u.written.rows > u.counted.Rows/10 && now >= u.sweptAt+u.counted.Rows/100_000
	return u.stale
}

// SweptBefore reports whether the last sweep began before a second.
func (u *Table) SweptBefore(second int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sweptAt < second
}

// BeginSweep starts a sweep, whose count lacks later writes.
func (u *Table) BeginSweep(now int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.due, u.sweptAt, u.stale = math.MaxInt64, now, false
	u.written.rows, u.written.bytes = 0, 0
}

// EndSweep sets the count of a sweep, and the second from which something may be purged again.
func (u *Table) EndSweep(counted Estimate, due int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.counted, u.swept = counted, true
	u.due = min(u.due, due)
}

// Estimate is the last count plus later writes.
func (u *Table) Estimate() Estimate {
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.counted
	e.Rows += u.written.rows
	e.Bytes += u.written.bytes
	if u.counted.Rows > 0 {
		e.Partitions += int64(float64(u.written.rows) * float64(e.Partitions) / float64(u.counted.Rows))
	}
	if e.Partitions == 0 {
		e.Partitions = min(e.Rows, 1)
	}
	return e
}

// Tables has the usage of each table by its number.
type Tables struct{ ByTable[Table] }

// Of returns the usage of a table.
func (u *Tables) Of(id uint32) *Table { return u.GetOrMake(id, NewUsage) }

// AwaitWrites waits until no mutation is being committed.
func (u *Tables) AwaitWrites() {
	for _, known := range u.All() {
		for !known.IsIdle() {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// ByTable has something for each table, by the tables' numbers, in a map that is replaced as a whole: it is read
// without a lock.
type ByTable[T any] struct {
	mu  sync.Mutex // held to replace the map
	all atomic.Pointer[map[uint32]*T]
}

// All is the map. It is not to be changed.
func (n *ByTable[T]) All() map[uint32]*T {
	if all := n.all.Load(); all != nil {
		return *all
	}
	return nil
}

// GetOrMake returns the value of a table. It makes it if there is none.
func (n *ByTable[T]) GetOrMake(id uint32, create func() *T) *T {
	if x := n.All()[id]; x != nil {
		return x
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.All()[id]
	if x == nil {
		x = create()
		n.put(id, x)
	}
	return x
}

// Replace replaces the value of a table, and reports false if that is not old.
func (n *ByTable[T]) Replace(id uint32, old, x *T) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.All()[id] != old {
		return false
	}
	n.put(id, x)
	return true
}

// Drop removes the value of a table, and returns it or nil.
func (n *ByTable[T]) Drop(id uint32) *T {
	n.mu.Lock()
	defer n.mu.Unlock()
	had := n.All()[id]
	n.put(id, nil)
	return had
}

// put sets the value of a table; nil removes it. The lock is held.
func (n *ByTable[T]) put(id uint32, x *T) {
	next := map[uint32]*T{}
	maps.Copy(next, n.All())
	if next[id] = x; x == nil {
		delete(next, id)
	}
	n.all.Store(&next)
}
