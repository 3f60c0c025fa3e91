package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cqld/cqld/store/engine/files"
)

// RecordName is the file with the record.
const RecordName = "FILES"

// Record lists the files of a folder, so that a file that is missing, shorter than it was or an older one is
// noticed: Badger's files do not name each other. It is written and synced when a file appears or goes, so a folder
// that was not closed may be ahead of its record.
//
// The log of a memtable goes when the list of tables has its table. So the record has all logs since a place in the
// list, in their order. As many of them may be gone as tables were listed behind that place.
type Record struct {
	closed    bool   // nothing changes any more
	gaps      bool   // the folder was repaired: commits are missing in the logs
	cleaning  bool   // value logs may be removed
	commitLog bool   // there is a commit log beside the files; an earlier version refuses the folder then
	memtable  int64  // bytes of a memtable, if there is a commit log
	list      int64  // how long the list of tables is
	listSum   uint32 // and its checksum
	from      int64  // where in the list the tables of logs begin
	tables    map[string]tableRecord
	values    []valuesRecord
	logs      []logRecord
	files     map[string]uint32 // checksums of other files
}

// tableRecord is a table. It never changes.
type tableRecord struct {
	level int
	size  int64
	sum   uint32
}

// valuesRecord is a value log. It has size bytes if it is full, else at least so many.
type valuesRecord struct {
	name string
	size int64
	full bool
}

// logRecord is the log of a memtable. Its commits are not older than first.
type logRecord struct {
	name  string
	first uint64
}

const recordHead = "cqld files 1\n"

// encode writes the record as lines. The last line has the checksum of the others.
func (r *Record) encode() []byte {
	var b bytes.Buffer
	b.WriteString(recordHead)
	for word, set := range map[string]bool{
		"closed": r.closed, "gaps": r.gaps, "cleaning": r.cleaning, "commit-log": r.commitLog,
	} {
		if set {
			fmt.Fprintf(&b, "%s\n", word)
		}
	}
	if r.memtable > 0 {
		fmt.Fprintf(&b, "memtable %d\n", r.memtable)
	}
	fmt.Fprintf(&b, "list %d %d %d\n", r.list, r.listSum, r.from)
	for _, name := range slices.Sorted(maps.Keys(r.tables)) {
		t := r.tables[name]
		fmt.Fprintf(&b, "table %s %d %d %d\n", name, t.level, t.size, t.sum)
	}
	for _, v := range r.values {
		fmt.Fprintf(&b, "values %s %d %t\n", v.name, v.size, v.full)
	}
	for _, l := range r.logs {
		fmt.Fprintf(&b, "log %s %d\n", l.name, l.first)
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&b, "file %s %d\n", name, r.files[name])
	}
	fmt.Fprintf(&b, "sum %d\n", files.Checksum(b.Bytes()))
	return b.Bytes()
}

// decodeRecord reads what encode wrote, and reports whether it is sound.
func decodeRecord(b []byte) (*Record, bool) {
	text, sum, found := strings.Cut(string(b), "sum ")
	if !found || sum != fmt.Sprintf("%d\n", files.Checksum([]byte(text))) || !strings.HasPrefix(text, recordHead) {
		return nil, false
	}
	r := &Record{tables: map[string]tableRecord{}, files: map[string]uint32{}}
	for line := range strings.Lines(text[len(recordHead):]) {
		var name string
		var err error
		switch word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); word {
		case "closed":
			r.closed = true
		case "gaps":
			r.gaps = true
		case "cleaning":
			r.cleaning = true
		case "commit-log":
			r.commitLog = true
		case "memtable":
			_, err = fmt.Sscan(rest, &r.memtable)
		case "list":
			_, err = fmt.Sscan(rest, &r.list, &r.listSum, &r.from)
		case "table":
			var t tableRecord
			_, err = fmt.Sscan(rest, &name, &t.level, &t.size, &t.sum)
			r.tables[name] = t
		case "values":
			var v valuesRecord
			_, err = fmt.Sscan(rest, &v.name, &v.size, &v.full)
			r.values = append(r.values, v)
		case "log":
			var l logRecord
			_, err = fmt.Sscan(rest, &l.name, &l.first)
			r.logs = append(r.logs, l)
		case "file":
			var sum uint32
			_, err = fmt.Sscan(rest, &name, &sum)
			r.files[name] = sum
		default:
			return nil, false
		}
		if err != nil {
			return nil, false
		}
	}
	return r, true
}

// readRecord reads the record of a folder. It is nil if an earlier version made the folder.
func readRecord(dir string) (*Record, error) {
	path := filepath.Join(dir, RecordName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, ok := decodeRecord(b)
	if !ok {
		return nil, damaged(path, "it does not have the checksum that it was written with")
	}
	return r, nil
}

// write replaces the record of a folder.
func (r *Record) write(dir string) error {
	return files.ReplaceFile(filepath.Join(dir, RecordName), r.encode())
}

// sumFile is the checksum of a file, or of nothing if there is none.
func sumFile(path string) (uint32, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files.Checksum(b), err
}
