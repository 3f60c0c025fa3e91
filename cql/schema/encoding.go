package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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

// section is one kind of thing that a definition may have and most do not. It is written under a number that is never
// given to another kind, and only if there is something to write.
type section[T any] struct {
	number  uint64
	present func(T) bool
	write   func(*encoder, T)
	read    func(*decoder, T)
}

// keyspaceSections follow the types of a keyspace.
var keyspaceSections = []section[*Keyspace]{viewSection, functionSection, aggregateSection}

// tableSections follow the options of a table. Reading fills in what NewTable is given.
var tableSections = []section[*Table]{
	droppedSection,
	{2, func(t *Table) bool { return len(t.Indexes) > 0 }, writeIndexes, readIndexes},
	maskSection,
	compactSection,
}

// writeSections writes the sections that are present.
//
//	<n> n × (number section)
func writeSections[T any](e *encoder, kinds []section[T], of T) {
	n := uint64(0)
	for _, s := range kinds {
		if s.present(of) {
			n++
		}
	}
	e.uint(n)
	for _, s := range kinds {
		if s.present(of) {
			e.uint(s.number)
			s.write(e, of)
		}
	}
}

// readSections reads the sections that writeSections wrote.
func readSections[T any](d *decoder, kinds []section[T], into T) {
	if d.version < sectionsVersion {
		return
	}
	for range d.count() {
		number, known := d.uint(), false
		for _, s := range kinds {
			if s.number == number {
				s.read(d, into)
				known = true
			}
		}
		if !known {
			d.fail(fmt.Errorf("section %d is not known", number))
			return
		}
	}
}

// Definitions are encoded with a version in front of them. Types are Cassandra's class names.
const (
	encodingVersion = 3
	typesVersion    = 2 // the first with user types
	sectionsVersion = 3 // the first with sections
)

// ErrNewerVersion says that definitions were written by a later version of this software.
var ErrNewerVersion = errors.New("definitions were written by a later version of cqld")

func newerVersion(version uint64) error {
	return fmt.Errorf("%w: their version is %d, this is %d", ErrNewerVersion, version, encodingVersion)
}

// encodingName is the beginning of the bytes that DecodeWhole reads.
const encodingName = "cqld-schema"

// DecodeWhole returns the catalog that the system keyspaces are and b, which has all definitions together, as they
// were kept before there were Records.
//
//	"cqld-schema" <version> <n> n × (keyspace <m> m × table <t> t × type sections)
//
// There are types since version 2, and sections since version 3.
func DecodeWhole(b []byte, system ...*Keyspace) (*Catalog, error) {
	body, ok := bytes.CutPrefix(b, []byte(encodingName))
	if !ok {
		return nil, errors.New("these bytes are not definitions of cqld")
	}
	d := &decoder{b: body}
	d.version = d.uint()
	if d.err == nil && d.version > encodingVersion {
		return nil, newerVersion(d.version)
	}
	c := New(system...)
	for range d.count() {
		k := d.keyspace()
		n := d.count()
		k.Tables = make(map[string]*Table, n)
		for range n {
			if t := d.table(k.Name); t != nil {
				k.Tables[t.Name] = t
			}
		}
		if d.version >= typesVersion {
			k.Types = d.userTypes()
		}
		readSections(d, keyspaceSections, k)
		c.keyspaces[k.Name] = k.counted()
		c.content = c.content.xor(k.contentDigest())
	}
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("decode definitions: %w", err)
	}
	c.version = c.content.version()
	return c, nil
}

// errTruncated is for bytes that end too early.
var errTruncated = errors.New("definitions are cut short")

// decoder reads the bytes of an encoder. It remembers the first error, after which it reads zero values.
type decoder struct {
	b       []byte
	version uint64
	seen    []string
	shared  map[string]string // the texts of several decoders, each kept once; or nil
	err     error
}

// end wants everything to have been read, and returns the first error.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Errorf("%d bytes follow the definitions", len(d.b)))
	}
	return d.err
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) uint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.fail(errTruncated)
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) int() int {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.fail(errTruncated)
		return 0
	}
	d.b = d.b[size:]
	return int(n)
}

// count reads the number of items that follow; each has at least a byte.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail(errTruncated)
		return 0
	}
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail(errTruncated)
		return make([]byte, n) // n is the size of a field, or at most the number of bytes left
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) bytes() []byte { return bytes.Clone(d.take(d.count())) }
func (d *decoder) byte() byte    { return d.take(1)[0] }
func (d *decoder) bool() bool    { return d.byte() != 0 }

func (d *decoder) string() string {
	n := d.uint()
	switch {
	case n > uint64(len(d.seen)):
		d.fail(fmt.Errorf("text %d is not there yet", n))
		return ""
	case n > 0:
		return d.seen[n-1]
	}
	s := d.share(d.take(d.count()))
	d.seen = append(d.seen, s)
	return s
}

// share is the text of b, which is kept once.
func (d *decoder) share(b []byte) string {
	if s, ok := d.shared[string(b)]; ok {
		return s
	}
	s := string(b)
	if d.shared != nil {
		d.shared[s] = s
	}
	return s
}

func (d *decoder) double() float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(d.take(8)))
}

func (d *decoder) mapping() map[string]string {
	n := d.count()
	m := make(map[string]string, n)
	for range n {
		k := d.string()
		m[k] = d.string()
	}
	return m
}

func (d *decoder) keyspace() *Keyspace {
	return &Keyspace{Name: d.string(), DurableWrites: d.bool(), Replication: d.mapping()}
}

func (d *decoder) table(keyspace string) *Table {
	t := Table{Keyspace: keyspace, Name: d.string(), ID: [16]byte(d.take(16)), StoreID: d.uint()}
	t.NextID = uint32(d.uint())
	t.Columns = make([]*Column, 0, d.count())
	for range cap(t.Columns) {
		c := &Column{Name: d.string()}
		c.Type = d.columnType()
		c.Kind = ColumnKind(d.byte())
		c.Desc = d.bool()
		c.ID = uint32(d.uint())
		if c.Kind > Regular {
			d.fail(fmt.Errorf("column %s of table %s.%s has unknown kind %d", c.Name, keyspace, t.Name, c.Kind))
		}
		t.Columns = append(t.Columns, c)
	}
	t.Options = d.options()
	readSections(d, tableSections, &t)
	if d.err != nil {
		return nil
	}
	return NewTable(t)
}

func (d *decoder) columnType() types.Type {
	name := d.string()
	if d.err != nil {
		return nil
	}
	t, err := types.FromClassName(name)
	if err != nil {
		d.fail(fmt.Errorf("type %s: %w", name, err))
	}
	return t
}

func (d *decoder) userTypes() map[string]*types.UserType {
	n := d.count()
	all := make(map[string]*types.UserType, n)
	for range n {
		switch t := d.columnType().(type) {
		case nil: // the error is kept
		case *types.UserType:
			all[t.Name] = t
		default:
			d.fail(fmt.Errorf("%s is no user type", t))
		}
	}
	return all
}

func (d *decoder) options() TableOptions {
	o := TableOptions{
		AdditionalWritePolicy: d.string(),
		AllowAutoSnapshot:     d.bool(),
		BloomFilterFPChance:   d.double(),
		Caching:               d.mapping(),
		CDC:                   d.bool(),
		Comment:               d.string(),
		Compaction:            d.mapping(),
		Compression:           d.mapping(),
		CRCCheckChance:        d.double(),
		DefaultTimeToLive:     d.int(),
	}
	for range d.count() {
		if o.Extensions == nil {
			o.Extensions = map[string][]byte{}
		}
		k := d.string()
		o.Extensions[k] = d.bytes()
	}
	o.GCGraceSeconds = d.int()
	o.IncrementalBackups = d.bool()
	o.MaxIndexInterval = d.int()
	o.Memtable = d.string()
	o.MemtableFlushPeriodInMs = d.int()
	o.MinIndexInterval = d.int()
	o.ReadRepair = d.string()
	o.SpeculativeRetry = d.string()
	return o
}

// functionSection are the functions of a keyspace.
//
//	<n> n × (name arguments × (name type) returns called-on-null language body)
var functionSection = section[*Keyspace]{
	number:  2,
	present: func(k *Keyspace) bool { return len(k.Functions) > 0 },
	write: func(e *encoder, k *Keyspace) {
		e.uint(uint64(len(k.Functions)))
		for _, f := range k.Functions {
			e.string(f.Name)
			e.types(f.Args)
			for _, name := range f.ArgNames {
				e.string(name)
			}
			e.string(types.ExactClassName(f.Returns))
			e.bool(f.CalledOnNull)
			e.string(f.Language)
			e.string(f.Body)
		}
	},
	read: func(d *decoder, k *Keyspace) {
		for range d.count() {
			f := &Function{Keyspace: k.Name, Name: d.string(), Args: d.types()}
			for range f.Args {
				f.ArgNames = append(f.ArgNames, d.string())
			}
			f.Returns = d.columnType()
			f.CalledOnNull, f.Language, f.Body = d.bool(), d.string(), d.string()
			if d.err == nil {
				k.Functions = append(k.Functions, f)
			}
		}
	},
}

// aggregateSection are the aggregates of a keyspace.
//
//	<n> n × (name arguments returns state-function state-type final-function initial?)
var aggregateSection = section[*Keyspace]{
	number:  3,
	present: func(k *Keyspace) bool { return len(k.Aggregates) > 0 },
	write: func(e *encoder, k *Keyspace) {
		e.uint(uint64(len(k.Aggregates)))
		for _, a := range k.Aggregates {
			e.string(a.Name)
			e.types(a.Args)
			e.string(types.ExactClassName(a.Returns))
			e.string(a.StateFunction)
			e.string(types.ExactClassName(a.StateType))
			e.string(a.FinalFunction)
			e.bool(a.Initial != nil)
			if a.Initial != nil {
				e.bytes(a.Initial)
			}
		}
	},
	read: func(d *decoder, k *Keyspace) {
		for range d.count() {
			a := &Aggregate{Keyspace: k.Name, Name: d.string(), Args: d.types(), Returns: d.columnType()}
			a.StateFunction, a.StateType, a.FinalFunction = d.string(), d.columnType(), d.string()
			if d.bool() {
				a.Initial = d.bytes()
			}
			if d.err == nil {
				k.Aggregates = append(k.Aggregates, a)
			}
		}
	},
}

// types writes a list of types.
func (e *encoder) types(all []types.Type) {
	e.uint(uint64(len(all)))
	for _, t := range all {
		e.string(types.ExactClassName(t))
	}
}

// types reads a list of types.
func (d *decoder) types() []types.Type {
	all := make([]types.Type, d.count())
	for i := range all {
		all[i] = d.columnType()
	}
	return all
}
