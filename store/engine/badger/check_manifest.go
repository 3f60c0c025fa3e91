package badger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// listedTables checks the list of tables and returns their paths, the newest first. Other tables were not finished, and
// Badger removes them.
func listedTables(dir string) ([]string, error) {
	path := filepath.Join(dir, badger.ManifestFilename)
	if err := checkManifest(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir))
	if err != nil {
		return nil, damaged(path, "%v", err)
	}
	var tables []string
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(list.Tables))) {
		tables = append(tables, table.NewFilename(id, dir))
	}
	return tables, nil
}

// checkManifest looks at the list of tables: eight bytes of its kind, then records, each a length, a checksum and so many
// bytes. Badger takes a record that is longer than the rest for one that was not written to its end, and removes
// the tables that it names. If the length is what is damaged, then the checksum is that of some part of the rest.
func checkManifest(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const start, head = 8, 8
	if len(b) < start {
		return damaged(path, "it has only %d bytes", len(b))
	}
	for at := start; at+head <= len(b); {
		length, sum := binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint32(b[at+4:])
		rest := b[at+head:]
		if uint64(length) > uint64(len(rest)) {
			if anyPrefix(rest, sum) {
				return damaged(path, "the length of the record at byte %d is wrong", at)
			}
			return nil
		}
		if crc32.Checksum(rest[:length], castagnoli) != sum {
			return damaged(path, "the record at byte %d does not have the checksum that it was written with", at)
		}
		at += head + int(length)
	}
	return nil
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
