package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cqld/cqld/cql/types"
)

// errTruncated is for bytes that end before what they say they hold.
var errTruncated = errors.New("definitions are cut short")

// decoder reads what encoder wrote. It remembers the first error; what is read after it is zero.
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
		return make([]byte, n) // n is the size of a field, or at most what there was
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
