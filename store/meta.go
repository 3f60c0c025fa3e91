package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// formatVersion is the version of what the store writes (see package rows). Data of a later version is refused. Data
// of an earlier version is read as it is, and counts as this version from when it is opened.
//
//	1  cells have no paths
//	2  collections that are not frozen, counters, the seconds of tombstones
//	3  a record for each keyspace and table, in place of one for all
//	4  the Badger engine keeps what is merged into long values beside them, which earlier versions would not see
//	5  indexes have entries, which earlier versions would not write
//	6  a commit log in front of Badger, which earlier versions would not read
const formatVersion = 6

// The store's own records are keys of table 0.
var (
	metaKey        = ownKey("meta")
	catalogKey     = ownKey("catalog") // until format 3
	definitionKeys = ownKey("definition/")
	deadKey        = ownKey("dead/")
	sweepKeys      = ownKey("sweep/")
	indexKeys      = ownKey("index/")
	boundKey       = ownKey("bound") // of the timestamps that were given
)

func ownKey(name string) []byte { return append(rows.AppendArea(nil, 0, rows.AreaRows), name...) }

// meta is the store's first record: its format, its id and the next table's number.
type meta struct {
	version uint32 // of the data, when it was opened
	host    [16]byte
	next    uint32 // the next table's number
}

// metaSize is the length of the record: version, host id, next number.
const metaSize = 4 + 16 + 4

var errMeta = errors.New("the data is not cqld's: its first record is damaged")

// load reads the record and reports whether there is one.
func (m *meta) load(r engine.Reader) (found bool, err error) {
	return r.Get(metaKey, func(b []byte) error {
		if len(b) < 4 {
			return errMeta
		}
		if m.version = binary.BigEndian.Uint32(b); m.version > formatVersion {
			return fmt.Errorf("the data was written by a later version of cqld: "+
				"its format is %d, this cqld knows formats up to %d", m.version, formatVersion)
		}
		if len(b) != metaSize {
			return errMeta
		}
		copy(m.host[:], b[4:20])
		m.next = binary.BigEndian.Uint32(b[20:])
		return nil
	})
}

// drawHost gives the store an id of its own.
func (m *meta) drawHost() error {
	if _, err := rand.Read(m.host[:]); err != nil {
		return fmt.Errorf("draw a host id: %w", err)
	}
	m.host[6] = m.host[6]&0x0f | 0x40 // a random UUID, version 4
	m.host[8] = m.host[8]&0x3f | 0x80
	return nil
}

// op writes the record.
func (m *meta) op() engine.Op {
	b := binary.BigEndian.AppendUint32(nil, formatVersion)
	b = append(b, m.host[:]...)
	return engine.Op{Kind: engine.Put, Key: metaKey, Value: binary.BigEndian.AppendUint32(b, m.next)}
}
