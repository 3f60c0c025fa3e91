package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// coder writes definitions as bytes, or reads them: its methods write their arguments, or ignore them and read. So one
// function describes the bytes for both directions. They depend only on the content: maps are sorted by key. A text is
// written once, as a zero, its length and itself; from then on as its number, counted from one. Most tables have the
// same options.
//
// It remembers the first error of reading, after which it reads zero values.
type coder struct {
	b       []byte
	places  map[string]uint64 // in writing: the numbers of the texts
	reading bool
	version uint64
	texts   []string
	shared  map[string]string // the texts of several records, each kept once; or nil
	err     error
}

// end returns the first error, which may be that bytes are left.
func (c *coder) end() error {
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes follow the definitions", len(c.b)))
	}
	return c.err
}

func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

// errTruncated is for bytes that end too early.
var errTruncated = errors.New("definitions are cut short")

// advance skips the bytes of a number; size is not positive if there is none.
func (c *coder) advance(size int) {
	if size <= 0 {
		c.fail(errTruncated)
		return
	}
	c.b = c.b[size:]
}

func (c *coder) uint(n uint64) uint64 {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, n)
		return n
	}
	n, size := binary.Uvarint(c.b)
	c.advance(size)
	return n
}

func (c *coder) int(n int64) int64 {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, n)
		return n
	}
	n, size := binary.Varint(c.b)
	c.advance(size)
	return n
}

// count is the number of items that follow; each has at least a byte.
func (c *coder) count(n int) int {
	read := c.uint(uint64(n))
	if c.reading && read > uint64(len(c.b)) {
		c.fail(errTruncated)
		return 0
	}
	return int(read)
}

// fixed writes b, or reads as many bytes into it.
func (c *coder) fixed(b []byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, b...)
	case len(b) > len(c.b):
		c.fail(errTruncated)
	default:
		c.b = c.b[copy(b, c.b):]
	}
}

// bytes never returns nil in reading.
func (c *coder) bytes(b []byte) []byte {
	if n := c.count(len(b)); c.reading {
		b = make([]byte, n)
	}
	c.fixed(b)
	return b
}

func (c *coder) string(s string) string {
	n := c.uint(c.places[s])
	switch {
	case n == 0:
		if s = string(c.bytes([]byte(s))); !c.reading {
			if c.places == nil {
				c.places = make(map[string]uint64)
			}
			c.places[s] = uint64(len(c.places) + 1)
			return s
		}
		c.texts = append(c.texts, c.share(s))
		return c.texts[len(c.texts)-1]
	case !c.reading:
		return s
	case n > uint64(len(c.texts)):
		c.fail(fmt.Errorf("text %d has not been written yet", n))
		return ""
	}
	return c.texts[n-1]
}

// share returns the one copy of a text.
func (c *coder) share(s string) string {
	if kept, ok := c.shared[s]; ok {
		return kept
	}
	if c.shared != nil {
		c.shared[s] = s
	}
	return s
}

// values writes the values at the pointers, or sets them. Types are Cassandra's class names.
func (c *coder) values(all ...any) {
	for _, p := range all {
		switch p := p.(type) {
		case *string:
			set(c, p, c.string(*p))
		case *uint64:
			set(c, p, c.uint(*p))
		case *uint32:
			set(c, p, uint32(c.uint(uint64(*p))))
		case *int64:
			set(c, p, c.int(*p))
		case *int:
			set(c, p, int(c.int(int64(*p))))
		case *byte:
			b := []byte{*p}
			c.fixed(b)
			set(c, p, b[0])
		case *bool:
			b := []byte{0}
			if *p {
				b[0] = 1
			}
			c.fixed(b)
			set(c, p, b[0] != 0)
		case *float64:
			b := binary.BigEndian.AppendUint64(nil, math.Float64bits(*p))
			c.fixed(b)
			set(c, p, math.Float64frombits(binary.BigEndian.Uint64(b)))
		case *[16]byte:
			c.fixed(p[:])
		case *[]byte:
			set(c, p, c.bytes(*p))
		case *types.Type:
			set(c, p, c.columnType(*p))
		case *map[string]string:
			mapping(c, p, c.string)
		default:
			panic(fmt.Sprintf("a definition has a %T", p))
		}
	}
}

// set sets a value that was read. In writing others may be reading it.
func set[T any](c *coder, p *T, v T) {
	if c.reading {
		*p = v
	}
}

func (c *coder) columnType(t types.Type) types.Type {
	if !c.reading {
		c.string(types.ExactClassName(t))
		return t
	}
	name := c.string("")
	if c.err != nil {
		return nil
	}
	t, err := types.FromClassName(name)
	if err != nil {
		c.fail(fmt.Errorf("type %s: %w", name, err))
	}
	return t
}

// list writes the items of a list, or reads them: those before the first error.
func list[T any](c *coder, all *[]T, item func(*T)) {
	n := c.count(len(*all))
	if c.reading && n > 0 {
		*all = make([]T, n)
	}
	for i := range *all {
		if item(&(*all)[i]); c.err != nil {
			*all = (*all)[:i]
			return
		}
	}
}

// pointers writes or reads a list of pointers, like list. Reading allocates the items.
func pointers[T any](c *coder, all *[]*T, item func(*T)) {
	list(c, all, func(p **T) {
		if c.reading {
			*p = new(T)
		}
		item(*p)
	})
}

// mapping writes the entries of a map, or makes it of those read.
func mapping[V any](c *coder, m *map[string]V, value func(V) V) {
	keys := slices.Sorted(maps.Keys(*m))
	n := c.count(len(keys))
	if !c.reading {
		for _, k := range keys {
			c.string(k)
			value((*m)[k])
		}
		return
	}
	*m = make(map[string]V, n)
	for range n {
		var none V
		k := c.string("")
		(*m)[k] = value(none)
	}
}

// keyspace codes a keyspace without its tables and types.
func (c *coder) keyspace(k *Keyspace) { c.values(&k.Name, &k.DurableWrites, &k.Replication) }

// userTypes codes the types of a keyspace.
func (c *coder) userTypes(k *Keyspace) {
	all := k.SortedTypes()
	list(c, &all, func(u **types.UserType) {
		var t types.Type = *u
		c.values(&t)
		read, ok := t.(*types.UserType)
		if !ok {
			c.fail(fmt.Errorf("%s is no user type", t))
		}
		*u = read
	})
	if c.reading {
		k.Types = make(map[string]*types.UserType, len(all))
		for _, u := range all {
			k.Types[u.Name] = u
		}
	}
}

// table codes a table without the name of its keyspace.
func (c *coder) table(p **Table, keyspace string) {
	t := *p
	if c.reading {
		t = &Table{Keyspace: keyspace}
	}
	c.values(&t.Name, &t.ID, &t.StoreID, &t.NextID)
	pointers(c, &t.Columns, func(column *Column) {
		c.values(&column.Name, &column.Type, (*byte)(&column.Kind), &column.Desc, &column.ID)
		if column.Kind > Regular {
			c.fail(fmt.Errorf("column %s of table %s.%s has unknown kind %d", column.Name, keyspace, t.Name, column.Kind))
		}
	})
	o := &t.Options
	c.values(&o.AdditionalWritePolicy, &o.AllowAutoSnapshot, &o.BloomFilterFPChance, &o.Caching, &o.CDC, &o.Comment,
		&o.Compaction, &o.Compression, &o.CRCCheckChance, &o.DefaultTimeToLive)
	extensions := o.Extensions
	mapping(c, &extensions, c.bytes)
	if c.reading && len(extensions) > 0 {
		o.Extensions = extensions
	}
	c.values(&o.GCGraceSeconds, &o.IncrementalBackups, &o.MaxIndexInterval, &o.Memtable, &o.MemtableFlushPeriodInMs,
		&o.MinIndexInterval, &o.ReadRepair, &o.SpeculativeRetry)
	sections(c, tableSections, t)
	if c.reading {
		if *p = t; c.err == nil {
			*p = NewTable(*t)
		}
	}
}

// section is one kind of thing that a definition may have and most do not. It is written under a number that is never
// given to another kind, and only if it is present.
type section[T any] struct {
	number  uint64
	present func(T) bool
	code    func(*coder, T)
}

// keyspaceSections follow the types of a keyspace.
var keyspaceSections = []section[*Keyspace]{
	{1, func(k *Keyspace) bool { return len(k.Views) > 0 }, (*coder).views},
	{2, func(k *Keyspace) bool { return len(k.Functions) > 0 }, (*coder).functions},
	{3, func(k *Keyspace) bool { return len(k.Aggregates) > 0 }, (*coder).aggregates},
}

// tableSections follow the options of a table.
var tableSections = []section[*Table]{
	{1, func(t *Table) bool { return len(t.Dropped) > 0 }, (*coder).dropped},
	{2, func(t *Table) bool { return len(t.Indexes) > 0 }, (*coder).indexes},
	{3, hasMasks, (*coder).masks},
	{5, func(t *Table) bool { return t.Compact != NotCompact }, (*coder).compact},
}

// sections codes the sections that are present. There are sections since version 3.
//
//	<n> n × (number section)
func sections[T any](c *coder, kinds []section[T], of T) {
	if c.reading && c.version < sectionsVersion {
		return
	}
	if !c.reading {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(s section[T]) bool { return !s.present(of) })
	}
	for at := range c.count(len(kinds)) {
		if !c.reading {
			c.uint(kinds[at].number)
			kinds[at].code(c, of)
			continue
		}
		number := c.uint(0)
		i := slices.IndexFunc(kinds, func(s section[T]) bool { return s.number == number })
		if i < 0 {
			c.fail(fmt.Errorf("section %d is not known", number))
			return
		}
		kinds[i].code(c, of)
	}
}

// functions codes the functions of a keyspace.
//
//	<n> n × (name arguments × (name type) returns called-on-null language body)
func (c *coder) functions(k *Keyspace) {
	pointers(c, &k.Functions, func(f *Function) {
		set(c, &f.Keyspace, k.Name)
		c.values(&f.Name)
		c.typeList(&f.Args)
		if c.reading {
			f.compiled = new(compiled)
			f.ArgNames = make([]string, len(f.Args))
		}
		for i := range f.ArgNames {
			c.values(&f.ArgNames[i])
		}
		c.values(&f.Returns, &f.CalledOnNull, &f.Language, &f.Body)
	})
}

// aggregates codes the aggregates of a keyspace.
//
//	<n> n × (name arguments returns state-function state-type final-function initial?)
func (c *coder) aggregates(k *Keyspace) {
	pointers(c, &k.Aggregates, func(a *Aggregate) {
		set(c, &a.Keyspace, k.Name)
		c.values(&a.Name)
		c.typeList(&a.Args)
		initial := a.Initial != nil
		c.values(&a.Returns, &a.StateFunction, &a.StateType, &a.FinalFunction, &initial)
		if initial {
			c.values(&a.Initial)
		}
	})
}

func (c *coder) typeList(all *[]types.Type) { list(c, all, func(t *types.Type) { c.values(t) }) }

// Definitions are encoded with a version in front of them.
const (
	encodingVersion = 3
	sectionsVersion = 3 // the first with sections
)

// ErrNewerVersion says that definitions were written by a later version of this software.
var ErrNewerVersion = errors.New("definitions were written by a later version of cqld")

// readVersion begins to read definitions.
func (c *coder) readVersion() error {
	c.reading = true
	if c.version = c.uint(0); c.err == nil && c.version > encodingVersion {
		return fmt.Errorf("%w: their version is %d, this is %d", ErrNewerVersion, c.version, encodingVersion)
	}
	return nil
}
