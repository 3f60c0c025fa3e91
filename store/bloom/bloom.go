// Package bloom has scalable Bloom filters: sets of hashes with false positives. engine/memory keeps the keys that
// were written in them, and the store the partitions that have tombstones.
//
// A Filter is 16 parts, chosen by the hash, so that it grows by one part at a time. A part is a list of layers, each
// four times as large as the one before it, up to 1 MiB. Each layer is asked, and each adds to the rate of false
// positives, so there are few. Filters allocate from a Budget. A filter that gets no more memory cannot add.
package bloom

import "sync/atomic"

// Budget is the memory that the filters sharing it may still take.
type Budget struct{ left atomic.Int64 }

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := new(Budget)
	b.left.Store(bytes)
	return b
}

// take takes bytes, if the budget has so many.
func (b *Budget) take(bytes int64) bool {
	if b.left.Add(-bytes) >= 0 {
		return true
	}
	b.left.Add(bytes)
	return false
}

// Filter is a set of hashes. One goroutine at a time adds, and no other goroutine may ask meanwhile.
type Filter struct {
	budget *Budget
	parts  [parts]part
	bytes  int64
	count  int64
}

// part has the hashes whose first four bits are its number.
type part struct{ layers []layer }

// layer is a Bloom filter. All bits of a hash are in one block of 512.
type layer struct {
	blocks [][8]uint64
	room   int // hashes that may still be added
}

const (
	parts       = 16
	firstBlocks = 3         // of a part's first layer
	maxBlocks   = 1 << 14   // of a layer: 1 MiB
	growth      = 4         // of layers that are smaller
	blockSize   = 512 / 8   // bytes
	blockHashes = 512 / 12. // 12 bits for each hash: one in 150 answers is a false positive
	bitsSet     = 8         // for each hash
)

// New makes an empty filter.
func New(b *Budget) *Filter { return &Filter{budget: b} }

// Has reports whether a hash is in the set, with false positives.
func (f *Filter) Has(hash uint64) bool { return f.parts[hash>>28%parts].has(hash) }

// Add adds a hash and reports whether it was missing. ok is false when there is no memory left: the filter is useless
// from then on.
func (f *Filter) Add(hash uint64) (added, ok bool) {
	p := &f.parts[hash>>28%parts]
	if p.has(hash) {
		return false, true
	}
	n := len(p.layers)
	if n == 0 || p.layers[n-1].room == 0 {
		if !f.grow(p) {
			return false, false
		}
		n++
	}
	p.layers[n-1].add(hash)
	f.count++
	return true, true
}

// grow adds a layer to a part.
func (f *Filter) grow(p *part) bool {
	blocks := firstBlocks
	if n := len(p.layers); n > 0 {
		blocks = min(growth*len(p.layers[n-1].blocks), maxBlocks)
	}
	size := int64(blocks) * blockSize
	if !f.budget.take(size) {
		return false
	}
	f.bytes += size
	p.layers = append(p.layers, layer{make([][8]uint64, blocks), int(float64(blocks) * blockHashes)})
	return true
}

// Bytes is the memory that the filter has taken.
func (f *Filter) Bytes() int64 { return f.bytes }

// Count is how many hashes were added.
func (f *Filter) Count() int64 { return f.count }

// Free gives the filter's memory back to the budget. Nothing may be added to it any more.
func (f *Filter) Free() {
	f.budget.left.Add(f.bytes)
	f.bytes = 0
}

func (p *part) has(hash uint64) bool {
	for i := range p.layers {
		if p.layers[i].has(hash) {
			return true
		}
	}
	return false
}

// block is the block of a hash, chosen by its upper half.
func (l *layer) block(hash uint64) *[8]uint64 {
	return &l.blocks[hash>>32*uint64(len(l.blocks))>>32]
}

func (l *layer) has(hash uint64) bool {
	block := l.block(hash)
	for range bitsSet {
		if block[hash>>6&7]&(1<<(hash&63)) == 0 {
			return false
		}
		hash = next(hash)
	}
	return true
}

func (l *layer) add(hash uint64) {
	l.room--
	block := l.block(hash)
	for range bitsSet {
		block[hash>>6&7] |= 1 << (hash & 63)
		hash = next(hash)
	}
}

// next makes another number of a hash.
func next(hash uint64) uint64 { return hash*0x9E3779B97F4A7C15 ^ hash>>29 }
