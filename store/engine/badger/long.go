package badger

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine/files"
)

// A value that is longer than maxChunk is cut into chunks. Each time it is written it gets the next generation number,
// and three kinds of entries, in this order:
//
//	!cqld!long! <generation>           the key of the value and the number of chunks
//	!cqld!chunk! <generation> <number> a chunk
//	the key of the value               a longHead
//
// The head comes last, so a reader of the head finds all chunks. Then the chunks of the generation before are deleted.
// A flush that is interrupted leaves chunks without a head; its commits are in the log, so the value is flushed again,
// and then all generations but the last are deleted.
const (
	longPrefix  = ownPrefix + "long!"
	chunkPrefix = ownPrefix + "chunk!"
)

// maxChunk is the length of the longest chunk, and of the longest value that is not cut: Badger must not move it to
// its value log.
func (o *Options) maxChunk() int { return int(min(512<<10, o.MemTable/10)) }

// longHead is the entry of a long value's key.
type longHead struct {
	generation uint64
	chunks     uint32
	length     uint64
	sum        uint32 // of the whole value
}

func (h longHead) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, h.generation)
	b = binary.BigEndian.AppendUint32(b, h.chunks)
	b = binary.BigEndian.AppendUint64(b, h.length)
	return binary.BigEndian.AppendUint32(b, h.sum)
}

func decodeLongHead(b []byte) (h longHead, ok bool) {
	if len(b) != 24 {
		return h, false
	}
	return longHead{
		binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint64(b[12:]),
		binary.BigEndian.Uint32(b[20:]),
	}, true
}

func longKey(generation uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(longPrefix), generation)
}

// longOwner is the entry of a generation.
func longOwner(chunks uint32, key []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, chunks), key...)
}

func chunkKey(generation uint64, number uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte(chunkPrefix), generation)
	return binary.BigEndian.AppendUint32(b, number)
}

// longValues has the generations of all long values, so that their chunks are deleted with them.
type longValues struct {
	mu          sync.Mutex
	generations map[string][]longGeneration
	last        uint64 // the newest generation
	complete    uint64 // the last generation whose head is in Badger
}

// longGeneration is a generation of a long value that has chunks.
type longGeneration struct {
	generation uint64
	chunks     uint32
}

// load reads the generations of all long values.
func (l *longValues) load(db *badger.DB, version uint64) error {
	l.generations = map[string][]longGeneration{}
	txn := db.NewTransactionAt(version, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(longPrefix)})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().KeyCopy(nil)
		err := it.Item().Value(func(stored []byte) error {
			value, _, err := openEntry(key, stored)
			if err != nil {
				return err
			}
			if len(key) != len(longPrefix)+8 || len(value) < 4 {
				return fmt.Errorf("%w: the key %x is not of a long value", ErrDamaged, key)
			}
			l.add(string(value[4:]), longGeneration{
				binary.BigEndian.Uint64(key[len(longPrefix):]), binary.BigEndian.Uint32(value),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	l.flushed()
	return nil
}

func (l *longValues) add(key string, g longGeneration) {
	l.generations[key] = append(l.generations[key], g)
	l.last = max(l.last, g.generation)
}

// begin adds a generation of a key's value, and returns it and those before.
func (l *longValues) begin(key string, chunks uint32) (g longGeneration, before []longGeneration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = slices.Clone(l.generations[key])
	g = longGeneration{l.last + 1, chunks}
	l.add(key, g)
	return g, before
}

// replace makes generations the only ones of a key, and returns those before.
func (l *longValues) replace(key string, with ...longGeneration) (before []longGeneration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = l.generations[key]
	if delete(l.generations, key); len(with) > 0 {
		l.generations[key] = with
	}
	return before
}

// flushed notes that the heads of all generations are in Badger.
func (l *longValues) flushed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.complete = l.last
}

// withPrefixes returns the generations of the long values whose keys have some prefixes, as ranges that no other
// generation is in. It leaves out those whose heads are still to be written: a head must have its chunks.
func (l *longValues) withPrefixes(prefixes [][]byte) (found []generations) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped := map[uint64]bool{} // of all generations, whether they are found
	for key, all := range l.generations {
		has := slices.ContainsFunc(prefixes, func(prefix []byte) bool { return strings.HasPrefix(key, string(prefix)) })
		for _, g := range all {
			dropped[g.generation] = has && g.generation <= l.complete
		}
	}
	begun := false
	for _, g := range slices.Sorted(maps.Keys(dropped)) {
		switch last := len(found) - 1; {
		case !dropped[g]:
			begun = false
		case begun:
			found[last].last = g
		default:
			begun = true
			found = append(found, generations{g, g})
		}
	}
	return found
}

// generations are those from first to last.
type generations struct{ first, last uint64 }

// forget forgets generations, which are dropped.
func (l *longValues) forget(ranges []generations) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.generations, func(key string, all []longGeneration) bool {
		left := slices.DeleteFunc(slices.Clone(all), func(g longGeneration) bool {
			return slices.ContainsFunc(ranges, func(r generations) bool {
				return r.first <= g.generation && g.generation <= r.last
			})
		})
		l.generations[key] = left
		return len(left) == 0
	})
}

// putLong writes a long value.
func (f *Flush) putLong(key, value []byte) error {
	size, l := f.engine.o.maxChunk(), &f.engine.long
	g, before := l.begin(string(key), uint32((len(value)+size-1)/size))
	if err := f.set(longKey(g.generation), longOwner(g.chunks, key), whole); err != nil {
		return err
	}
	for i := range g.chunks {
		from := int(i) * size
		if err := f.set(chunkKey(g.generation, i), value[from:min(from+size, len(value))], whole); err != nil {
			return err
		}
	}
	head := longHead{g.generation, g.chunks, uint64(len(value)), files.Checksum(value)}
	if err := f.set(key, head.encode(), long); err != nil {
		return err
	}
	l.replace(string(key), g)
	return f.deleteChunks(before)
}

// dropLong deletes the chunks of a key whose value is not long any more.
func (f *Flush) dropLong(key []byte) error {
	return f.deleteChunks(f.engine.long.replace(string(key)))
}

func (f *Flush) deleteChunks(all []longGeneration) error {
	for _, g := range all {
		for i := range g.chunks {
			if err := f.remove(chunkKey(g.generation, i)); err != nil {
				return err
			}
		}
		if err := f.remove(longKey(g.generation)); err != nil {
			return err
		}
	}
	return nil
}

// readLong assembles a long value from its chunks.
func (s *Snapshot) readLong(key, head []byte) ([]byte, error) {
	h, ok := decodeLongHead(head)
	if !ok {
		return nil, fmt.Errorf("%w: the long value of key %x has no head", ErrDamaged, key)
	}
	value := make([]byte, 0, h.length)
	for i := range h.chunks {
		chunk := chunkKey(h.generation, i)
		found, err := s.get(chunk, func(b []byte, _ kind) error {
			value = append(value, b...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("%w: a part of the value of key %x is missing", ErrDamaged, key)
		}
	}
	if uint64(len(value)) != h.length || files.Checksum(value) != h.sum {
		return nil, fmt.Errorf("%w: the value of key %x does not have its checksum", ErrDamaged, key)
	}
	return value, nil
}
