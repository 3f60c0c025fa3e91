package check

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// Opening writes the record of a folder that is about to be opened, because Badger changes files from here on. It
// returns the record and the newest logs. commitLog says that there is a commit log from here on, and memtable is the
// size of Badger's memtables then.
func (x *Examination) Opening(commitLog bool, memtable int64) (*Record, FilesSeen, error) {
	var seen FilesSeen
	for _, l := range x.logs {
		n, _ := NumberOf(l.name, MemtableLog)
		seen.Log = max(seen.Log, n)
	}
	for _, v := range x.values {
		seen.ValueLog = max(seen.ValueLog, v.number)
	}
	r, err := x.openingRecord()
	if err != nil {
		return nil, seen, err
	}
	if r.commitLog = commitLog; commitLog {
		r.memtable = memtable
	}
	return r, seen, r.write(x.dir)
}

// openingRecord makes the record of a folder as it is found.
func (x *Examination) openingRecord() (*Record, error) {
	r := &Record{tables: map[string]tableRecord{}, files: map[string]uint32{}, gaps: x.repaired}
	if x.repaired { // the list may have been replaced
		list, err := readManifest(x.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		x.list = list
	}
	r.setList(x.list)
	r.from = r.list
	for id, level := range x.list.tables {
		s := x.tables[id]
		r.tables[table.IDToFilename(id)] = tableRecord{level, s.size, s.sum}
	}
	for _, v := range x.values {
		r.values = append(r.values, valuesRecord{v.name, v.end, true})
	}
	slices.SortFunc(r.values, func(a, b valuesRecord) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	for _, l := range x.logs {
		if l.entries > 0 {
			r.logs = append(r.logs, logRecord{l.name, l.first})
		}
	}
	if err := r.sum(x.dir, registryFile); err != nil {
		return nil, err
	}
	return r, nil
}

// setList notes the length and the checksum of the list of tables.
func (r *Record) setList(m *manifest) {
	r.list, r.listSum = m.length(), files.Checksum(m.content)
}

// sum notes the checksum of a file, if it exists.
func (r *Record) sum(dir, name string) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.files[name] = files.Checksum(b)
	return err
}

// Recorder keeps the record of an open folder up to date.
type Recorder struct {
	mu     sync.Mutex
	dir    string
	record *Record
	Seen   FilesSeen
}

// FilesSeen is what the record was last written for: the length of the list of tables and the numbers of the newest
// logs.
type FilesSeen struct {
	list          int64
	Log, ValueLog uint32
}

// changed reports whether files may have appeared or gone. It makes few system calls: logs are numbered in their
// order, and when one goes the list of tables has grown.
func (r *Recorder) changed() bool {
	info, err := os.Stat(filepath.Join(r.dir, badger.ManifestFilename))
	if err != nil || info.Size() != r.Seen.list {
		return true
	}
	for _, name := range []string{LogName(r.Seen.Log + 1), ValueLogName(r.Seen.ValueLog + 1)} {
		if info, err := os.Lstat(filepath.Join(r.dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// newestLogs finds the newest logs that are not empty.
func (r *Recorder) newestLogs(names []string) (s FilesSeen) {
	s.Log, s.ValueLog = r.Seen.Log, r.Seen.ValueLog
	for _, name := range names {
		log, isLog := NumberOf(name, MemtableLog)
		vlog, isValues := NumberOf(name, ValueLog)
		if log <= s.Log && vlog <= s.ValueLog || !isLog && !isValues {
			continue
		}
		if info, err := os.Lstat(filepath.Join(r.dir, name)); err == nil && info.Size() > 0 {
			s.Log, s.ValueLog = max(s.Log, log), max(s.ValueLog, vlog)
		}
	}
	return s
}

// Refresh writes the record if files have appeared or gone. last is the newest commit: logs that are not in the
// record yet were begun before it or are empty.
func (r *Recorder) Refresh(last uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed() {
		return nil
	}
	return r.rewrite(last)
}

// SetCleaning notes whether Badger may remove value logs at the moment.
func (r *Recorder) SetCleaning(yes bool, last uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.cleaning = yes
	return r.rewrite(last)
}

// rewrite writes the record. It reads the logs before the list of tables, so a log that becomes a table meanwhile
// counts as a table.
func (r *Recorder) rewrite(last uint64) error {
	names, err := readNames(r.dir)
	if err != nil {
		return err
	}
	seen := r.newestLogs(names)
	list, err := readManifest(r.dir)
	if err != nil {
		return err
	}
	next := &Record{
		cleaning: r.record.cleaning, gaps: r.record.gaps, commitLog: r.record.commitLog, memtable: r.record.memtable,
		files: r.record.files,
	}
	next.logs = slices.Clone(r.record.logs)
	for n := r.Seen.Log + 1; n <= seen.Log; n++ {
		next.logs = append(next.logs, logRecord{LogName(n), last})
	}
	if list.length() < r.record.list { // Badger has replaced it
		next.logs = nil
	} else {
		next.logs = next.logs[min(list.flushesFrom(r.record.from), len(next.logs)):]
	}
	next.from = list.length()
	next.setList(list)
	if next.tables, err = r.tables(list); err != nil {
		return err
	}
	if next.values, err = r.values(names); err != nil {
		return err
	}
	if next.files[registryFile] == 0 {
		if err := next.sum(r.dir, registryFile); err != nil {
			return err
		}
	}
	if err := next.write(r.dir); err != nil {
		return err
	}
	seen.list = list.length()
	r.record, r.Seen = next, seen
	return nil
}

// tables returns the tables of the list. Badger has merged those that are gone already into others.
func (r *Recorder) tables(list *manifest) (map[string]tableRecord, error) {
	tables := map[string]tableRecord{}
	for id, level := range list.tables {
		name := table.IDToFilename(id)
		t, known := r.record.tables[name]
		if !known {
			f, err := os.Open(filepath.Join(r.dir, name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s, err := readTail(f)
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
			t = tableRecord{size: s.size, sum: s.sum}
		}
		t.level = level
		tables[name] = t
	}
	return tables, nil
}

// values returns the value logs. Only the newest still grows.
func (r *Recorder) values(names []string) ([]valuesRecord, error) {
	names = numberedNames(names, ValueLog)
	var values []valuesRecord
	for i, name := range names {
		v := valuesRecord{name: name, size: LogStart, full: i+1 < len(names)}
		if j := slices.IndexFunc(r.record.values, func(v valuesRecord) bool { return v.name == name }); j >= 0 {
			v.size = r.record.values[j].size
			if r.record.values[j].full {
				values = append(values, r.record.values[j])
				continue
			}
		}
		f, err := os.Open(filepath.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		v.size = EndOfEntries(f, v.size)
		if err := f.Close(); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Close writes the record of a folder that nothing changes any more.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := readManifest(r.dir)
	if err != nil {
		return err
	}
	last := &Record{closed: true, commitLog: r.record.commitLog, files: map[string]uint32{}}
	last.setList(list)
	last.from = last.list
	if last.tables, err = r.tables(list); err != nil {
		return err
	}
	names, err := readNames(r.dir)
	if err != nil {
		return err
	}
	for _, name := range numberedNames(names, ValueLog) {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil {
			return err
		}
		last.values = append(last.values, valuesRecord{name, info.Size(), true})
	}
	for _, name := range []string{registryFile, DiscardFile} {
		if err := last.sum(r.dir, name); err != nil {
			return err
		}
	}
	return last.write(r.dir)
}

// NewRecorder goes on from the record that a folder was opened with. first is the number of the next commit.
func NewRecorder(dir string, opened *Record, seen FilesSeen, first uint64) (*Recorder, error) {
	r := &Recorder{dir: dir, record: opened, Seen: seen}
	return r, r.rewrite(first)
}
