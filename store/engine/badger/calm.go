package badger

import (
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
)

// Badger merges tables of its first level when there are firstLevelTables: the more come at a time, the less a write
// costs. But a get asks all of them, and a scan begins in each. So while little is written they are merged sooner.
const (
	calmEvery   = time.Second // how often it is looked how much was written
	calmCommits = 1000        // in that time are little
	calmTables  = 4           // so few tables stay in the first level
)

// MergeWhileCalm merges the tables of the first level while little is written, until Close. commits is how many commits
// there were in front.
func (e *Engine) MergeWhileCalm(commits func() uint64) {
	e.merging.Go(func() {
		tick := time.NewTicker(calmEvery)
		defer tick.Stop()
		written, version := commits(), e.version.Load()
		for e.failed.Load() == nil && e.damage.Load() == nil {
			select {
			case <-e.stop:
				return
			case <-tick.C:
			}
			before := written
			written = commits()
			if flushes := version != e.version.Load(); !flushes && written-before <= calmCommits {
				e.mergeFirst(version)
			}
			version = e.version.Load()
		}
	})
}

// mergeFirst merges tables of the first level, those with some of the keys at a time, until few are left or something
// is written to them.
func (e *Engine) mergeFirst(version uint64) {
	for firstLevel(e.db) > calmTables && e.version.Load() == version && e.gate.check() == nil {
		select {
		case <-e.stop:
			return
		default:
		}
		if mergeFirstLevel(e.db) != nil { // Badger does, just now
			return
		}
	}
}

// firstLevel is how many tables the first level has.
func firstLevel(db *badger.DB) int { return db.Levels()[0].NumTables }

// mergeFirstLevel merges the oldest tables of the first level, as many as have keys in common, into the next level that
// has any. Others may merge tables at the same time. Badger offers this only for all levels, and then nobody can end
// it: Flatten.
func mergeFirstLevel(db *badger.DB) error {
	levels := reflect.ValueOf(db).Elem().FieldByName("lc")
	if !levels.IsValid() || levels.Kind() != reflect.Pointer {
		return errors.New("this Badger has other levels")
	}
	return mergeLevel(levels.UnsafePointer(), calmMerger, mergePriority{score: calmScore})
}

const (
	calmMerger = 173  // a number that none of Badger's own has; only its first one makes larger tables in the first level
	calmScore  = 1.71 // what Badger gives to merges that are asked for
)

// mergeLevel is the method of Badger's that merges some tables of a level. TestMergeFirstLevel finds out when it is not
// like this any more.
//
//go:linkname mergeLevel github.com/dgraph-io/badger/v4.(*levelsController).doCompact
func mergeLevel(levels unsafe.Pointer, merger int, p mergePriority) error

// mergePriority has the layout of Badger's compactionPriority.
type mergePriority struct {
	_     int // the level: the first
	score float64
	_     float64
	_     [][]byte
	_     struct { // Badger finds out which level is the next
		_    int
		_, _ []int64
	}
}
