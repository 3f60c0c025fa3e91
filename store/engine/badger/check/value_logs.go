package check

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cqld/cqld/store/engine/files"
)

// valueLogState is what was found in a value log.
type valueLogState struct {
	name    string
	number  uint32
	bytes   int64
	checked bool
	end     int64 // where the last whole entry ends, or the file, if it is not checked
	rest    bool  // there is more behind
	behind  int64 // where the next whole entry begins; 0: there is none
	page    bool  // a page that was not written could be why
}

// valueLog finds a value log by its number.
func (x *Examination) valueLog(number uint32) *valueLogState {
	if i := slices.IndexFunc(x.values, func(v *valueLogState) bool { return v.number == number }); i >= 0 {
		return x.values[i]
	}
	return nil
}

// readValues reads the value logs and compares them with the record. The newest is always checked, because Badger
// cuts it where it cannot be read.
func (x *Examination) readValues(names []string) error {
	all := numberedNames(names, ValueLog)
	for i, name := range slices.Backward(all) {
		newest := i+1 == len(all)
		path := filepath.Join(x.dir, name)
		s, err := checkValueLog(path, newest || x.left > 0, 0)
		if s != nil {
			x.left -= s.end
		}
		if err != nil {
			if err := x.found(name, err); err != nil {
				return err
			}
			if s == nil {
				continue
			}
		}
		if s.bytes == 0 {
			x.empty = append(x.empty, name)
			continue
		}
		x.values = append(x.values, s)
		if !s.checked {
			x.Unchecked = append(x.Unchecked, path)
		}
		if what := x.judgeValues(s, newest); what != "" && !x.has(name) {
			x.damage(name, "%s", what)
		}
	}
	return x.checkMissingValues()
}

// judgeValues says what is wrong with a value log.
func (x *Examination) judgeValues(s *valueLogState, newest bool) string {
	var v valuesRecord
	closed := false
	if x.record != nil {
		closed = x.record.closed
		if i := slices.IndexFunc(x.record.values, func(v valuesRecord) bool { return v.name == s.name }); i >= 0 {
			v = x.record.values[i]
		} else if closed {
			return "the folder was closed, and " + RecordName + " does not have it"
		}
	}
	switch {
	case s.rest && (closed || !newest || s.behind > 0 && !s.page):
		return fmt.Sprintf("it cannot be read from byte %d on", s.end)
	case s.end < v.size:
		return fmt.Sprintf("it ends at byte %d, and %s has %d", s.end, RecordName, v.size)
	case s.end > v.size && v.full && s.checked, s.bytes != v.size && closed:
		return fmt.Sprintf("it has more bytes than %s tells of", RecordName)
	}
	if s.rest {
		x.tell("the value log %s ends in a value that was not written to its end", s.name)
	}
	return ""
}

// checkMissingValues looks for value logs that only the record has. Badger itself removes logs without a value, and
// others when it cleans.
func (x *Examination) checkMissingValues() error {
	if x.record == nil || x.record.cleaning {
		return nil
	}
	for _, v := range x.record.values {
		if n, ok := NumberOf(v.name, ValueLog); ok && v.size > LogStart && x.valueLog(n) == nil && !x.has(v.name) {
			x.damage(v.name, notThere)
		}
	}
	return nil
}

// checkValueLog reads a value log, and checks its entries if check says so. After each MiB it rests, rest times as
// long as that took.
func checkValueLog(path string, check bool, rest int) (*valueLogState, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	number, _ := NumberOf(name, ValueLog)
	s := &valueLogState{name: name, number: number, bytes: info.Size(), checked: check, end: info.Size()}
	if s.bytes == 0 {
		return s, nil
	}
	var head [LogStart]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || binary.BigEndian.Uint64(head[:]) != 0 {
		s.end = min(s.end, LogStart)
		return s, damaged(path, "its first bytes are not those of a log")
	}
	if !check {
		return s, nil
	}
	l := newLogReader(f)
	for p := newPauses(rest); l.read(); {
		p.worked(l.size)
	}
	s.end = l.next
	data, err := files.DataFrom(f, s.end)
	if err != nil {
		return s, damaged(path, "%v", err)
	}
	if s.rest = len(data) > 0; s.rest {
		if at, _ := nextEntry(data, 1); at >= 0 {
			s.behind = s.end + int64(at)
			s.page = lostPage(data, s.end, s.end, s.behind)
		}
	}
	return s, nil
}
