package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/snapshot"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// The store's own records are keys of table 0.
var (
	metaKey        = ownKey("meta")
	definitionKeys = ownKey("definition/")
	deadKey        = ownKey("dead/")
	sweepKeys      = ownKey("sweep/")
	boundKey       = ownKey("bound") // of the timestamps that were given
)

func ownKey(name string) []byte { return append(rows.AppendArea(nil, 0, rows.AreaRows), name...) }

// meta is the store's first record: its format, its id and the next table's number.
type meta struct {
	host [16]byte
	next uint32 // the next table's number
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
		if version := binary.BigEndian.Uint32(b); version != snapshot.Format {
			return fmt.Errorf("the data was written by another version of cqld: its format is %d, this cqld reads format %d",
				version, snapshot.Format)
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
	b := binary.BigEndian.AppendUint32(nil, snapshot.Format)
	b = append(b, m.host[:]...)
	return engine.Op{Kind: engine.Put, Key: metaKey, Value: binary.BigEndian.AppendUint32(b, m.next)}
}
