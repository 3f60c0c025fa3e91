package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// sources opens the files of a list of patterns, one after the other.
type sources struct {
	paths []string
	bytes int64 // their length
	read  int64
}

// newSources finds the files.
func newSources(patterns string) (*sources, error) {
	s := &sources{}
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern = strings.TrimSpace(pattern)
		found, err := filepath.Glob(pattern)
		if info, failed := os.Stat(pattern); failed == nil && info.Mode().IsRegular() {
			found, err = []string{pattern}, nil
		}
		if err != nil || len(found) == 0 {
			return nil, shownf("Can't open %s for reading: no matching file found", pythonString(pattern))
		}
		s.paths = append(s.paths, found...)
	}
	for _, path := range s.paths {
		if info, err := os.Stat(path); err == nil { // opening it reports the error
			s.bytes += info.Size()
		}
	}
	return s, nil
}

// Write counts bytes that were read from the files.
func (s *sources) Write(b []byte) (int, error) {
	s.read += int64(len(b))
	return len(b), nil
}

// load is COPY FROM.
func (j *copyJob) load(ctx context.Context, s *Session) error {
	var from *sources
	var err error
	if j.file != "" {
		if from, err = newSources(j.file); err != nil {
			return err
		}
	}
	notes, err := j.openNotes(ctx, s, from)
	if err != nil {
		return err
	}
	m, err := j.newMeter(s, false)
	if err != nil {
		return shown(err.Error())
	}
	s.print("\nStarting copy of %s.%s with columns [%s].\n", j.Keyspace, j.Table, strings.Join(j.Columns, ", "))
	if from == nil {
		s.print("[Use . on a line by itself to end input]\n")
	}
	_ = s.console.Flush() // its error is returned by the next one
	in := &lineSource{job: j, from: from, typed: s.in()}
	m.part = in.part
	defer in.close()
	bad := &badLines{job: j, s: s}
	parse := func(t types.Type, _, field string) ([]byte, error) {
		if field == j.style.null {
			return nil, nil
		}
		b, err := j.style.parse(t, field)
		if err != nil && field == "" {
			return nil, nil
		}
		if err != nil {
			err = shownf("Failed to parse %s : %v", field, err)
		}
		return b, err
	}
	upTo := j.skipRows
	err = j.In(ctx, j.ttl, func() (transfer.Line, error) { return in.next(ctx) }, parse, bad.add, func(rows, to int) {
		upTo = max(upTo, to)
		notes.note(upTo)
		m.add(rows)
	})
	if err == nil || upTo > j.skipRows {
		err = errors.Join(err, notes.close(upTo, err == nil))
	}
	if failed := bad.finish(); failed != nil {
		err = errors.Join(err, failed)
	}
	if err != nil {
		if from != nil && upTo > j.skipRows {
			first := fmt.Sprintf("%d rows are finished, and some after them", upTo)
			if upTo == 1 {
				first = "row is finished, and some after it"
			}
			s.print("\nThe first %s may be; ", first)
			switch {
			case j.counter:
				s.print("those would be counted twice if they were imported again.\n")
			case j.resume:
				s.print("the same command continues.\n")
			default:
				s.print("WITH SKIPROWS = %d continues.\n", upTo)
			}
		}
		return err
	}
	return m.end("imported from", in.files, fmt.Sprintf(" (%d skipped)", j.skipRows))
}

// lineSource reads the lines of all files.
type lineSource struct {
	job    *copyJob
	from   *sources
	typed  io.Reader
	reader *transfer.LineReader
	file   *os.File
	files  int
	number int // lines read
	ended  bool
	began  time.Time
}

// next returns the next line. After the last one it returns io.EOF each time.
func (l *lineSource) next(ctx context.Context) (line transfer.Line, err error) {
	if l.ended {
		return line, io.EOF
	}
	defer func() { l.ended = err != nil }()
	for {
		if l.reader == nil {
			if err := l.open(); err != nil {
				return transfer.Line{}, err
			}
		}
		fields, err := l.reader.Next()
		if errors.Is(err, io.EOF) {
			l.close()
			if l.from == nil {
				return transfer.Line{}, io.EOF
			}
			continue
		}
		if err != nil {
			return transfer.Line{}, err
		}
		if l.from == nil && len(fields) == 1 && (fields[0] == "." || fields[0] == `\.`) {
			return transfer.Line{}, io.EOF
		}
		l.number++
		if l.job.maxRows >= 0 && l.number > l.job.maxRows {
			return transfer.Line{}, io.EOF
		}
		if l.number <= l.job.skipRows {
			continue
		}
		l.slow(ctx)
		return transfer.Line{Number: l.number, Fields: fields}, nil
	}
}

// part is the part of the files whose lines were returned; 0 if it is not known.
func (l *lineSource) part() float64 {
	if l.from == nil || l.reader == nil {
		return 0
	}
	return float64(l.from.read-int64(l.reader.Buffered())) / float64(max(l.from.bytes, 1))
}

// slow waits while lines were read faster than INGESTRATE.
func (l *lineSource) slow(ctx context.Context) {
	if l.job.rate <= 0 {
		return
	}
	if l.began.IsZero() {
		l.began = time.Now()
	}
	due := l.began.Add(time.Duration(float64(l.number) / float64(l.job.rate) * float64(time.Second)))
	if wait := time.Until(due); wait > 10*time.Millisecond {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// open opens the next file and reads its header.
func (l *lineSource) open() error {
	in := l.typed
	if l.from != nil {
		if len(l.from.paths) == 0 {
			return io.EOF
		}
		f, err := os.Open(l.from.paths[0])
		if err != nil {
			return shownf("Can't open %s for reading: %s", pythonString(l.from.paths[0]), openError(l.from.paths[0],
				err))
		}
		l.from.paths = l.from.paths[1:]
		in, l.file = io.TeeReader(f, l.from), f
		l.files++
	} else {
		l.files = 1
	}
	l.reader = transfer.NewLineReader(l.job.dialect, in)
	if !l.job.header {
		return nil
	}
	if _, err := l.reader.Next(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (l *lineSource) close() {
	if l.file != nil {
		_ = l.file.Close() // it was only read
		l.file = nil
	}
	l.reader = nil
}

// badLines writes the lines that cannot be imported into a file, and prints each kind of error once.
type badLines struct {
	job             *copyJob
	s               *Session
	file            *os.File
	parsed, refused int
	kinds           []string
	counts          map[string]int
}

// add notes a line. It fails if there are too many.
func (b *badLines) add(l transfer.Line, e transfer.LineError) error {
	if b.file == nil {
		if _, err := os.Stat(b.job.errorFile); err == nil {
			old := b.job.errorFile + time.Now().Format(".20060102_150405")
			if err := os.Rename(b.job.errorFile, old); err != nil {
				return err
			}
		}
		f, err := os.OpenFile(b.job.errorFile, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		b.file, b.counts = f, map[string]int{}
	}
	if _, err := b.file.Write(b.job.dialect.Append(nil, l.Fields)); err != nil {
		return err
	}
	kind := "ParseError - " + e.Err.Error() + ",  given up without retries"
	if e.Parsed {
		b.parsed++
	} else {
		b.refused++
		n := node{addr: b.s.o.Addr, datacenter: "None"}
		kind = strings.Replace(n.errorText(e.Err), ": ", " - ", 1) + fmt.Sprintf(",  given up after %d attempts",
			b.job.Attempts)
	}
	if b.counts[kind]++; b.counts[kind] == 1 {
		b.kinds = append(b.kinds, kind)
	}
	switch {
	case b.job.maxParseErrors >= 0 && b.parsed > b.job.maxParseErrors:
		return shownf("Exceeded maximum number of parse errors %d", b.job.maxParseErrors)
	case b.job.maxInsertError >= 0 && b.refused > b.job.maxInsertError:
		return shownf("Exceeded maximum number of insert errors %d", b.job.maxInsertError)
	}
	return nil
}

// maxErrorKinds is how many different errors of lines are printed.
const maxErrorKinds = 20

// finish prints the errors.
func (b *badLines) finish() error {
	if b.file == nil {
		return nil
	}
	for i, kind := range b.kinds {
		if i == maxErrorKinds {
			b.s.printError(fmt.Sprintf("There are %d other errors.", len(b.kinds)-i))
			break
		}
		b.s.printError(fmt.Sprintf("Failed to import %d rows: %s", b.counts[kind], kind))
	}
	b.s.printError(fmt.Sprintf("Failed to process %d rows; failed rows written to %s", b.parsed+b.refused,
		b.job.errorFile))
	return b.file.Close()
}
