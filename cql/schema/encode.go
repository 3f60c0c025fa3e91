package schema

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/types"
)

// The encoding of a catalog: a name that says what the bytes are, the version of what follows, then each
// user keyspace with its tables, and since version 2 its user types, all by name. Types are Cassandra's class names.
// Since version 3 keyspaces and tables end in sections.
//
//	"cqld-schema" <version> <n> n × (keyspace <m> m × table <t> t × type sections)
const (
	encodingName    = "cqld-schema"
	encodingVersion = 3
	typesVersion    = 2 // the first with user types
	sectionsVersion = 3 // the first with sections
)

// ErrNewerVersion says that definitions were written by a later version of this software.
var ErrNewerVersion = errors.New("definitions were written by a later version of cqld")

// Encode returns the user keyspaces of c as bytes; equal catalogs give equal bytes.
func Encode(c *Catalog) []byte {
	var user []*Keyspace
	for _, k := range c.Keyspaces() {
		if !IsSystem(k.Name) {
			user = append(user, k)
		}
	}
	e := encoder{b: []byte(encodingName)}
	e.uint(encodingVersion)
	e.uint(uint64(len(user)))
	for _, k := range user {
		e.keyspace(k)
		e.uint(uint64(len(k.Tables)))
		for _, t := range k.SortedTables() {
			e.table(t)
		}
		e.uint(uint64(len(k.Types)))
		for _, t := range k.SortedTypes() {
			e.string(types.ExactClassName(t))
		}
		writeSections(&e, keyspaceSections, k)
	}
	return e.b
}

// Decode returns the catalog that b, made by Encode, and the system keyspaces are.
func Decode(b []byte, system ...*Keyspace) (*Catalog, error) {
	body, ok := bytes.CutPrefix(b, []byte(encodingName))
	if !ok {
		return nil, errors.New("these bytes are not definitions of cqld")
	}
	d := &decoder{b: body}
	d.version = d.uint()
	if d.err == nil && d.version > encodingVersion {
		return nil, fmt.Errorf("%w: their version is %d, this is %d", ErrNewerVersion, d.version, encodingVersion)
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
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Errorf("%d bytes follow the definitions", len(d.b)))
	}
	if d.err != nil {
		return nil, fmt.Errorf("decode definitions: %w", d.err)
	}
	c.version = c.content.version()
	return c, nil
}
