package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// Examination is what was found in a folder that is not open. Nothing of the folder is changed until Recover or
// Repair.
type Examination struct {
	dir          string
	damages      []files.Damage
	Beside       []files.Damage // of the commit log, which is examined elsewhere
	Told         []string       // warnings for the server's log when the folder is opened
	list         *manifest
	record       *Record // nil: FILES is not there
	counted      bool    // COMMITS is there
	last, synced uint64  // the numbers in COMMITS
	repaired     bool    // commits and values may be missing
	tables       map[uint64]tableState
	logs         []*logState
	values       []*valueLogState
	empty        []string // logs without a byte: the process ended while it made them
	cut          *logCut  // nil: logs end where there is nothing more
	Unchecked    []string // tables and value logs that the engine has to check
	left         int64    // how many bytes may still be checked
}

// logCut is a place where the logs end though there is more behind it.
type logCut struct {
	log *logState
	at  int64
}

// notThere is what is wrong with a missing file.
const notThere = "it is not there"

// checkedAtOpen is how many bytes of tables and value logs are checked before the engine opens. The engine checks
// the rest while it works.
const checkedAtOpen = 64 << 20

// Examine looks at all files of a folder. repaired says that commits and values may be missing.
func Examine(dir string, repaired bool) (*Examination, error) {
	x := &Examination{dir: dir, tables: map[uint64]tableState{}, left: checkedAtOpen, repaired: repaired}
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

// found notes a damaged file. It returns errors of other kinds.
func (x *Examination) found(name string, err error) error {
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

func (x *Examination) damage(name, format string, args ...any) {
	x.damages = append(x.damages, files.Damage{Name: name, What: fmt.Sprintf(format, args...)})
}

func (x *Examination) tell(format string, args ...any) {
	x.Told = append(x.Told, fmt.Sprintf(format, args...))
}

// Refusal is an error that names all damaged files, or nil.
func (x *Examination) Refusal() error {
	var all []string
	for _, d := range slices.Concat(x.damages, x.Beside) {
		all = append(all, fmt.Sprintf("%s: %s", filepath.Join(x.dir, d.Name), d.What))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(all, "; "))
}

// Damages are what is wrong with the files that Repair repairs.
func (x *Examination) Damages() []files.Damage { return x.damages }

// OwnDamage reports whether a file is damaged that Repair repairs.
func (x *Examination) OwnDamage() bool { return len(x.damages) > 0 }

// CommitLog reports whether the record says that the folder has a commit log.
func (x *Examination) CommitLog() bool { return x.record != nil && x.record.commitLog }

// Memtable is the size of the memtables that the logs of the folder fit in; 0: there is nothing in them. earlier is
// that of an earlier version, which did not note it.
func (x *Examination) Memtable(earlier int64) int64 {
	if !slices.ContainsFunc(x.logs, func(l *logState) bool { return l.entries > 0 }) {
		return 0
	}
	if x.record != nil && x.record.memtable > 0 {
		return x.record.memtable
	}
	return earlier
}

// has reports whether a file is damaged.
func (x *Examination) has(name string) bool {
	return slices.ContainsFunc(x.damages, func(d files.Damage) bool { return d.Name == name })
}

// readOwn reads FILES and COMMITS.
func (x *Examination) readOwn() (err error) {
	x.record, err = readRecord(x.dir)
	if err = x.found(RecordName, err); err != nil {
		return err
	}
	x.repaired = x.repaired || x.record != nil && x.record.gaps
	x.last, x.synced, err = readCommits(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	x.counted = err == nil
	return x.found(CommitsName, err)
}

// readList reads the list of tables and compares it with the record.
func (x *Examination) readList(names []string) (err error) {
	x.list, err = readManifest(x.dir)
	empty := (x.record == nil || x.record.list == 0) && !x.counted && !slices.ContainsFunc(names, isBadgers)
	if errors.Is(err, fs.ErrNotExist) && empty {
		return nil // there was nothing yet
	}
	if x.record == nil && !x.has(RecordName) {
		x.tell("the folder has no file %s, as an earlier version leaves it: files that are missing cannot all be told",
			RecordName)
	}
	if x.record != nil && !x.record.closed && !x.counted && !x.has(CommitsName) && x.record.list > 0 {
		x.tell("the file %s is not there: commits that are missing cannot all be told", CommitsName)
	}
	if err := x.found(badger.ManifestFilename, err); err != nil || x.has(badger.ManifestFilename) {
		return err
	}
	r := x.record
	if r == nil {
		return nil
	}
	whole := x.list.length() >= r.list && files.Checksum(x.list.content[:r.list]) == r.listSum
	switch {
	case r.closed && whole && x.list.length() > r.list:
		x.damage(RecordName, "it is older than %s", badger.ManifestFilename)
		x.record = nil
	case r.closed && (x.list.torn || x.list.length() != r.list), !whole && !x.list.rewritten(r.list):
		x.damage(badger.ManifestFilename, "it is not the list of tables that %s tells of", RecordName)
	case !whole:
		r.from = 0
	case x.list.torn:
		x.tell("the file %s ends in a record that was not written to its end", badger.ManifestFilename)
	}
	return nil
}

// isBadgers reports whether a file is made by Badger, after the list of tables.
func isBadgers(name string) bool {
	switch filepath.Ext(name) {
	case MemtableLog, ValueLog, TableFile:
		return true
	}
	return name == registryFile || name == DiscardFile
}

// checkListed checks the tables of the list, the newest first.
func (x *Examination) checkListed() error {
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
				x.damage(name, "it is not the table that %s tells of", RecordName)
			}
		}
		if x.left <= 0 {
			x.Unchecked = append(x.Unchecked, path)
		}
		x.left -= s.size
	}
	return nil
}

// checkUnlisted looks at tables that are not on the list and never were. Such a table was about to be put on the
// list if its commits are still in logs or in older tables. Otherwise the list is an old one, or has lost its end.
func (x *Examination) checkUnlisted(names []string) error {
	if x.has(badger.ManifestFilename) {
		return nil
	}
	listed := uint64(0)
	for _, s := range x.tables {
		listed = max(listed, s.last)
	}
	isMissing := func(d files.Damage) bool {
		ext := filepath.Ext(d.Name)
		return d.What == notThere && (ext == TableFile || ext == MemtableLog)
	}
	lacking := slices.ContainsFunc(x.damages, isMissing)
	for _, name := range names {
		id, ok := table.ParseFileID(name)
		if _, onList := x.list.tables[id]; !ok || onList || x.list.removed[id] {
			continue
		}
		s, err := checkTable(filepath.Join(x.dir, name), false, 0)
		inLogs := slices.ContainsFunc(x.logs, func(l *logState) bool { return l.first <= s.last && s.last <= l.last })
		// Behind a commit log nothing is lost that was not synced here: the log has it still.
		logged := x.CommitLog() && x.counted && s.last > x.synced
		if err == nil && (lacking || s.last > listed && !inLogs && !logged) {
			x.damages = slices.DeleteFunc(x.damages, isMissing) // that is why
			x.damage(badger.ManifestFilename, "it does not have the table %s, and its commits up to %d are nowhere else",
				name, s.last)
			return nil
		}
	}
	return nil
}

// checkOthers checks the files that have no data.
func (x *Examination) checkOthers() error {
	if err := x.checkOther(registryFile, checkRegistry); err != nil {
		return err
	}
	return x.checkOther(DiscardFile, checkDiscard)
}

// checkOther checks a file that Badger makes anew when it is missing.
func (x *Examination) checkOther(name string, check func(path string) error) error {
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
			return errors.Join(err, x.found(name, damaged(path, "it is not the file that %s tells of", RecordName)))
		}
	}
	return nil
}
