package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/rs/zerolog"
)

// Repair makes a folder sound. It keeps what can be read of damaged files, and sets the files aside as they were.
// values says that values are lost that keys may still point to.
func (x *Examination) Repair(log zerolog.Logger) (values bool, err error) {
	list := false
	for _, d := range x.damages {
		var lost string
		path := filepath.Join(x.dir, d.Name)
		switch filepath.Ext(d.Name) {
		case MemtableLog:
			lost, err = x.repairLog(path)
		case ValueLog:
			values = true
			lost, err = repairValues(path)
		case TableFile:
			list = true
			lost, err = x.repairTable(path)
		default:
			list = list || d.Name == badger.ManifestFilename
			if lost, err = "nothing", nil; d.Name != badger.ManifestFilename {
				err = setAsideAny(path)
			}
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
		log.Error().Str("file", path).Str("damage", d.What).Str("lost", lost).
			Str("kept_in", filepath.Join(x.dir, files.AsideFolder)).Msg("a damaged file is repaired")
	}
	if list {
		if err := x.repairList(log); err != nil {
			return false, err
		}
	}
	// They tell of the folder as it was.
	return values, errors.Join(
		setAsideAny(filepath.Join(x.dir, RecordName)), setAsideAny(filepath.Join(x.dir, CommitsName)))
}

// setAsideAny sets a file aside if it exists.
func setAsideAny(path string) error {
	_, err := files.SetAside(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// repairLog keeps the sound commits of a memtable's log. A log that is not of the folder goes.
func (x *Examination) repairLog(path string) (lost string, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "all of it", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := files.SetAside(path); err != nil || x.record != nil && x.record.closed {
		return "nothing that was in the folder when it was closed", err
	}
	kept, missing := wholeCommits(b)
	if len(kept) == 0 {
		return "all of it", nil
	}
	return fmt.Sprintf("at least %d commits", missing), files.ReplaceFile(path, append(make([]byte, LogStart), kept...))
}

// wholeCommits returns the sound commits of a log, and how many are missing between them.
func wholeCommits(b []byte) (kept []byte, missing uint64) {
	var last, open uint64
	begin, follows := LogStart, true // where a commit begins, if it follows another
	for at := LogStart; at < len(b); {
		next, size := nextEntry(b, at)
		if next < 0 {
			break
		}
		if next != at {
			follows = false
		}
		key, value, _ := parseHead(b[next:])
		e := logEntry{meta: b[next], key: b[next+key : next+value], value: b[next+value : next+size-checksumBytes]}
		version := e.version()
		switch at = next + size; {
		case e.meta&bitCommit != 0:
			if follows && open == 0 {
				open, begin = version, next
			}
			follows = follows && open == version
		case e.meta&bitEnd != 0:
			if follows && open != 0 && e.ends(open) {
				kept = append(kept, b[begin:at]...)
				if last > 0 && open > last+1 {
					missing += open - last - 1
				}
				last = open
			}
			open, follows = 0, true
		default:
			kept = append(kept, b[next:at]...)
			open, follows = 0, true
		}
	}
	return kept, missing
}

// repairValues keeps each value of a log at its place, and fills the places of those that cannot be read.
func repairValues(path string) (lost string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "all of its values", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := files.DataFrom(f, 0)
	if err != nil {
		return "", err
	}
	b = append(b, make([]byte, max(0, LogStart-len(b)))...)
	clear(b[:8])
	end, filled := LogStart, 0
	for end < len(b) {
		next, size := nextEntry(b, end)
		if next < 0 {
			filled++
			break
		}
		if next > end {
			if !fillValue(b[end:next]) {
				break
			}
			filled++
		}
		end = next + size
	}
	if _, err := files.SetAside(path); err != nil {
		return "", err
	}
	lost = fmt.Sprintf("values in %d places, and those behind its end if it is shorter than it was", filled)
	return lost, files.ReplaceFile(path, b[:end])
}

// fillerKey is a key that nobody reads, with a version.
var fillerKey = append([]byte("damaged"), bytes.Repeat([]byte{0xff}, 9)...)

// fillValue fills b with two entries, and reports whether it could. With two of them no lost value has its checksum
// by chance.
func fillValue(b []byte) bool {
	const first = 64
	return len(b) >= 2*first && fillEntry(b[:first]) && fillEntry(b[first:])
}

// fillEntry fills b with one entry.
func fillEntry(b []byte) bool {
	for _, key := range [][]byte{fillerKey, append([]byte{'-'}, fillerKey...)} {
		for varint := 1; varint <= binary.MaxVarintLen32; varint++ {
			value := len(b) - 2 - 1 - varint - 1 - len(key) - checksumBytes
			if value < 0 || len(binary.AppendUvarint(nil, uint64(value))) != varint {
				continue
			}
			clear(b)
			head := binary.AppendUvarint([]byte{0, 0}, uint64(len(key)))
			head = append(binary.AppendUvarint(head, uint64(value)), 0)
			copy(b[copy(b, head):], key)
			binary.BigEndian.PutUint32(b[len(b)-checksumBytes:], files.Checksum(b[:len(b)-checksumBytes]))
			return true
		}
	}
	return false
}

// repairTable keeps the blocks of a table that can be read. A table that is not of the folder goes.
func (x *Examination) repairTable(path string) (lost string, err error) {
	id, _ := table.ParseFileID(filepath.Base(path))
	_, whole := x.tables[id]
	delete(x.tables, id)
	kept, blocks, all, err := wholeBlocks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "all of it", nil
	}
	if err != nil && !isDamaged(err) {
		return "", err
	}
	if _, err := files.SetAside(path); err != nil {
		return "", err
	}
	if whole || len(kept) == 0 {
		return "all of it", nil
	}
	x.tables[id] = tableState{}
	return fmt.Sprintf("%d of %d blocks", all-blocks, all), files.ReplaceFile(path, kept)
}

// repairList makes the list of tables anew, of the tables that it names and that exist. If the list itself is
// damaged FILES says which they are, and tables that neither has are added to the first level, where they may
// overlap others.
func (x *Examination) repairList(log zerolog.Logger) error {
	path := filepath.Join(x.dir, badger.ManifestFilename)
	levels := maps.Clone(x.list.tables)
	if x.has(badger.ManifestFilename) {
		if x.record != nil && x.record.list > x.list.length() {
			levels = map[uint64]int{}
			for name, t := range x.record.tables {
				if id, ok := table.ParseFileID(name); ok {
					levels[id] = t.level
				}
			}
		}
		if err := x.addUnlisted(levels, log); err != nil {
			return err
		}
	}
	for id := range levels {
		if _, ok := x.tables[id]; !ok {
			delete(levels, id)
			if name := table.IDToFilename(id); !x.has(name) {
				log.Error().Str("file", filepath.Join(x.dir, name)).Msg("a table of the list is not there")
			}
		}
	}
	if err := setAsideAny(path); err != nil {
		return err
	}
	return files.ReplaceFile(path, encodeManifest(levels))
}

// addUnlisted adds the tables in the folder that were never on the list.
func (x *Examination) addUnlisted(levels map[uint64]int, log zerolog.Logger) error {
	paths, err := filepath.Glob(filepath.Join(x.dir, "*"+TableFile))
	if err != nil {
		return err
	}
	for _, path := range paths {
		id, ok := table.ParseFileID(filepath.Base(path))
		_, listed := levels[id]
		_, checked := x.tables[id]
		if checked && !listed {
			levels[id] = 0
		}
		if !ok || checked {
			continue
		}
		s, err := checkTable(path, true, 0)
		if !listed && x.list.removed[id] || err != nil && !listed {
			continue // Badger removed it, or had not finished it
		}
		if err != nil {
			x.tables[id] = s
			lost, err := x.repairTable(path)
			if err != nil {
				return err
			}
			log.Error().Str("file", path).Str("lost", lost).Msg("a damaged file is repaired")
			continue
		}
		x.tables[id] = s
		if !listed {
			levels[id] = 0
		}
	}
	return nil
}
