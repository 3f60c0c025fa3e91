package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/store/engine"
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
	torn    bool     // the list of tables ends in the middle of an entry
	others  []string // files without data: tables that are not listed, and empty logs
	logs    int      // memtables with entries
	losses  []engine.Loss
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
		if e.IsDir() && isFile(e.Name()) {
			f.damage(e.Name(), itIsFolder)
		}
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
	case errors.Is(err, syscall.EISDIR):
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
		if err := f.examineFile(name, sound); err != nil {
			return nil, err
		}
	}
	return f, f.examineTables()
}

const itIsFolder = "it is a folder"

// isFile reports whether a name is that of a file that may hold data.
func isFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == memtableSuffix || ext == tableSuffix || name == badger.ManifestFilename || name == FormatName
}

// logHead is the length of the head of Badger's logs. It begins with the number of the key that encrypts them: 0.
const logHead = 20

// examineFile looks at a file beside the tables.
func (f *folder) examineFile(name string, sound bool) error {
	ext, path := filepath.Ext(name), filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case ext == tableSuffix:
		if id, ok := table.ParseFileID(name); ok && !f.lists(id) {
			f.others = append(f.others, name)
		}
	case info.IsDir():
		if ext == valuesSuffix || name == keysName || name == discardName {
			f.others = append(f.others, name)
		}
	case name == keysName:
		keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: f.dir, ReadOnly: true})
		if err != nil {
			f.others = append(f.others, name) // it has no keys: nothing is encrypted
		} else if err := keys.Close(); err != nil {
			return err
		}
	case ext != memtableSuffix && ext != valuesSuffix:
	case info.Size() == 0:
		f.others = append(f.others, name) // it was being made, and Badger does not open with it
	default:
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		head := make([]byte, logHead)
		_, err = file.ReadAt(head, 0)
		broken := err != nil || binary.BigEndian.Uint64(head) != 0
		switch {
		case broken && ext == valuesSuffix:
			f.others = append(f.others, name) // there are no values in it
		case broken:
			f.damage(name, "it does not begin as the log of a memtable does")
		case ext == memtableSuffix:
			f.logs++
			f.format.memtable = max(f.format.memtable, info.Size()/2) // Badger ends the process if it is less
			if !sound {
				f.format.memtable = max(f.format.memtable, info.Size()) // which suffices
			}
		}
	}
	return nil
}

// Files of Badger's that never have data here.
const (
	keysName    = badger.KeyRegistryFileName
	discardName = "DISCARD"
)

// examineTables opens each table, and checks that the tables of a level do not overlap: then they are all of this
// folder. Badger fails otherwise.
func (f *folder) examineTables() error {
	type bounds struct {
		name              string
		smallest, biggest []byte
	}
	levels := map[uint8][]bounds{}
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		b := bounds{name: table.IDToFilename(id)}
		var err error
		b.smallest, b.biggest, err = checkTable(filepath.Join(f.dir, b.name), onlyIndex)
		if d, is := damageOf(err); is {
			f.damages = append(f.damages, d)
		} else if err != nil {
			return err
		} else if level := f.tables[id].Level; level > 0 {
			levels[level] = append(levels[level], b)
		}
	}
	for _, all := range levels {
		slices.SortFunc(all, func(a, b bounds) int { return y.CompareKeys(a.smallest, b.smallest) })
		for i := 1; i < len(all); i++ {
			if y.CompareKeys(all[i].smallest, all[i-1].biggest) <= 0 {
				f.damage(all[i].name, "its keys overlap those of "+all[i-1].name+": it may be of another folder")
			}
		}
	}
	return nil
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
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return nil // which is noted
	}
	m, end, err := badger.ReplayManifestFile(file, 0, badger.DefaultOptions(f.dir).WithLogger(nil))
	if err != nil {
		f.damage(badger.ManifestFilename, "it is not a list of tables: "+err.Error())
		return nil
	}
	f.tables, f.torn = m.Tables, end < info.Size()
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

// quickBytes is the size up to which all blocks of all tables are examined before a folder is opened. Larger folders
// are scrubbed when they are open.
const quickBytes = 64 << 20

// QuickExamine returns the damage that can be found in a moment.
func QuickExamine(dir string) (exists bool, _ []files.Damage, err error) {
	f, err := examineFolder(dir)
	if err != nil {
		return false, nil, err
	}
	var size int64
	for id := range f.tables {
		if info, err := os.Stat(table.NewFilename(id, dir)); err == nil {
			size += info.Size()
		}
	}
	if size <= quickBytes {
		err = f.examine(allBlocks, func(string, int, int) {})
	}
	return !f.isNew, f.damages, err
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
	if err == nil && o.Repair && !f.isNew {
		if f.torn {
			f.damage(badger.ManifestFilename, "its end cannot be read") // after a power cut it need not
		}
		err = f.examine(everything, func(string, int, int) {})
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
	if e.unsure {
		if err := e.forgetFlushes(e.flushed); err != nil {
			return err
		}
	}
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
