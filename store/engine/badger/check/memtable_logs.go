package check

import (
	"path/filepath"
	"slices"

	"github.com/cqld/cqld/store/engine/files"
)

// readLogs reads the logs of memtables, the oldest first.
func (x *Examination) readLogs(names []string) error {
	for _, name := range numberedNames(names, MemtableLog) {
		s, err := examineLog(filepath.Join(x.dir, name), x.repaired)
		if err != nil {
			if s != nil {
				x.logs = append(x.logs, s)
			}
			if err := x.found(name, err); err != nil {
				return err
			}
			continue
		}
		if s.bytes == 0 {
			x.empty = append(x.empty, name)
		} else {
			x.logs = append(x.logs, s)
		}
	}
	return nil
}

// checkLogs looks whether all commits are there: the logs follow each other, those of the record that are not in
// tables exist, and they reach the last commit that was synced.
//
// The logs may end in the middle of a commit that was not acknowledged. After a power cut pages that were not
// synced may be missing while later ones are there: then all ends in front of the first missing page.
func (x *Examination) checkLogs() error {
	if x.record != nil && x.record.closed {
		for _, l := range x.logs {
			if l.entries > 0 || l.rest {
				x.damage(l.name, "the folder was closed, and %s does not have it", RecordName)
			}
		}
		return nil
	}
	x.checkMissingLogs()
	var before *logState // the last log that has commits
	for i, l := range x.logs {
		if x.has(l.name) {
			before = nil
			continue
		}
		if before != nil && l.first > 0 && l.first != before.last+1 && !x.repaired {
			if x.cutAt(before, before.end, before.last) {
				return nil
			}
			x.damage(before.name, "it ends at the commit %d, and %s begins with %d", before.last, l.name, l.first)
		}
		if l.last > 0 {
			before = l
		}
		more := slices.ContainsFunc(x.logs[i+1:], func(l *logState) bool { return l.entries > 0 })
		if l.rest && (l.behind > 0 || more) {
			if last := x.lastOf(before); (l.page || l.behind == 0) && x.cutAt(l, l.end, last) {
				return nil
			}
			x.damage(l.name, "it cannot be read from byte %d on, and there are commits behind that", l.end)
			before = nil
		}
	}
	if !x.repaired {
		x.checkValuePlaces()
	}
	x.checkEnd(before)
	return nil
}

// lastOf returns the last commit of a log, or 0.
func (x *Examination) lastOf(l *logState) uint64 {
	if l != nil {
		return l.last
	}
	return 0
}

// cutAt ends the logs at a place, if all synced commits are in front of it.
func (x *Examination) cutAt(l *logState, at int64, last uint64) bool {
	if !x.counted || last < x.synced || x.cut != nil {
		return false
	}
	x.cut = &logCut{l, at}
	x.tell("the log %s ends at the commit %d: pages behind it were not written when the power was cut, "+
		"and what else is behind it is kept in %s",
		l.name, last, files.AsideFolder)
	return true
}

// checkMissingLogs looks for logs of the record that are neither in the folder nor in tables.
func (x *Examination) checkMissingLogs() {
	if x.record == nil || x.has(RecordName) || x.list.length() == 0 {
		return
	}
	flushed := x.list.flushesFrom(x.record.from)
	for i, l := range x.record.logs {
		there := slices.Contains(x.empty, l.name) ||
			slices.ContainsFunc(x.logs, func(s *logState) bool { return s.name == l.name })
		if !there && i >= flushed && l.first <= x.last {
			x.damage(l.name, notThere)
		}
	}
}

// checkEnd compares the end of the logs with COMMITS. before is the last log with commits.
func (x *Examination) checkEnd(before *logState) {
	if len(x.damages) > 0 {
		return
	}
	var newest *logRecord // that is in no table
	if x.record != nil && len(x.record.logs) > x.list.flushesFrom(x.record.from) {
		newest = &x.record.logs[len(x.record.logs)-1]
	}
	end, name := uint64(0), ""
	switch {
	case before != nil:
		end, name = before.last, before.name
	case newest != nil && newest.first <= x.last: // there were commits, and no log has any
		end, name = newest.first-1, newest.name
	default:
		x.tellRest(0)
		return
	}
	if x.cut != nil && x.cut.at < x.cut.log.end {
		end--
	}
	if end < x.synced {
		x.damage(name, "it ends at the commit %d, and %s has %d, which was synced", end, CommitsName, x.synced)
		return
	}
	x.tellRest(end)
}

// tellRest warns of what the logs have lost.
func (x *Examination) tellRest(end uint64) {
	var last *logState
	for _, l := range x.logs {
		if l.rest {
			last = l
		}
	}
	switch {
	case end > 0 && end < x.last && last != nil && x.cut == nil:
		x.cut = &logCut{last, last.end}
		x.tell("the log %s ends at the commit %d: those up to %d, which were not synced, are lost, "+
			"and what is behind it is kept in %s",
			last.name, end, x.last, files.AsideFolder)
	case end > 0 && end < x.last:
		x.tell("the logs end at the commit %d: those up to %d, which were not synced, are lost", end, x.last)
	case last != nil:
		x.tell("the log %s ends in a commit that was not written to its end: the last whole one is %d", last.name, last.last)
	}
}

// checkValuePlaces looks whether the value logs have the values that memtables' logs point to. A value is synced
// before it is acknowledged, so only the last commit of all may lack it.
func (x *Examination) checkValuePlaces() {
	newest := uint32(0)
	for _, v := range x.values {
		newest = max(newest, v.number)
	}
	for i, l := range x.logs {
		for _, e := range l.large {
			v := x.valueLog(e.place.log)
			if v != nil && e.place.end <= v.end || v == nil && e.place.log <= newest || v != nil && x.has(v.name) {
				continue // the cleaning of a value log leaves places that nobody reads
			}
			final := e.version == l.last && !slices.ContainsFunc(x.logs[i+1:], func(l *logState) bool { return l.entries > 0 })
			if final && e.version > x.synced && x.counted && x.cut == nil {
				x.cut = &logCut{l, l.lastAt}
				x.tell("the log %s ends at the commit %d: the value of the next one was not written when the power was cut",
					l.name, e.version-1)
				return
			}
			name, what := ValueLogName(e.place.log), notThere
			if v != nil {
				what = "it does not have a value that the commits have"
			}
			if !x.has(name) {
				x.damage(name, "%s", what)
			}
		}
	}
}
