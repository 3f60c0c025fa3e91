package schema

import (
	"bytes"
	"errors"
	"fmt"
)

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

// encodingName begins what DecodeWhole reads.
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
