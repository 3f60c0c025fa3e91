package badger

import (
	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// batch is a Badger transaction in the making. It reads what is committed and its own entries.
type batch struct {
	snapshot // its transaction takes the writes; nil as long as there is none
	entries  []entry
	size     int
	inTables int         // of size, what counts for the limit of a commit
	large    bool        // has values that go to the value log
	written  [256]uint64 // has the bits of the entries' hashes, if there is a cache
	slab     slab
}

// begin starts a transaction on top of version, unless there is one.
func (b *batch) begin(db *badger.DB, c *cache, fold engine.Fold, version uint64) {
	if b.txn == nil {
		b.snapshot = snapshot{txn: db.NewTransactionAt(version, true), cache: c, fold: fold}
	}
}

// add writes entries, which the caller leaves as they are until the commit. Values of threshold bytes or more go to
// the value log.
func (b *batch) add(entries []entry, threshold int64) {
	for _, en := range entries {
		var err error
		if en.value == nil {
			err = b.txn.Delete(en.key)
		} else {
			x := b.slab.entry(en.key, en.value)
			if en.long {
				x.UserMeta = longMeta
			}
			err = b.txn.SetEntry(x)
		}
		if err != nil {
			panic("badger: a checked entry is refused: " + err.Error())
		}
		b.size += entrySize(en.key, en.value)
		b.large = b.large || int64(len(en.value)) >= threshold
		b.entries = append(b.entries, en)
		if b.cache != nil {
			word, bit := b.place(en.hash)
			*word |= bit
		}
	}
}

// place is the bit in written for a hash. The hash's last bits choose the shard and are not used here.
func (b *batch) place(hash uint64) (word *uint64, bit uint64) {
	return &b.written[hash>>56], 1 << (hash >> 50 & 63)
}

// Get asks the transaction for what may be among its entries, as the cache has only what is committed.
func (b *batch) Get(key []byte, fn func(value []byte) error) (bool, error) {
	hash := hashKey(key)
	if b.cache == nil || b.has(hash) {
		return b.read(key, fn)
	}
	return b.get(hash, key, fn)
}

// look finds what a merge folds into, in the cache or in Badger. It does not fill the cache, because the value will
// be replaced. If the key is not there it returns neither a value nor an item.
func (b *batch) look(hash uint64, key []byte) (cached []byte, item *badger.Item, err error) {
	if b.cache != nil && !b.has(hash) {
		if value, ok := b.cache.get(hash, key, b.txn.ReadTs()); ok {
			return value, nil, nil
		}
	}
	item, err = b.find(key)
	return nil, item, err
}

// peek is Get for a key whose value will be replaced.
func (b *batch) peek(hash uint64, key []byte, fn func(value []byte) error) (bool, error) {
	cached, item, err := b.look(hash, key)
	switch {
	case cached != nil:
		return true, fn(cached)
	case item == nil:
		return false, err
	}
	return true, item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		return fn(value)
	})
}

// has reports whether a key with that hash may be among the entries.
func (b *batch) has(hash uint64) bool {
	word, bit := b.place(hash)
	return *word&bit != 0
}

// commit writes the batch as version and updates the cache. After an error nobody knows what was written, so the
// batch's keys leave the cache.
func (b *batch) commit(version uint64) error {
	err := b.txn.CommitAt(version, nil)
	if b.cache != nil {
		for i := range b.entries {
			en := &b.entries[i]
			switch {
			case err != nil || en.long:
				b.cache.write(en.hash, en.key, nil, version)
			case en.folded:
				b.cache.replace(en.hash, en.key, en.value, version)
			default:
				b.cache.write(en.hash, en.key, en.value, version)
			}
			if en.tail {
				key := en.key[len(tailPrefix):]
				b.cache.write(hashKey(key), key, nil, version)
			}
		}
	}
	return err
}

// clear empties the batch and forgets the memory of its entries.
func (b *batch) clear() {
	clear(b.entries)
	b.slab.clear()
	*b = batch{entries: b.entries[:0], slab: b.slab}
}

// slab is memory for Badger's entries. Badger is done with them when a batch is committed.
type slab struct {
	entries []badger.Entry
	used    int
}

// leastSlab is the least number of entries in a slab.
const leastSlab = 64

// entry returns an unused entry. A slab that is used up gives way to one of twice the size.
func (s *slab) entry(key, value []byte) *badger.Entry {
	if s.used == len(s.entries) {
		s.entries, s.used = make([]badger.Entry, max(leastSlab, 2*len(s.entries))), 0
	}
	e := &s.entries[s.used]
	s.used++
	e.Key, e.Value = key, value
	return e
}

func (s *slab) clear() {
	clear(s.entries[:s.used])
	s.used = 0
}
