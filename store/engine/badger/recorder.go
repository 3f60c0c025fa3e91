package badger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// opening returns the record of a folder that is about to be opened, and writes it: from here on Badger changes files.
func (x *examination) opening() (*record, error) {
	r := &record{tables: map[string]tableRecord{}, files: map[string]uint32{}, gaps: x.repaired}
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
	return r, r.write(x.dir)
}

// setList takes over what the list of tables is.
func (r *record) setList(m *manifest) {
	r.list, r.listSum = m.length(), checksum(m.content)
}

// sum takes over the checksum of a file, if there is one.
func (r *record) sum(dir, name string) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.files[name] = checksum(b)
	return err
}

// recorder keeps the record of an open folder up to date.
type recorder struct {
	mu     sync.Mutex
	dir    string
	record *record
	seen   filesSeen
}

// filesSeen is what the record was last written for: the length of the list of tables and the newest logs.
type filesSeen struct {
	list      int64
	log, vlog uint32
}

// changed reports whether files may have appeared or gone, with few system calls: logs have numbers that follow each other, and
// when one goes the list of tables has grown.
func (r *recorder) changed() bool {
	info, err := os.Stat(filepath.Join(r.dir, badger.ManifestFilename))
	if err != nil || info.Size() != r.seen.list {
		return true
	}
	for _, name := range []string{logName(r.seen.log + 1), valueLogName(r.seen.vlog + 1)} {
		if info, err := os.Lstat(filepath.Join(r.dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// newestLogs finds the newest logs that are not empty.
func (r *recorder) newestLogs(names []string) (s filesSeen) {
	s.log, s.vlog = r.seen.log, r.seen.vlog
	for _, name := range names {
		log, isLog := numberOf(name, memtableLog)
		vlog, isValues := numberOf(name, valueLog)
		if log <= s.log && vlog <= s.vlog || !isLog && !isValues {
			continue
		}
		if info, err := os.Lstat(filepath.Join(r.dir, name)); err == nil && info.Size() > 0 {
			s.log, s.vlog = max(s.log, log), max(s.vlog, vlog)
		}
	}
	return s
}

// logName is the name of a memtable's log.
func logName(number uint32) string { return fmt.Sprintf("%05d%s", number, memtableLog) }

// refresh writes the record if the files have changed. last is the newest commit: a log that is not in the record yet was begun
// before it, or is empty.
func (r *recorder) refresh(last uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed() {
		return nil
	}
	return r.rewrite(last)
}

// clean says whether value logs may be removed now.
func (r *recorder) clean(yes bool, last uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.cleaning = yes
	return r.rewrite(last)
}

// rewrite writes the record of the files that there are. The logs are read before the list of tables: one that becomes a table
// meanwhile counts as such.
func (r *recorder) rewrite(last uint64) error {
	names, err := readNames(r.dir)
	if err != nil {
		return err
	}
	seen := r.newestLogs(names)
	list, err := readManifest(r.dir)
	if err != nil {
		return err
	}
	next := &record{cleaning: r.record.cleaning, gaps: r.record.gaps, files: r.record.files}
	next.logs = slices.Clone(r.record.logs)
	for n := r.seen.log + 1; n <= seen.log; n++ {
		next.logs = append(next.logs, logRecord{logName(n), last})
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
	r.record, r.seen = next, seen
	return nil
}

// tables takes over what tables of the list are. Those that are gone already were merged into others.
func (r *recorder) tables(list *manifest) (map[string]tableRecord, error) {
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

// values takes over the value logs. Nothing is added to one that is not the newest.
func (r *recorder) values(names []string) ([]valuesRecord, error) {
	names = numberedNames(names, valueLog)
	var values []valuesRecord
	for i, name := range names {
		v := valuesRecord{name: name, size: logStart, full: i+1 < len(names)}
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
		v.size = endOfEntries(f, v.size)
		if err := f.Close(); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// close writes the record of a folder that nothing changes any more.
func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := readManifest(r.dir)
	if err != nil {
		return err
	}
	last := &record{closed: true, files: map[string]uint32{}}
	last.setList(list)
	last.from = last.list
	if last.tables, err = r.tables(list); err != nil {
		return err
	}
	names, err := readNames(r.dir)
	if err != nil {
		return err
	}
	for _, name := range numberedNames(names, valueLog) {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil {
			return err
		}
		last.values = append(last.values, valuesRecord{name, info.Size(), true})
	}
	for _, name := range []string{registryFile, discardFile} {
		if err := last.sum(r.dir, name); err != nil {
			return err
		}
	}
	return last.write(r.dir)
}

// readNames reads the names in a folder.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

// endOfEntries goes from the end of an entry of a log over the next ones, by what their heads say, to where there are no more.
func endOfEntries(f *os.File, at int64) int64 {
	head := make([]byte, logHeader)
	for {
		n, _ := f.ReadAt(head, at)
		_, _, size := parseHead(head[:n])
		if size == 0 {
			return at
		}
		at += int64(size)
	}
}

// newRecorder goes on from the record that a folder was opened with. first is the commit that comes next.
func newRecorder(dir string, p *prepared, first uint64) (*recorder, error) {
	r := &recorder{dir: dir, record: p.record, seen: p.seen}
	return r, r.rewrite(first)
}
