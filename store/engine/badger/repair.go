package badger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// A repair makes a new database in rebuiltFolder, which becomes readyFolder when it is complete. Then the old files
// are quarantined, which is noted by movedFile in it, and its files take their place. So an interrupted repair is
// continued.
const (
	rebuiltFolder = "rebuilt"
	readyFolder   = "repaired"
	movedFile     = "MOVED"
)

// repair copies all intact entries into a new database, and returns its folder. Versions decide which of two entries
// is newer, so entries are copied with their versions, in any order. Where only files without tables are damaged, these
// are quarantined, because the commit log has what was in them.
func (f *folder) repair(o *Options) (*folder, error) {
	ready := filepath.Join(f.dir, readyFolder)
	memtable := max(o.MemTable, f.format.memtable)
	for _, d := range f.damages {
		o.Log.Error().Str("file", filepath.Join(f.dir, d.Name)).Str("damage", d.What).
			Str("kept_in", filepath.Join(f.dir, files.QuarantineFolder)).
			Msg("quarantined a damaged file: what is intact in it is kept")
	}
	if err := f.quarantineOthers(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(ready); errors.Is(err, fs.ErrNotExist) {
		if !f.damaged(tableSuffix) && !f.damaged(badger.ManifestFilename) {
			return f.repaired(memtable, NoteRepair(f.dir))
		}
		into := *o
		into.Dir, into.MemTable = filepath.Join(f.dir, rebuiltFolder), memtable
		if err := os.RemoveAll(into.Dir); err != nil {
			return nil, err
		}
		if err := f.rebuild(into); err != nil {
			return nil, err
		}
		if err := NoteRepair(f.dir, f.losses...); err != nil {
			return nil, err
		}
		if err := errors.Join(os.Rename(into.Dir, ready), files.SyncFile(f.dir)); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return f.repaired(memtable, f.exchange(ready))
}

// repaired examines the folder after a repair.
func (f *folder) repaired(memtable int64, err error) (*folder, error) {
	if err == nil {
		err = format{memtable: memtable}.write(f.dir)
	}
	if err != nil {
		return nil, err
	}
	next, err := examineFolder(f.dir)
	if err == nil {
		err = Refuse(f.dir, next.damages)
	}
	return next, err
}

// damaged reports whether a file with a name or a suffix is damaged.
func (f *folder) damaged(name string) bool {
	return slices.ContainsFunc(f.damages, func(d files.Damage) bool { return strings.HasSuffix(d.Name, name) })
}

// quarantineOthers quarantines damaged files that a new database does not replace: the format, and logs of memtables
// that Badger would not open.
func (f *folder) quarantineOthers() error {
	for _, d := range f.damages {
		if d.Name != FormatName && !strings.HasSuffix(d.Name, memtableSuffix) {
			continue
		}
		err := files.Quarantine(filepath.Join(f.dir, d.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// rebuild copies all intact entries. The logs of memtables become tables first: Badger replays their intact parts.
func (f *folder) rebuild(into Options) error {
	if err := files.MakeSynced(into.Dir); err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(f.dir, "*"+memtableSuffix))
	if err != nil {
		return err
	}
	for _, path := range logs {
		if err := copyFile(path, filepath.Join(into.Dir, filepath.Base(path))); err != nil {
			return err
		}
	}
	db, err := badger.OpenManaged(badgerOptions(into).WithNumCompactors(0).WithNumLevelZeroTablesStall(1 << 20))
	if err != nil {
		return err
	}
	batch := db.NewManagedWriteBatch()
	defer batch.Cancel()
	r := newBlockReader()
	for _, path := range f.tablePaths() {
		if err = f.copyIntact(r, path, batch); err != nil {
			return errors.Join(fmt.Errorf("copy %s: %w", path, err), db.Close())
		}
	}
	return errors.Join(batch.Flush(), db.Flatten(1), db.Close())
}

// tablePaths are the listed tables. Where the list is damaged, or names tables that are not there, all tables in the
// folder are taken.
func (f *folder) tablePaths() (paths []string) {
	for id := range f.tables {
		paths = append(paths, table.NewFilename(id, f.dir))
	}
	missing := slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
	if missing || f.damaged(badger.ManifestFilename) {
		all, _ := filepath.Glob(filepath.Join(f.dir, "*"+tableSuffix))
		paths = append(paths, all...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// copyIntact copies the entries of a table that are intact, block by block, and notes what is lost.
func (f *folder) copyIntact(r *blockReader, path string, to *badger.WriteBatch) error {
	loss := engine.Loss{File: filepath.Base(path), What: "it cannot be read", Ranges: []engine.Range{{}}, Entries: -1}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || err == nil && len(data) == 0:
		f.losses = append(f.losses, loss)
		return nil
	case err != nil:
		return err
	}
	blocks, count := r.blocksOf(data)
	var last []byte
	copied := 0
	loss.What, loss.Ranges = "blocks of it are damaged", nil
	for i, b := range blocks {
		entries, err := r.read(data[b.start:b.end])
		if err != nil {
			lost := engine.Range{Start: b.first}
			if i+1 < len(blocks) {
				lost.End = blocks[i+1].first
			}
			loss.Ranges = append(loss.Ranges, lost)
		}
		for _, e := range entries {
			last = y.ParseKey(e.key)
			if err := copyEntry(e, to); err != nil {
				return err
			}
		}
		copied += len(entries)
	}
	if count < 0 {
		loss.What, loss.Ranges = "its index is damaged", append(loss.Ranges, engine.Range{Start: last})
	} else if loss.Entries = count - copied; loss.Entries == 0 {
		return nil
	}
	f.losses = append(f.losses, loss)
	return nil
}

// copyEntry copies an entry with its version.
func copyEntry(e storedEntry, to *badger.WriteBatch) error {
	key, version := y.ParseKey(e.key), y.ParseTs(e.key)
	if len(e.value) == 0 {
		return to.DeleteAt(key, version)
	}
	return to.SetEntryAt(badger.NewEntry(key, e.value), version)
}

// mend makes a repaired database consistent in itself. Long values that lack chunks are deleted, because an error of
// reading one would end all reading. What is known of flushes is written again, because their entries may be missing.
// It returns the last commit that is certainly in tables.
func (e *Engine) mend() (flushed uint64, err error) {
	flushed, _, err = e.readMarkers()
	if err != nil && !errors.Is(err, errPartMissing) {
		return 0, err
	}
	e.newer, err = e.hasNewer()
	if err != nil {
		return 0, err
	}
	batch := e.db.NewWriteBatchAt(e.version.Load() + 1)
	defer batch.Cancel()
	var losses []engine.Loss
	s := e.Snapshot()
	defer s.Release()
	it := s.txn.NewIterator(badger.DefaultIteratorOptions)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().KeyCopy(nil)
		if bytes.HasPrefix(key, reserved[0]) || bytes.HasPrefix(key, reserved[1]) {
			continue
		}
		err := it.Item().Value(func(stored []byte) error {
			value, k, err := openEntry(key, stored)
			if err != nil || k != long {
				return err
			}
			h, ok := decodeLongHead(value)
			if _, err := s.readLong(key, value); err != nil || !ok {
				losses = append(losses, engine.Loss{
					What: "a part of a long value is missing", Ranges: []engine.Range{{Start: key, End: append(key, 0)}}, Entries: 1,
				})
				return batch.Delete(key)
			}
			owner := longKey(h.generation) // which may be lost
			return batch.SetEntry(badger.NewEntry(owner, sealEntry(nil, owner, longOwner(h.chunks, key), whole)))
		})
		if err != nil {
			return 0, err
		}
	}
	return flushed, errors.Join(NoteRepair(e.o.Dir, losses...), batch.Flush(), e.forgetFlushes(flushed))
}

// exchange quarantines the files of the old database and puts the files of the new one in their place.
func (f *folder) exchange(ready string) error {
	moved := filepath.Join(ready, movedFile)
	if _, err := os.Stat(moved); errors.Is(err, fs.ErrNotExist) {
		if err := quarantineData(f.dir); err != nil {
			return err
		}
		if err := files.ReplaceFile(moved, nil); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	entries, err := os.ReadDir(ready)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == movedFile {
			continue
		}
		if err := os.Rename(filepath.Join(ready, e.Name()), filepath.Join(f.dir, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(files.SyncFile(f.dir), os.RemoveAll(ready), files.SyncFile(f.dir))
}

// quarantineData quarantines the files of a database.
func quarantineData(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if ext != tableSuffix && ext != memtableSuffix && e.Name() != badger.ManifestFilename {
			continue
		}
		if err := files.Quarantine(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// repairName is the file with what a repair could not recover, until the store has read it.
const repairName = "REPAIRED"

// NoteRepair notes in a folder that it was repaired, and what is lost.
func NoteRepair(dir string, losses ...engine.Loss) error {
	noted, err := ReadRepair(dir)
	if err != nil {
		return err
	}
	if noted == nil {
		noted = &engine.Repair{}
	}
	noted.Losses = append(noted.Losses, losses...)
	b, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	return files.ReplaceFile(filepath.Join(dir, repairName), b)
}

// ReadRepair reads what NoteRepair has noted, or returns nil.
func ReadRepair(dir string) (*engine.Repair, error) {
	b, err := os.ReadFile(filepath.Join(dir, repairName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	noted := &engine.Repair{}
	if json.Unmarshal(b, noted) != nil {
		return &engine.Repair{}, nil // it was repaired, whatever was lost
	}
	return noted, nil
}

// EndRepair removes the note.
func EndRepair(dir string) error { return os.Remove(filepath.Join(dir, repairName)) }
