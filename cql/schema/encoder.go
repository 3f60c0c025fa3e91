package schema

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// encoder writes definitions as bytes that depend on nothing but their content: maps go by key. Text is
// written once: where it comes again there is the number of its first place, counted from one, in place
// of a zero, its length and itself. Most of a table's options are the same as another's.
type encoder struct {
	b    []byte
	seen map[string]uint64
}

func (e *encoder) uint(n uint64)  { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) int(n int)      { e.b = binary.AppendVarint(e.b, int64(n)) }
func (e *encoder) bytes(b []byte) { e.uint(uint64(len(b))); e.b = append(e.b, b...) }

func (e *encoder) string(s string) {
	if n, ok := e.seen[s]; ok {
		e.uint(n)
		return
	}
	if e.seen == nil {
		e.seen = make(map[string]uint64)
	}
	e.seen[s] = uint64(len(e.seen) + 1)
	e.uint(0)
	e.bytes([]byte(s))
}

func (e *encoder) bool(b bool) {
	if b {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) double(f float64) {
	e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(f))
}

func (e *encoder) mapping(m map[string]string) {
	e.uint(uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.string(k)
		e.string(m[k])
	}
}

// keyspace writes a keyspace without its tables.
func (e *encoder) keyspace(k *Keyspace) {
	e.string(k.Name)
	e.bool(k.DurableWrites)
	e.mapping(k.Replication)
}

// table writes a table without the name of its keyspace.
func (e *encoder) table(t *Table) {
	e.string(t.Name)
	e.b = append(e.b, t.ID[:]...)
	e.uint(t.StoreID)
	e.uint(uint64(t.NextID))
	e.uint(uint64(len(t.Columns)))
	for _, c := range t.Columns {
		e.string(c.Name)
		e.string(types.ExactClassName(c.Type))
		e.b = append(e.b, byte(c.Kind))
		e.bool(c.Desc)
		e.uint(uint64(c.ID))
	}
	e.options(t.Options)
	writeSections(e, tableSections, t)
}

func (e *encoder) options(o TableOptions) {
	e.string(o.AdditionalWritePolicy)
	e.bool(o.AllowAutoSnapshot)
	e.double(o.BloomFilterFPChance)
	e.mapping(o.Caching)
	e.bool(o.CDC)
	e.string(o.Comment)
	e.mapping(o.Compaction)
	e.mapping(o.Compression)
	e.double(o.CRCCheckChance)
	e.int(o.DefaultTimeToLive)
	e.uint(uint64(len(o.Extensions)))
	for _, k := range slices.Sorted(maps.Keys(o.Extensions)) {
		e.string(k)
		e.bytes(o.Extensions[k])
	}
	e.int(o.GCGraceSeconds)
	e.bool(o.IncrementalBackups)
	e.int(o.MaxIndexInterval)
	e.string(o.Memtable)
	e.int(o.MemtableFlushPeriodInMs)
	e.int(o.MinIndexInterval)
	e.string(o.ReadRepair)
	e.string(o.SpeculativeRetry)
}
