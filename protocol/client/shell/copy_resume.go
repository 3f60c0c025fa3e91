package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/model"
)

// resumeNotes records in a file how many rows a COPY FROM with RESUME has finished. nil records nothing.
//
//	of the server 1b4f…, table shop.hotels, columns city, id, hotels.csv 1048576 2026-11-28T21:00:00.123Z
//	12000
type resumeNotes struct {
	path, of string
	written  time.Time
}

// noteInterval is how often the file is written.
const noteInterval = time.Second

// openNotes reads the notes of an earlier COPY of the same files into the same table, and skips the rows it finished.
func (j *copyJob) openNotes(ctx context.Context, s *Session, from *sources) (*resumeNotes, error) {
	switch {
	case !j.resume:
		return nil, nil
	case from == nil:
		return nil, shown("COPY: RESUME needs a file.")
	case j.counter:
		return nil, shown("COPY: RESUME is not possible with counters: some rows would be counted twice.")
	}
	r, err := s.all(ctx, "SELECT * FROM system.local WHERE key = 'local'")
	if err != nil {
		return nil, err
	}
	host := ""
	for row := range model.Records(r) {
		id, _ := row.Value("host_id")
		host = fmt.Sprintf("%x", id)
	}
	of := fmt.Sprintf("of the server %s, table %s.%s, columns %s", host, j.Keyspace, j.Table,
		strings.Join(j.Columns, ", "))
	for _, path := range from.paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, shownf("Can't open %s for reading: %s", pythonString(path), openError(path, err))
		}
		of += fmt.Sprintf(", %s %d %s", path, info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
	}
	n := &resumeNotes{path: fmt.Sprintf("import_%s_%s.resume", j.Keyspace, j.Table), of: of}
	text, err := os.ReadFile(n.path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return nil, shown(err.Error())
	}
	earlier, rows, _ := strings.Cut(string(text), "\n")
	done, err := strconv.Atoi(strings.TrimSpace(rows))
	if earlier != of || err != nil {
		return nil, shownf("COPY: %s is of another COPY, or a file has changed since; remove it to import all rows.", n.path)
	}
	if done > j.skipRows {
		j.skipRows = done
		first := fmt.Sprintf("first %d rows", done)
		if done == 1 {
			first = "first row"
		}
		s.print("\nContinuing after the %s, which an earlier COPY has finished.", first)
	}
	return n, nil
}

// note writes the file if it is due.
func (n *resumeNotes) note(rows int) {
	if n == nil || time.Since(n.written) < noteInterval {
		return
	}
	n.written = time.Now()
	_ = n.write(rows) // without it a later COPY repeats more rows
}

// write replaces the file, so that it is whole at any time.
func (n *resumeNotes) write(rows int) error {
	if err := os.WriteFile(n.path+".tmp", []byte(fmt.Sprintf("%s\n%d\n", n.of, rows)), 0o600); err != nil {
		return err
	}
	return os.Rename(n.path+".tmp", n.path)
}

// close writes the file a last time, or removes it after the last row.
func (n *resumeNotes) close(rows int, whole bool) error {
	switch {
	case n == nil:
		return nil
	case !whole:
		return n.write(rows)
	}
	err := os.Remove(n.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
