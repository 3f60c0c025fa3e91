package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
)

// Records are definitions as they are stored: each user keyspace and each of its tables under a separate key, so that
// a change writes only the objects it touches. The key of a keyspace is its name; that of a table has its name too,
// after a zero byte.
//
//	keyspace	<version> keyspace <n> n × type sections <checksum>
//	table		<version> table <checksum>
//
// The checksum is a CRC-32C of the key and of the bytes before it, in 4 bytes.
type Records map[string][]byte

// Encode returns the user keyspaces of c; equal catalogs give equal records.
func Encode(c *Catalog) Records { return Changes(New(), c) }

// Changes returns the records that differ between two catalogs: the record in to, or nil if it has none. Only
// keyspaces and tables that were replaced are looked at.
func Changes(from, to *Catalog) Records {
	r := Records{}
	for name, k := range to.keyspaces {
		if old := from.keyspaces[name]; old != k && !IsSystem(name) {
			r.change(old, k)
		}
	}
	for name, k := range from.keyspaces {
		if to.keyspaces[name] == nil && !IsSystem(name) {
			r.change(k, nil)
		}
	}
	return r
}

// change adds the changed records of a keyspace, which is nil where it does not exist.
func (r Records) change(from, to *Keyspace) {
	var was []byte
	var old, current map[string]*Table
	if from != nil {
		was, old = keyspaceRecord(from), from.Tables
	}
	if to == nil {
		r[from.Name] = nil
	} else {
		if record := keyspaceRecord(to); !bytes.Equal(record, was) {
			r[to.Name] = record
		}
		current = to.Tables
	}
	for name, t := range current {
		if old[name] != t {
			r[tableKey(t.Keyspace, name)] = tableRecord(t)
		}
	}
	for name, t := range old {
		if current[name] == nil {
			r[tableKey(t.Keyspace, name)] = nil
		}
	}
}

// With returns the records that these become by changes, which Changes has made.
func (r Records) With(changes Records) Records {
	next := maps.Clone(r)
	for name, record := range changes {
		if record == nil {
			delete(next, name)
		} else {
			next[name] = record
		}
	}
	return next
}

// CutRecord splits the key of a record into the names of a keyspace and a table.
func CutRecord(name string) (keyspace, table string, isTable bool) { return strings.Cut(name, "\x00") }

func tableKey(keyspace, name string) string { return keyspace + "\x00" + name }

func keyspaceRecord(k *Keyspace) []byte {
	e := coder{}
	e.uint(encodingVersion)
	e.keyspaceRecord(k)
	return seal(k.Name, e.b)
}

// keyspaceRecord codes a keyspace without its tables.
func (c *coder) keyspaceRecord(k *Keyspace) {
	c.keyspace(k)
	c.userTypes(k)
	sections(c, keyspaceSections, k)
}

func tableRecord(t *Table) []byte {
	e := coder{}
	e.uint(encodingVersion)
	e.table(&t, t.Keyspace)
	return seal(tableKey(t.Keyspace, t.Name), e.b)
}

// seal appends the checksum.
func seal(key string, b []byte) []byte { return binary.BigEndian.AppendUint32(b, checksum(key, b)) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(key string, b []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, b)
}

// Decode returns the catalog that the records, made by Encode and Changes, and the system keyspaces are. A record
// that cannot be read is an error with the name of the object it defines.
func Decode(r Records, system ...*Keyspace) (*Catalog, error) {
	c := New(system...)
	shared := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(r)) { // a keyspace before its tables
		name, table, isTable := CutRecord(key)
		var err error
		if isTable {
			err = c.decodeTable(name, table, key, r[key], shared)
		} else {
			err = c.decodeKeyspace(name, r[key], shared)
		}
		if err != nil {
			return nil, fmt.Errorf("definition of %s: %w", strings.ReplaceAll(key, "\x00", "."), err)
		}
	}
	for _, k := range c.keyspaces {
		c.content = c.content.xor(k.contentDigest())
	}
	c.version = c.content.version()
	return c, nil
}

// errDamaged is for a record whose checksum is wrong.
var errDamaged = errors.New("it is damaged: its checksum is another one")

// errOther is for a record that defines something else than its key says.
var errOther = errors.New("it has another name")

// open begins to read a record.
func open(key string, record []byte, shared map[string]string) (*coder, error) {
	end := len(record) - crc32.Size
	if end < 0 {
		return nil, errTruncated
	}
	d := &coder{b: record[:end], shared: shared}
	if err := d.readVersion(); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(record[end:]) != checksum(key, record[:end]) {
		return nil, errDamaged
	}
	return d, d.err
}

func (c *Catalog) decodeKeyspace(name string, record []byte, shared map[string]string) error {
	d, err := open(name, record, shared)
	if err != nil {
		return err
	}
	k := &Keyspace{Tables: map[string]*Table{}}
	d.keyspaceRecord(k)
	if d.end() == nil && k.Name != name {
		return errOther
	}
	c.keyspaces[name] = k.counted()
	return d.err
}

func (c *Catalog) decodeTable(keyspace, name, key string, record []byte, shared map[string]string) error {
	k := c.keyspaces[keyspace]
	if k == nil || IsSystem(keyspace) {
		return errors.New("it has no keyspace")
	}
	d, err := open(key, record, shared)
	if err != nil {
		return err
	}
	var t *Table
	d.table(&t, keyspace)
	if d.end() == nil && t.Name != name {
		return errOther
	}
	k.Tables[name] = t
	return d.err
}
