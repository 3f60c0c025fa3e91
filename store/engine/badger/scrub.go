package badger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine/files"
)

// tableDamage is the error for a damaged table.
type tableDamage struct{ path, kind string }

// Error names the file.
func (d *tableDamage) Error() string {
	return fmt.Sprintf("the file %s is damaged: %s", d.path, d.kind)
}

// Unwrap is ErrDamaged.
func (d *tableDamage) Unwrap() error { return ErrDamaged }

// damageOf returns the damage of a table that caused an error.
func damageOf(err error) (files.Damage, bool) {
	if d := (*tableDamage)(nil); errors.As(err, &d) {
		return files.Damage{Name: filepath.Base(d.path), What: d.kind}, true
	}
	return files.Damage{}, false
}

// depth is the part of a table that is examined.
type depth int

const (
	onlyIndex  depth = iota // the index, which is at the end: so the table is complete
	allBlocks               // the checksums of all blocks
	everything              // and of all entries
)

// checkTable examines a table that may be in use, and returns its first and last key. Badger truncates a table before
// it removes it, so its content is copied where that may happen, and not mapped.
func checkTable(path string, d depth) (smallest, biggest []byte, err error) {
	var data []byte
	if d == everything {
		data, err = os.ReadFile(path)
	} else {
		var release func() error
		if data, release, err = files.View(path); err == nil {
			defer func() { err = errors.Join(err, release()) }()
		}
	}
	damaged := func(kind string) ([]byte, []byte, error) { return nil, nil, &tableDamage{path, kind} }
	if info, failed := os.Stat(path); err != nil && failed == nil && info.IsDir() {
		return damaged(itIsFolder)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("it is not there")
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { // a damaged index or block makes Badger read beyond the file
		if p := recover(); p != nil {
			smallest, biggest, err = damaged("it is not complete, or its index is damaged")
		}
	}()
	if len(data) == 0 {
		return damaged("it is empty")
	}
	t, err := openCopy(path, data)
	if err != nil {
		return damaged(err.Error())
	}
	if d != onlyIndex {
		if err := t.VerifyChecksum(); err != nil {
			return damaged(errBlock.Error())
		}
	}
	if d == everything {
		it := t.NewIterator(table.NOCACHE)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := checkStored(y.ParseKey(it.Key()), it.Value().Value); err != nil {
				return damaged(err.Error())
			}
		}
	}
	return slices.Clone(t.Smallest()), slices.Clone(t.Biggest()), nil
}

// openCopy opens a table in memory, for reading.
func openCopy(path string, data []byte) (*table.Table, error) {
	id, _ := table.ParseFileID(path)
	return table.OpenInMemoryTable(data, id, &table.Options{ChkMode: options.NoVerification, Compression: options.None})
}

// checkStored verifies the checksum of a key's entry. A deleted key has no value.
func checkStored(key, stored []byte) error {
	if len(stored) == 0 || bytes.HasPrefix(key, reserved[0]) {
		return nil
	}
	_, _, err := openEntry(key, stored)
	return err
}

const (
	scrubInterval = 24 * time.Hour
	scrubPause    = 4 // the pause after reading a table, as a multiple of the time that reading took
)

// scrubPeriodically scrubs after the folder was opened, and from then on once a day, until Close.
func (e *Engine) scrubPeriodically() {
	defer e.finished.Done()
	for {
		err := panics.Call(e.scrub)
		if panics.Is(err) { // Badger's list of tables, and no table: the next scrub is tomorrow
			panics.Log(&e.o.Log, err).Msg("cannot verify the tables")
		} else if err != nil {
			return
		}
		if !e.sleep(scrubInterval) {
			return
		}
	}
}

// scrub verifies all tables. Damage ends all reading and writing.
func (e *Engine) scrub() error {
	tables := e.db.Tables()
	for _, t := range tables {
		began := time.Now()
		path := table.NewFilename(t.ID, e.o.Dir)
		if _, _, err := checkTable(path, everything); err != nil && e.uses(t.ID) {
			return e.found(err)
		}
		if !e.sleep(scrubPause * time.Since(began)) {
			return nil
		}
	}
	e.o.Log.Debug().Int("tables", len(tables)).Msg("all tables were scrubbed")
	return nil
}

// uses reports whether a table is one of Badger's.
func (e *Engine) uses(id uint64) bool {
	return slices.ContainsFunc(e.db.Tables(), func(t badger.TableInfo) bool { return t.ID == id })
}

// sleep waits, and reports false if the engine is being closed.
func (e *Engine) sleep(d time.Duration) bool {
	select {
	case <-e.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// Examine reads all files of a folder that is not open, and returns the damage. progress is called before each table.
func Examine(dir string, progress func(file string, done, all int)) ([]files.Damage, error) {
	f, err := examineFolder(dir)
	if err != nil || f.isNew {
		return nil, err
	}
	err = f.examine(everything, progress)
	return f.damages, err
}

// examine reads all tables, and notes the damage. progress is called before each table.
func (f *folder) examine(d depth, progress func(file string, done, all int)) error {
	done := 0
	for id := range f.tables {
		name := table.IDToFilename(id)
		progress(name, done, len(f.tables))
		done++
		if slices.ContainsFunc(f.damages, func(d files.Damage) bool { return d.Name == name }) {
			continue
		}
		_, _, err := checkTable(filepath.Join(f.dir, name), d)
		if d, is := damageOf(err); is {
			f.damages = append(f.damages, d)
		} else if err != nil {
			return err
		}
	}
	return nil
}
