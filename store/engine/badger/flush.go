package badger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine/files"
)

// Flush writes a memtable. One is under way at a time. All its entries have one version, the next one, which no
// snapshot shows until the flush is complete. It has as many transactions as it needs. Each ends with a part, and the
// last one has the marker:
//
//	!cqld!part! <place> <number>	the version of the flush
//	!cqld!flush! <place>			its version, its last commit, and how many transactions it has
//
// Flushes use two places in turn. So Open can check that the last two flushes are complete: older ones are in tables
// (see admit).
type Flush struct {
	engine  *Engine
	version uint64
	place   byte
	parts   uint32 // transactions that were committed
	txn     *badger.Txn
	size    int64  // the maximum size of txn in Badger
	count   int64  // entries of txn
	slab    []byte // the values of txn
	deletes bool   // some keys
	wait    func(reason error) error
}

const (
	partPrefix   = ownPrefix + "part!"
	markerPrefix = ownPrefix + "flush!"
)

func partKey(place byte, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(partPrefix), place), number)
}

func markerKey(place byte) []byte { return append([]byte(markerPrefix), place) }

// BeginFlush begins a flush. While Badger must not be given more, wait is called with the reason until it may: wait
// waits a little, or returns an error that ends the flush. Discard has to be called at the end.
func (e *Engine) BeginFlush(wait func(reason error) error) *Flush {
	version := e.version.Load() + 1
	f := &Flush{engine: e, version: version, place: byte(version % 2), wait: wait}
	e.flushes.Store(true)
	e.writing.Lock()
	e.budget = 0
	e.writing.Unlock()
	f.beginTxn()
	return f
}

// beginTxn begins a transaction.
func (f *Flush) beginTxn() {
	f.txn = f.engine.db.NewTransactionAt(f.version-1, true)
	f.size, f.count, f.slab = 0, 0, f.slab[:0]
}

// Discard ends a flush. If it is not complete, its entries are not shown until the folder is opened again.
func (f *Flush) Discard() {
	f.txn.Discard()
	f.engine.flushes.Store(false)
}

// Put writes the value of a key. A flush writes each key once. The caller must not change the key until the flush
// ends.
func (f *Flush) Put(key, value []byte) error {
	if len(value) > f.engine.o.maxChunk() {
		return f.putLong(key, value)
	}
	if err := f.set(key, value, whole); err != nil {
		return err
	}
	return f.dropLong(key)
}

// Delete removes a key.
func (f *Flush) Delete(key []byte) error {
	f.deletes = true
	if err := f.remove(key); err != nil {
		return err
	}
	return f.dropLong(key)
}

// set writes an entry.
func (f *Flush) set(key, value []byte, k kind) error {
	if err := f.reserve(len(key) + len(value) + trailer); err != nil {
		return err
	}
	if cap(f.slab)-len(f.slab) < len(value)+trailer { // values of the transaction stay where they are
		f.slab = make([]byte, 0, max(slabSize, len(value)+trailer))
	}
	begin := len(f.slab)
	f.slab = sealEntry(f.slab, key, value, k)
	return f.check(f.txn.SetEntry(badger.NewEntry(key, f.slab[begin:len(f.slab):len(f.slab)])))
}

// slabSize is how much memory for values is allocated at a time.
const slabSize = 1 << 20

// remove deletes an entry.
func (f *Flush) remove(key []byte) error {
	if err := f.reserve(len(key)); err != nil {
		return err
	}
	return f.check(f.txn.Delete(key))
}

// check wraps Badger's error for an entry.
func (f *Flush) check(err error) error {
	if err != nil {
		return f.fail(fmt.Errorf("badger refuses an entry: %w", err))
	}
	return nil
}

// entryOverhead is the maximum space of an entry in Badger's memtable and log besides its key and value.
const entryOverhead = 160

// reserve commits the transaction if an entry does not fit into it any more. A tenth of Badger's limits is left for
// the entries that end a transaction, and for differences in counting.
func (f *Flush) reserve(bytes int) error {
	size := int64(bytes + entryOverhead)
	db := f.engine.db
	if f.size+size > db.MaxBatchSize()*9/10 || f.count+1 > db.MaxBatchCount()*9/10 {
		if err := f.commit(); err != nil {
			return err
		}
		f.beginTxn()
	}
	f.size += size
	f.count++
	return nil
}

// commit commits the transaction, when there is room for it.
func (f *Flush) commit() error {
	part := sealEntry(nil, partKey(f.place, f.parts), binary.BigEndian.AppendUint64(nil, f.version), whole)
	if err := f.check(f.txn.SetEntry(badger.NewEntry(partKey(f.place, f.parts), part))); err != nil {
		return err
	}
	if err := f.admit(f.size + 2*entryOverhead); err != nil { // which locks writing
		return err
	}
	defer f.engine.writing.Unlock()
	if err := f.txn.CommitAt(f.version, nil); err != nil {
		return f.fail(fmt.Errorf("flush: %w", err))
	}
	f.parts++
	return nil
}

// fail ends all flushing.
func (f *Flush) fail(err error) error {
	f.engine.failed.CompareAndSwap(nil, &err)
	return err
}

// Finish completes a flush of the commits up to last. When it returns they are on disk, and the next snapshot has
// them.
func (f *Flush) Finish(last uint64) error {
	marker := binary.BigEndian.AppendUint64(nil, f.version)
	marker = binary.BigEndian.AppendUint64(marker, last)
	marker = binary.BigEndian.AppendUint32(marker, f.parts+1)
	sealed := sealEntry(nil, markerKey(f.place), marker, whole)
	if err := f.check(f.txn.SetEntry(badger.NewEntry(markerKey(f.place), sealed))); err != nil {
		return err
	}
	if err := f.commit(); err != nil {
		return err
	}
	if err := files.SyncFile(f.engine.o.Dir); err != nil { // Badger syncs files, and not their names
		return f.fail(fmt.Errorf("flush: %w", err))
	}
	f.engine.long.flushed()
	if f.deletes {
		f.engine.deleted.Store(f.version)
	}
	f.engine.version.Store(f.version)
	return nil
}

// readMarkers checks that the last flushes are complete, and returns the last commit of the newest.
func (e *Engine) readMarkers() (last uint64, err error) {
	s := e.Snapshot()
	defer s.Release()
	var newest uint64
	for place := range byte(2) {
		var version, commit uint64
		var parts uint32
		_, err := s.get(markerKey(place), func(b []byte, _ kind) error {
			if len(b) != 20 {
				return fmt.Errorf("%w: the marker of a flush is not one", ErrDamaged)
			}
			version, commit, parts = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[16:])
			return nil
		})
		if err == nil {
			err = s.checkParts(place, version, parts)
		}
		if err != nil {
			return 0, err
		}
		if version > newest {
			newest, last = version, commit
		}
	}
	return last, nil
}

var errPartMissing = errors.New("a part of the last flush is missing")

// checkParts checks that a flush has all its transactions. A later flush that used the place may have replaced some.
func (s *Snapshot) checkParts(place byte, version uint64, parts uint32) error {
	for i := range parts {
		found := false
		_, err := s.get(partKey(place, i), func(b []byte, _ kind) error {
			found = len(b) == 8 && binary.BigEndian.Uint64(b) >= version
			return nil
		})
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("%w: %w", ErrDamaged, errPartMissing)
		}
	}
	return nil
}
