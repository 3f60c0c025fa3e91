package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

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
// is newer, so entries are copied with their versions, in any order.
func (f *folder) repair(o *Options) (*folder, error) {
	ready := filepath.Join(f.dir, readyFolder)
	memtable := max(o.MemTable, f.format.memtable)
	if _, err := os.Stat(ready); errors.Is(err, fs.ErrNotExist) {
		for _, d := range f.damages {
			o.Log.Error().Str("file", filepath.Join(f.dir, d.Name)).Str("damage", d.What).
				Str("kept_in", filepath.Join(f.dir, files.QuarantineFolder)).
				Msg("quarantined a damaged file: its entries that are not intact are lost")
		}
		into := *o
		into.Dir, into.MemTable = filepath.Join(f.dir, rebuiltFolder), memtable
		if err := os.RemoveAll(into.Dir); err != nil {
			return nil, err
		}
		if err := f.rebuild(into); err != nil {
			return nil, err
		}
		if err := errors.Join(os.Rename(into.Dir, ready), files.SyncFile(f.dir)); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if err := f.exchange(ready); err != nil {
		return nil, err
	}
	if err := (format{memtable: memtable}).write(f.dir); err != nil {
		return nil, err
	}
	next, err := examineFolder(f.dir)
	if err == nil {
		err = Refuse(f.dir, next.damages)
	}
	return next, err
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
	for _, path := range f.tablePaths() {
		if err = copyIntact(path, batch); err != nil {
			return errors.Join(fmt.Errorf("copy %s: %w", path, err), db.Close())
		}
	}
	return errors.Join(batch.Flush(), db.Flatten(1), db.Close())
}

// tablePaths are the listed tables, or all table files if the list cannot be read.
func (f *folder) tablePaths() (paths []string) {
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		paths = append(paths, table.NewFilename(id, f.dir))
	}
	if len(paths) == 0 {
		paths, _ = filepath.Glob(filepath.Join(f.dir, "*"+tableSuffix))
	}
	return paths
}

// copyIntact copies the entries of a table that are intact, block by block.
func copyIntact(path string, to *badger.WriteBatch) error {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return nil // it is not there
	}
	blocks := blocksOf(path, data)
	for i, first := range blocks {
		var end []byte
		if i+1 < len(blocks) {
			end = []byte(blocks[i+1])
		}
		for _, e := range blockEntries(path, data, []byte(first), end) {
			key, version := y.ParseKey(e.key), y.ParseTs(e.key)
			if len(e.value) == 0 {
				err = to.DeleteAt(key, version)
			} else {
				err = to.SetEntryAt(badger.NewEntry(key, e.value), version)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// blocksOf are the first keys of a table's blocks, or nil if its index is damaged.
func blocksOf(path string, data []byte) (keys []string) {
	defer func() { _ = recover() }()
	t, err := openCopy(path, data)
	if err != nil {
		return nil
	}
	return t.KeySplits(1<<30, nil)
}

// storedEntry is an entry of a table.
type storedEntry struct{ key, value []byte }

// blockEntries are the intact entries of a block, which ends before end. There are none if the block's checksum is
// wrong, because its keys may be wrong too.
func blockEntries(path string, data, first, end []byte) (found []storedEntry) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	id, _ := table.ParseFileID(path)
	t, err := table.OpenInMemoryTable(data, id, &table.Options{ChkMode: options.OnBlockRead, Compression: options.None})
	if err != nil {
		return nil
	}
	it := t.NewIterator(table.NOCACHE)
	defer it.Close()
	for it.Seek(first); it.Valid() && (end == nil || y.CompareKeys(it.Key(), end) < 0); it.Next() {
		if v := it.ValueCopy(); checkStored(y.ParseKey(it.Key()), v.Value) == nil {
			found = append(found, storedEntry{slices.Clone(it.Key()), v.Value})
		}
	}
	return found
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
