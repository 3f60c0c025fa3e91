package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/cqld/cqld/store/engine/files"
)

// FormatName is the file with the folder's format. It is the first file of a new folder.
const FormatName = "CQLD"

// Suffixes of Badger's files. A memtable has a log until its table is written. The value log has no values.
const (
	memtableSuffix = ".mem"
	tableSuffix    = ".sst"
	valuesSuffix   = ".vlog"
)

// format is the content of FormatName.
type format struct {
	creating bool  // the folder is not complete yet: files may be missing
	memtable int64 // bytes of Badger's memtable, whose logs no smaller one takes
}

const formatHead = "cqld data 6\n"

func (f format) encode() []byte {
	text := fmt.Sprintf("%smemtable %d\n", formatHead, f.memtable)
	if f.creating {
		text += "creating\n"
	}
	return fmt.Appendf(nil, "%ssum %d\n", text, files.Checksum([]byte(text)))
}

func (f format) write(dir string) error {
	return files.ReplaceFile(filepath.Join(dir, FormatName), f.encode())
}

// readFormat reads FormatName. sound is false if it was changed since it was written.
func readFormat(dir string) (f format, sound bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, FormatName))
	if err != nil {
		return f, false, err
	}
	rest, known := strings.CutPrefix(string(b), formatHead)
	f.creating = strings.Contains(rest, "creating\n")
	_, err = fmt.Sscanf(rest, "memtable %d\n", &f.memtable)
	return f, known && err == nil && string(f.encode()) == string(b), nil
}

// formerFiles are files of folders without FormatName.
var formerFiles = []string{"FILES", "COMMITS", "LOG", "LOGGED", badger.ManifestFilename}

// folder is the state of a folder that is not open.
type folder struct {
	dir     string
	format  format
	isNew   bool // there is no data
	damages []files.Damage
	tables  map[uint64]badger.TableManifest
	others  []string // files without data: tables that are not listed, and empty logs
	logs    int      // memtables with entries
}

// examineFolder lists the files of a folder, and checks that the necessary ones are there and complete. It changes
// nothing and does not read all data.
func examineFolder(dir string) (*folder, error) {
	f := &folder{dir: dir, tables: map[uint64]badger.TableManifest{}}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sound := false
	f.format, sound, err = readFormat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if slices.ContainsFunc(formerFiles, func(name string) bool { return slices.Contains(names, name) }) {
			return nil, fmt.Errorf("the folder %s has a format that is not read any more: export its tables with the cqld "+
				"that made it (cqld export), and import them into a new folder (cqld import)", dir)
		}
		f.isNew = true
		return f, nil
	case err != nil:
		return nil, err
	case !sound:
		f.damage(FormatName, "it does not have the checksum that it was written with")
		f.format = format{}
	}
	f.isNew = f.format.creating
	if slices.Contains(names, readyFolder) {
		f.damage(readyFolder, "a repair was interrupted")
	}
	if err := f.readManifest(); err != nil {
		return nil, err
	}
	for _, name := range names {
		switch filepath.Ext(name) {
		case memtableSuffix, valuesSuffix:
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if info.Size() == 0 {
				f.others = append(f.others, name) // it was being made, and Badger does not open with it
			} else if filepath.Ext(name) == memtableSuffix {
				f.logs++
				if !sound {
					f.format.memtable = max(f.format.memtable, info.Size()) // which suffices
				}
			}
		case tableSuffix:
			if id, ok := table.ParseFileID(name); ok && !f.lists(id) {
				f.others = append(f.others, name)
			}
		}
	}
	if slices.Contains(names, badger.KeyRegistryFileName) {
		keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true})
		if err != nil {
			f.others = append(f.others, badger.KeyRegistryFileName) // it has no keys: nothing is encrypted
		} else if err := keys.Close(); err != nil {
			return nil, err
		}
	}
	for id := range f.tables {
		err := checkTable(filepath.Join(dir, table.IDToFilename(id)), onlyIndex)
		if d, is := damageOf(err); is {
			f.damages = append(f.damages, d)
		} else if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *folder) damage(name, kind string) {
	f.damages = append(f.damages, files.Damage{Name: name, What: kind})
}

func (f *folder) lists(id uint64) bool {
	_, ok := f.tables[id]
	return ok
}

// readManifest reads the list of tables.
func (f *folder) readManifest() error {
	file, err := os.Open(filepath.Join(f.dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		if !f.isNew {
			f.damage(badger.ManifestFilename, "it is not there")
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	m, _, err := badger.ReplayManifestFile(file, 0, badger.DefaultOptions(f.dir).WithLogger(nil))
	if err != nil {
		f.damage(badger.ManifestFilename, "it is not a list of tables: "+err.Error())
		return nil
	}
	f.tables = m.Tables
	return nil
}

// Refuse returns the error for a folder with damaged files, or nil if there are none.
func Refuse(dir string, all []files.Damage) error {
	if len(all) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s: %s", filepath.Join(dir, all[0].Name), all[0].What)
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return fmt.Errorf("%w: %s", ErrDamaged, text)
}

// QuickExamine returns the damage that can be found without reading all files.
func QuickExamine(dir string) (exists bool, _ []files.Damage, err error) {
	f, err := examineFolder(dir)
	if err != nil {
		return false, nil, err
	}
	return !f.isNew, f.damages, nil
}

// prepareFolder makes a folder ready for Badger, and repairs it if o.Repair is set. It changes nothing in a folder
// that it refuses.
func prepareFolder(o *Options) error {
	if err := files.MakeSynced(o.Dir); err != nil {
		return fmt.Errorf("the folder %s cannot be created: %w", o.Dir, err)
	}
	unlock, err := files.LockFolder(o.Dir)
	if errors.Is(err, files.ErrInUse) {
		return errInUse(o.Dir)
	}
	if err != nil {
		return err
	}
	defer unlock()
	f, err := examineFolder(o.Dir)
	if err == nil && o.Repair {
		f.damages, err = Examine(o.Dir, func(string, int, int) {}) // which finds more
	}
	if err != nil {
		return err
	}
	if !o.Repair {
		if err := Refuse(o.Dir, f.damages); err != nil {
			return err
		}
	}
	if err := mayOpen(o); err != nil {
		return err
	}
	if len(f.damages) > 0 {
		if f, err = f.repair(o); err != nil {
			return fmt.Errorf("repair the folder %s: %w", o.Dir, err)
		}
	}
	if f.logs > 0 {
		o.MemTable = max(o.MemTable, f.format.memtable)
	}
	if next := (format{f.isNew, o.MemTable}); next != f.format {
		if err := next.write(o.Dir); err != nil {
			return err
		}
		f.format = next
	}
	return errors.Join(f.moveOthers(), f.rejuvenateLevelZero())
}

// mayOpen refuses a folder that cannot be written to, or whose disk has no room for the tables that Badger makes of
// memtables when it opens.
func mayOpen(o *Options) error {
	probe, err := os.CreateTemp(o.Dir, "writable")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be written to: %w", o.Dir, errors.Unwrap(err))
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return err
	}
	free, err := o.Free(o.Dir)
	if need := 2 * o.MemTable; err == nil && free < need {
		return fmt.Errorf("the folder %s has too little room: %d MiB are free, and opening it needs %d MiB",
			o.Dir, free>>20, need>>20)
	}
	return err
}

// othersFolder keeps tables that are not listed until the folder is known to be sound. Badger would delete them.
const othersFolder = "unlisted"

func (f *folder) moveOthers() error {
	if len(f.others) == 0 {
		return nil
	}
	to := filepath.Join(f.dir, othersFolder)
	if err := files.MakeSynced(to); err != nil {
		return err
	}
	for _, name := range f.others {
		if err := os.Rename(filepath.Join(f.dir, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// Confirm ends the opening of a folder: its tables fit its log.
func (e *Engine) Confirm() error {
	if err := os.RemoveAll(filepath.Join(e.o.Dir, othersFolder)); err != nil {
		return err
	}
	return format{memtable: e.o.MemTable}.write(e.o.Dir)
}

// errInUse is the error for a folder that another process has open.
func errInUse(dir string) error { return fmt.Errorf("the folder %s is in use by another process", dir) }

// rejuvenateLevelZero keeps Badger from merging the tables in level zero with each other. A killed process may leave
// one more than maxLevelZero: a table, and the memtable that it was made of. Badger merges only tables that are older
// than ten seconds, and takes their age from their files.
func (f *folder) rejuvenateLevelZero() error {
	young := time.Now().AddDate(1, 0, 0)
	for id, t := range f.tables {
		if t.Level == 0 {
			if err := os.Chtimes(table.NewFilename(id, f.dir), time.Time{}, young); err != nil {
				return err
			}
		}
	}
	return nil
}
