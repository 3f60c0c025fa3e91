package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

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
	spared  int64  // bytes of their entries, while space is short
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

func encodeMarker(version, last uint64, parts uint32) []byte {
	marker := binary.BigEndian.AppendUint64(nil, version)
	marker = binary.BigEndian.AppendUint64(marker, last)
	return binary.BigEndian.AppendUint32(marker, parts)
}

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

// IsPartial reports whether Badger has a part of the flush. It must not become a table before the flush is complete: a
// compaction would write its deletes and the deleted values to the last level, where both stay.
func (f *Flush) IsPartial() bool { return f.parts > 0 }

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
	if f.engine.IsShort() {
		if item, err := f.txn.Get(key); err == nil {
			f.spared += item.EstimatedSize()
		}
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
	sealed := sealEntry(nil, markerKey(f.place), encodeMarker(f.version, last, f.parts+1), whole)
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
		f.engine.spared.Add(f.spared)
		f.engine.deleted.Store(f.version)
	}
	f.engine.version.Store(f.version)
	newest, _, err := memtableNumbers(f.engine.o.Dir)
	if err != nil {
		return f.fail(fmt.Errorf("flush: %w", err))
	}
	f.engine.inLogs = append(f.engine.inLogs, loggedFlush{last, newest})
	return nil
}

// loggedFlush is a flush that may be in the log of a memtable of Badger's: of the memtable with a number, or one
// before.
type loggedFlush struct {
	last     uint64 // its last commit
	memtable int
}

// InTables is the last commit of the flushes that are in tables as a whole. Later ones are in the logs of memtables,
// which Badger cuts off at a damaged entry, so the commit log has to keep their commits. Only the flusher calls it.
func (e *Engine) InTables() (last uint64, err error) {
	_, oldest, err := memtableNumbers(e.o.Dir)
	for err == nil && len(e.inLogs) > 0 && e.inLogs[0].memtable < oldest {
		e.inTables, e.inLogs = e.inLogs[0].last, e.inLogs[1:]
	}
	return e.inTables, err
}

// memtableNumbers are the numbers of the newest and the oldest memtable. A memtable has a log until it is in a table.
func memtableNumbers(dir string) (newest, oldest int, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+memtableSuffix))
	oldest = math.MaxInt
	for _, path := range paths {
		n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), memtableSuffix))
		if err != nil {
			return 0, 0, err
		}
		newest, oldest = max(newest, n), min(oldest, n)
	}
	return newest, oldest, err
}

// marker is the marker of a flush.
type marker struct {
	version, last uint64
	parts         uint32
}

// readMarker reads a marker. It is zero if there is none.
func (s *Snapshot) readMarker(place byte) (m marker, err error) {
	_, err = s.get(markerKey(place), func(b []byte, _ kind) error {
		if len(b) != 20 {
			return fmt.Errorf("%w: the marker of a flush is not one", ErrDamaged)
		}
		m = marker{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[16:])}
		return nil
	})
	return m, err
}

// readMarkers returns the last commit of the flushes that are complete. newer reports whether there is an incomplete
// one after them: a memtable's log that Badger has cut off at a damaged entry leaves one, and the commit log has its
// commits. If the incomplete one is older than a complete one, it is unknown which commits are in tables.
func (e *Engine) readMarkers() (last uint64, newer bool, err error) {
	s := e.Snapshot()
	defer s.Release()
	var complete, incomplete marker
	for place := range byte(2) {
		m, err := s.readMarker(place)
		if err != nil {
			return 0, false, err
		}
		err = s.checkParts(place, m.version, m.parts)
		if errors.Is(err, errPartMissing) {
			incomplete, newer = m, true
		} else if err != nil {
			return 0, false, err
		} else if m.version > complete.version {
			complete = m
		}
	}
	if newer && incomplete.version < complete.version {
		return 0, true, fmt.Errorf("%w: %s: %w", ErrDamaged, e.o.Dir, errPartMissing)
	}
	return complete.last, newer, nil
}

// hasNewer reports whether tables have a newer version than the flushes with a marker.
func (e *Engine) hasNewer() (bool, error) {
	s := e.Snapshot()
	defer s.Release()
	var newest uint64
	for place := range byte(2) {
		m, err := s.readMarker(place)
		if err != nil {
			return false, err
		}
		newest = max(newest, m.version)
	}
	return e.db.MaxVersion() > newest, nil
}

// forgetFlushes replaces the markers: the commits up to last are in tables, and no flush lacks a part.
func (e *Engine) forgetFlushes(last uint64) error {
	version := e.db.MaxVersion() + 1
	batch := e.db.NewWriteBatchAt(version)
	defer batch.Cancel()
	for place := range byte(2) {
		sealed := sealEntry(nil, markerKey(place), encodeMarker(version, last, 0), whole)
		if err := batch.SetEntry(badger.NewEntry(markerKey(place), sealed)); err != nil {
			return err
		}
	}
	if err := batch.Flush(); err != nil {
		return err
	}
	e.version.Store(version)
	return nil
}

// errPartMissing names both kinds of files that have parts of a flush.
var errPartMissing = errors.New("a part of one of the last flushes is missing, in its tables (*.sst) or its " +
	"memtables (*.mem)")

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
			return errPartMissing
		}
	}
	return nil
}
