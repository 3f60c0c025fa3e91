package badger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// ahead takes blocks of the disk for the logs before Badger writes to them, so that a full disk, or one that cannot
// be written to, is an error and not the end of the process.
//
// Badger begins the next memtable's log when the memtable is full. It accepts an existing file if it is empty. So
// an empty file with blocks always waits for it. Badger cannot go on if it cannot open that file, so opening is
// tried before.
type ahead struct {
	dir      string
	log      aheadFile // the newest memtable's log
	next     aheadFile // the one after it
	written  int64     // since the last reserve
	values   aheadFile // the newest value log
	memtable int64     // how much memory a memtable has
	used     int64     // how much of it is used at most
	recent   int64     // how much of that came since it was looked whether there is another
	emptied  bool      // there is another, and follow does not know it yet
	begun    func()    // is told that Badger has begun the next log
}

// aheadFile is a log whose blocks are taken.
type aheadFile struct {
	f      *os.File
	number uint32
	end    int64 // up to where it is written at most
	taken  int64 // up to where it has blocks
}

const (
	// aheadStep is how many bytes are taken at once at least.
	aheadStep = 1 << 20

	// nodeSize is what an entry of a memtable takes beside its key and value at most.
	nodeSize = 150

	// aheadSlack is more than the cleaning of the value log adds to a memtable's log.
	aheadSlack = 64 << 10
)

// newAhead starts with the logs that Badger had when it was opened.
func newAhead(dir string, seen check.FilesSeen, memtable int64, begun func()) (*ahead, error) {
	a := &ahead{
		dir: dir, memtable: memtable, begun: begun,
		log: aheadFile{number: seen.Log, end: check.LogStart}, values: aheadFile{number: seen.ValueLog, end: check.LogStart},
	}
	var err error
	if a.log.f, err = os.OpenFile(filepath.Join(dir, check.LogName(seen.Log)), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	return a, nil
}

// reserve takes blocks for a commit of size bytes and for commits after it, up to roomStep. large says that the
// commit has values for the value log.
func (a *ahead) reserve(size int64, large bool) error {
	if a == nil {
		return nil
	}
	if err := a.follow(); err != nil {
		return err
	}
	need := size + roomStep + aheadSlack
	if err := a.log.take(need); err != nil {
		return err
	}
	if err := a.prepareNext(need + a.written); err != nil {
		return err
	}
	if large {
		if err := a.reserveValues(size); err != nil {
			return err
		}
	}
	a.written = size + roomStep
	return nil
}

// mayBegin makes sure that Badger can begin the next log, if a commit may fill the memtable.
func (a *ahead) mayBegin(size int64, entries int) error {
	if a == nil {
		return nil
	}
	size += int64(entries * nodeSize)
	if a.used+size >= a.memtable && !a.emptied && a.hasBegun() {
		a.used, a.emptied = a.recent, true
	}
	if a.used+size >= a.memtable {
		f, err := os.Open(a.dir)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		a.recent = 0
	}
	a.used += size
	a.recent += size
	return nil
}

// hasBegun reports whether Badger has begun the next log.
func (a *ahead) hasBegun() bool {
	info, err := os.Lstat(filepath.Join(a.dir, check.LogName(a.log.number+1)))
	return err == nil && info.Size() > 0
}

// follow goes on with the next log, if Badger has begun it.
func (a *ahead) follow() error {
	if !a.hasBegun() {
		a.log.end += a.written
		a.recent = 0
		return nil
	}
	if !a.emptied {
		a.used = a.recent
	}
	err := a.log.f.Close()
	a.log, a.next, a.emptied, a.recent = a.next, aheadFile{}, false, 0
	a.log.end = check.LogStart + a.written
	a.begun()
	return err
}

// prepareNext makes the log after the newest one.
func (a *ahead) prepareNext(need int64) (err error) {
	if a.next.f == nil {
		a.next = aheadFile{number: a.log.number + 1, end: check.LogStart}
		path := filepath.Join(a.dir, check.LogName(a.next.number))
		if a.next.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	return a.next.take(need)
}

// reserveValues takes blocks of the newest value log.
func (a *ahead) reserveValues(size int64) error {
	for {
		f, err := os.OpenFile(filepath.Join(a.dir, check.ValueLogName(a.values.number+1)), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		if a.values.f != nil {
			err = a.values.f.Close()
		}
		a.values = aheadFile{f: f, number: a.values.number + 1, end: check.LogStart}
		if err != nil {
			return err
		}
	}
	if a.values.f == nil {
		var err error
		path := filepath.Join(a.dir, check.ValueLogName(a.values.number))
		if a.values.f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
			return err
		}
	}
	a.values.end = check.EndOfEntries(a.values.f, a.values.end)
	return a.values.take(size + aheadSlack)
}

// take takes size bytes of blocks behind what is written.
func (f *aheadFile) take(size int64) error {
	if f.end+size <= f.taken {
		return nil
	}
	from, to := max(f.taken, 0), f.end+size+aheadStep
	err := files.TakeBlocks(f.f, from, to-from)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		err = nil // there is only the reserve
	}
	if err != nil {
		return &os.PathError{Op: "take blocks for", Path: f.f.Name(), Err: err}
	}
	f.taken = to
	return nil
}

// close closes the files, and removes the log that was not begun. Badger is closed already.
func (a *ahead) close() error {
	if a == nil {
		return nil
	}
	err := a.log.f.Close()
	if a.values.f != nil {
		err = errors.Join(err, a.values.f.Close())
	}
	if a.next.f == nil {
		return err
	}
	info, statErr := a.next.f.Stat()
	err = errors.Join(err, statErr, a.next.f.Close())
	if statErr == nil && info.Size() == 0 {
		if removed := os.Remove(a.next.f.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}
