package badger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// examination is what was found in a folder that is not open, before anything of it is changed.
//
// Badger does not look for damage: it answers that a key is not there when the block with it is damaged, leaves out
// a table that it cannot open, cuts logs where they cannot be read, and removes all tables if their list is missing.
type examination struct {
	dir          string
	damages      []damage
	told         []string // what the log of a folder that is opened is to say
	list         *manifest
	record       *record // nil: there is none
	counted      bool    // there is a file COMMITS
	last, synced uint64  // the commits that it has
	repaired     bool    // commits and values may be missing
	tables       map[uint64]tableState
	logs         []*logState
	values       []*valuesState
	empty        []string // logs without a byte, which were being made
	cut          *logCut  // nil: logs end where there is nothing more
	unchecked    []string // tables and value logs that are still to be checked
	left         int64    // how many bytes may still be checked
}

// damage is a file that is not as it must be.
type damage struct {
	name, what string
}

// logCut is where the logs end though there is more behind.
type logCut struct {
	log *logState
	at  int64
}

// notThere is what is wrong with a file that should be there.
const notThere = "it is not there"

// checkedAtOpen is how many bytes of tables and value logs are checked before the engine opens; the rest is checked while it
// works.
const checkedAtOpen = 64 << 20

// Names of Badger's files, beside those of tables and logs.
const (
	registryFile = "KEYREGISTRY" // the keys that data is encrypted with, if it is
	discardFile  = "DISCARD"     // how much of each value log is not used
)

// ErrDamaged is the kind of error that a folder with damaged files is refused with.
var ErrDamaged = errors.New("the data is damaged")

// examine looks at all files of a folder. Of one that was just repaired commits and values may be missing.
func examine(dir string, repaired bool) (*examination, error) {
	x := &examination{dir: dir, tables: map[uint64]tableState{}, left: checkedAtOpen, repaired: repaired}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	for _, step := range []func() error{
		x.readOwn,
		func() error { return x.readList(names) },
		x.checkListed,
		func() error { return x.readLogs(names) },
		func() error { return x.readValues(names) },
		x.checkLogs,
		func() error { return x.checkUnlisted(names) },
		x.checkOthers,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// found notes that a file is damaged. It returns errors of another kind.
func (x *examination) found(name string, err error) error {
	var d *damagedFile
	switch {
	case err == nil:
		return nil
	case errors.As(err, &d):
		x.damage(name, "%s", d.what)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		x.damage(name, notThere)
		return nil
	}
	return fmt.Errorf("cannot check the file %s: %w", filepath.Join(x.dir, name), err)
}

func (x *examination) damage(name, format string, args ...any) {
	x.damages = append(x.damages, damage{name, fmt.Sprintf(format, args...)})
}

func (x *examination) tell(format string, args ...any) {
	x.told = append(x.told, fmt.Sprintf(format, args...))
}

// refusal names all damaged files; it is nil if there is none.
func (x *examination) refusal() error {
	var all []string
	for _, d := range x.damages {
		all = append(all, fmt.Sprintf("%s: %s", filepath.Join(x.dir, d.name), d.what))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(all, "; "))
}

// has reports whether a file is damaged.
func (x *examination) has(name string) bool {
	return slices.ContainsFunc(x.damages, func(d damage) bool { return d.name == name })
}

// readOwn reads the files that cqld adds to Badger's.
func (x *examination) readOwn() (err error) {
	x.record, err = readRecord(x.dir)
	if err = x.found(recordName, err); err != nil {
		return err
	}
	x.repaired = x.repaired || x.record != nil && x.record.gaps
	x.last, x.synced, err = readCommits(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	x.counted = err == nil
	return x.found(commitsName, err)
}

// readList reads the list of tables and compares it with the record.
func (x *examination) readList(names []string) (err error) {
	x.list, err = readManifest(x.dir)
	if errors.Is(err, fs.ErrNotExist) && (x.record == nil || x.record.list == 0) && !x.counted && !slices.ContainsFunc(names, isBadgers) {
		return nil // there was nothing yet
	}
	if x.record == nil && !x.has(recordName) {
		x.tell("the folder has no file %s, as an earlier version leaves it: files that are missing cannot all be told", recordName)
	}
	if x.record != nil && !x.record.closed && !x.counted && !x.has(commitsName) && x.record.list > 0 {
		x.tell("the file %s is not there: commits that are missing cannot all be told", commitsName)
	}
	if err := x.found(badger.ManifestFilename, err); err != nil || x.has(badger.ManifestFilename) {
		return err
	}
	r := x.record
	if r == nil {
		return nil
	}
	whole := x.list.length() >= r.list && checksum(x.list.content[:r.list]) == r.listSum
	switch {
	case r.closed && whole && x.list.length() > r.list:
		x.damage(recordName, "it is older than %s", badger.ManifestFilename)
		x.record = nil
	case r.closed && (x.list.torn || x.list.length() != r.list), !whole && !x.list.rewritten(r.list):
		x.damage(badger.ManifestFilename, "it is not the list of tables that %s tells of", recordName)
	case !whole:
		r.from = 0
	case x.list.torn:
		x.tell("the file %s ends in a record that was not written to its end", badger.ManifestFilename)
	}
	return nil
}

// isBadgers reports whether a file is Badger's, and made after the list of tables.
func isBadgers(name string) bool {
	switch filepath.Ext(name) {
	case memtableLog, valueLog, tableFile:
		return true
	}
	return name == registryFile || name == discardFile
}

// tableFile ends the names of tables.
const tableFile = ".sst"

// checkListed checks the tables of the list, the newest first.
func (x *examination) checkListed() error {
	for _, id := range x.list.ids() {
		name := table.IDToFilename(id)
		path := filepath.Join(x.dir, name)
		s, err := checkTable(path, x.left > 0, 0)
		if err != nil {
			if x.has(badger.ManifestFilename) && errors.Is(err, fs.ErrNotExist) {
				continue // the rest of the list may say that it is gone
			}
			if err := x.found(name, err); err != nil {
				return err
			}
			continue
		}
		x.tables[id] = s
		if x.record != nil {
			if t, ok := x.record.tables[name]; ok && (t.size != s.size || t.sum != s.sum) {
				x.damage(name, "it is not the table that %s tells of", recordName)
			}
		}
		if x.left <= 0 {
			x.unchecked = append(x.unchecked, path)
		}
		x.left -= s.size
	}
	return nil
}

// checkUnlisted looks at tables that are not on the list. One of them that was never on it is of a memtable whose log
// is there, or made of tables that are: it was about to be put on the list. Otherwise the list is an old one, or lost its end.
func (x *examination) checkUnlisted(names []string) error {
	if x.has(badger.ManifestFilename) {
		return nil
	}
	listed := uint64(0)
	for _, s := range x.tables {
		listed = max(listed, s.last)
	}
	isMissing := func(d damage) bool {
		ext := filepath.Ext(d.name)
		return d.what == notThere && (ext == tableFile || ext == memtableLog)
	}
	lacking := slices.ContainsFunc(x.damages, isMissing)
	for _, name := range names {
		id, ok := table.ParseFileID(name)
		if _, onList := x.list.tables[id]; !ok || onList || x.list.removed[id] {
			continue
		}
		s, err := checkTable(filepath.Join(x.dir, name), false, 0)
		inLogs := slices.ContainsFunc(x.logs, func(l *logState) bool { return l.first <= s.last && s.last <= l.last })
		if err == nil && (lacking || s.last > listed && !inLogs) {
			x.damages = slices.DeleteFunc(x.damages, isMissing) // that is why
			x.damage(badger.ManifestFilename, "it does not have the table %s, and its commits up to %d are nowhere else", name, s.last)
			return nil
		}
	}
	return nil
}

// checkOthers checks the files that have no data.
func (x *examination) checkOthers() error {
	if err := x.checkOther(registryFile, checkRegistry); err != nil {
		return err
	}
	return x.checkOther(discardFile, checkDiscard)
}

// checkOther checks a file that Badger makes anew if it is missing.
func (x *examination) checkOther(name string, check func(path string) error) error {
	path := filepath.Join(x.dir, name)
	if x.list.length() == 0 && len(x.values) == 0 {
		return nil
	}
	err := check(path)
	if errors.Is(err, fs.ErrNotExist) {
		x.tell("the file %s is not there: it is made anew", name)
		return nil
	}
	if err != nil || x.record == nil {
		return x.found(name, err)
	}
	if want, ok := x.record.files[name]; ok {
		if got, err := sumFile(path); err != nil || got != want {
			return errors.Join(err, x.found(name, damaged(path, "it is not the file that %s tells of", recordName)))
		}
	}
	return nil
}

// numbered returns the names that end so, in the order of their numbers.
func numberedNames(names []string, ext string) (found []string) {
	for _, name := range names {
		if _, ok := numberOf(name, ext); ok {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		i, _ := numberOf(a, ext)
		j, _ := numberOf(b, ext)
		return cmp.Compare(i, j)
	})
	return found
}

// numberOf is the number in a name that ends so.
func numberOf(name, ext string) (uint32, bool) {
	text, ok := strings.CutSuffix(name, ext)
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), ok && err == nil
}
