package check

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4"
)

const (
	manifestStart  = 8 // bytes of its kind
	manifestRecord = 8 // bytes in front of each record: its length and its checksum
)

// manifestKind begins each MANIFEST that this Badger writes.
var manifestKind = []byte{'B', 'd', 'g', 'r', 0, 0, 0, 8}

// manifest is Badger's list of tables.
type manifest struct {
	path    string
	content []byte          // its records that are whole
	tables  map[uint64]int  // the level of each table
	removed map[uint64]bool // tables that were on the list
	flushes []int64         // where the records begin that list the table of a memtable
	torn    bool            // the last record was not written to its end
}

// readManifest reads the list: eight bytes of its kind, then records, each a length, a checksum and as many bytes.
// It returns what it could read, and what is wrong with the rest.
//
// Badger takes a record that is longer than the rest for one that was not written to its end, and removes the
// tables that it names. If the length is damaged, some part of the rest has the checksum.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{path: filepath.Join(dir, badger.ManifestFilename), tables: map[uint64]int{}, removed: map[uint64]bool{}}
	b, err := os.ReadFile(m.path)
	if err != nil {
		return m, err
	}
	if !bytes.HasPrefix(b, manifestKind) {
		return m, damaged(m.path, "its first bytes are not those of a list of tables")
	}
	m.content = b[:manifestStart]
	for at := manifestStart; at < len(b); {
		if at+manifestRecord > len(b) {
			m.torn = true
			return m, nil
		}
		length, sum := binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint32(b[at+4:])
		rest := b[at+manifestRecord:]
		if uint64(length) > uint64(len(rest)) {
			if anyPrefix(rest, sum) {
				return m, damaged(m.path, "the length of the record at byte %d is wrong", at)
			}
			m.torn = true
			return m, nil
		}
		if files.Checksum(rest[:length]) != sum {
			return m, damaged(m.path, "the record at byte %d does not have the checksum that it was written with", at)
		}
		if !m.apply(int64(at), rest[:length]) {
			return m, damaged(m.path, "the record at byte %d makes no sense", at)
		}
		at += manifestRecord + int(length)
		m.content = b[:at]
	}
	return m, nil
}

// anyPrefix reports whether the first bytes of b, however many, have a checksum.
func anyPrefix(b []byte, sum uint32) bool {
	var c uint32
	for i := range b {
		if c = crc32.Update(c, castagnoli, b[i:i+1]); c == sum {
			return true
		}
	}
	return false
}

// Fields of a change in a record, which is a message of messages. The others are 0 in all that cqld writes.
const (
	changeTable  = 1
	changeRemove = 2
	changeLevel  = 3
	changeFields = 7
)

// apply applies a record, and reports whether it makes sense.
func (m *manifest) apply(at int64, record []byte) bool {
	added, removed := 0, 0
	for len(record) > 0 {
		length, n := binary.Uvarint(record[1:])
		if record[0] != 1<<3|2 || n <= 0 || length > uint64(len(record)-1-n) {
			return false
		}
		change := record[1+n : 1+n+int(length)]
		record = record[1+n+int(length):]
		var fields [changeFields]uint64
		for len(change) > 0 {
			field := change[0] >> 3
			v, n := binary.Uvarint(change[1:])
			if change[0]&7 != 0 || field >= changeFields || n <= 0 {
				return false
			}
			fields[field], change = v, change[1+n:]
		}
		id := fields[changeTable]
		if fields[changeRemove] != 0 {
			delete(m.tables, id)
			m.removed[id] = true
			removed++
			continue
		}
		m.tables[id] = int(fields[changeLevel])
		delete(m.removed, id)
		added++
	}
	if added == 1 && removed == 0 {
		m.flushes = append(m.flushes, at)
	}
	return true
}

// ids returns the tables on the list, the newest first.
func (m *manifest) ids() []uint64 {
	ids := slices.Sorted(maps.Keys(m.tables))
	slices.Reverse(ids)
	return ids
}

// length is the length of the sound records.
func (m *manifest) length() int64 { return int64(len(m.content)) }

// flushesFrom counts the tables of memtables that were listed behind a place.
func (m *manifest) flushesFrom(at int64) (n int) {
	for _, f := range m.flushes {
		if f >= at {
			n++
		}
	}
	return n
}

// rewritten reports whether Badger has replaced a list of that length. It does when most of the list is removed
// tables.
func (m *manifest) rewritten(length int64) bool {
	const least = 64 << 10
	return length > least && m.length() < length && len(m.removed) == 0
}

// encodeManifest makes a list of tables.
func encodeManifest(levels map[uint64]int) []byte {
	var record []byte
	for _, id := range slices.Sorted(maps.Keys(levels)) {
		change := binary.AppendUvarint([]byte{changeTable << 3}, id)
		change = binary.AppendUvarint(append(change, changeLevel<<3), uint64(levels[id]))
		record = binary.AppendUvarint(append(record, 1<<3|2), uint64(len(change)))
		record = append(record, change...)
	}
	b := binary.BigEndian.AppendUint32(bytes.Clone(manifestKind), uint32(len(record)))
	b = binary.BigEndian.AppendUint32(b, files.Checksum(record))
	return append(b, record...)
}
