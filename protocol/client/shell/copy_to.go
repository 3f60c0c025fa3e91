package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// export is COPY TO.
func (j *copyJob) export(ctx context.Context, s *Session) (err error) {
	m, err := j.newMeter(s, j.file == "")
	if err != nil {
		return shown(err.Error())
	}
	out := &splitWriter{path: j.file, most: j.maxLines, out: s.console, head: j.heading()}
	if j.file == "" && j.maxLines > 0 {
		s.printError(fmt.Sprintf("WARNING: maxoutputsize %d ignored when writing to STDOUT", j.maxLines))
		out.most = -1
	}
	if err := out.open(); err != nil {
		return shownf("Can't open %s for writing: %s", pythonString(j.file), openError(j.file, err))
	}
	if j.file != "" {
		s.print("\nStarting copy of %s.%s with columns [%s].\n", j.Keyspace, j.Table, strings.Join(j.Columns, ", "))
	}
	var line []byte
	format := func(t types.Type, b []byte) string { return j.style.field(t, b) }
	err = j.Out(ctx, j.begin, j.end, format, func(fields []string) error {
		line = j.dialect.Append(line[:0], fields)
		return out.write(line)
	}, func(rows int, part float64) {
		m.part = func() float64 { return part }
		m.add(rows)
	})
	if err = errors.Join(err, out.close()); err != nil {
		return err
	}
	return m.end("exported to", out.files, "")
}

// heading is the first line of a file, or nil.
func (j *copyJob) heading() []byte {
	if !j.header {
		return nil
	}
	return j.dialect.Append(nil, j.Columns)
}

// field prints a value for COPY. Texts are as they are: the dialect escapes them.
func (s *style) field(t types.Type, b []byte) string {
	switch {
	case b == nil, len(b) == 0 && t != types.Text && t != types.ASCII && t != types.Blob:
		return s.null
	case t == types.Text || t == types.ASCII:
		return string(b)
	}
	return s.exact().cell(t, b)
}

// exact is the style for texts inside other values: without escapes.
func (s *style) exact() *style {
	own := *s
	own.rawText = true
	return &own
}

// splitWriter writes lines into a file, and into more files if it has enough.
type splitWriter struct {
	path  string
	most  int // lines of a file; negative: no limit
	out   *bufio.Writer
	head  []byte
	file  *os.File
	lines int
	files int
}

func (w *splitWriter) open() error {
	if w.path == "" {
		_, err := w.out.Write(w.head)
		return err
	}
	path := w.path
	if w.files > 0 {
		path += "." + strconv.Itoa(w.files)
	}
	f, err := transfer.CreatePrivate(path)
	if err != nil {
		return err
	}
	w.file, w.out, w.lines = f, bufio.NewWriterSize(f, 1<<18), 0
	w.files++
	if w.files == 1 {
		_, err = w.out.Write(w.head)
	}
	return err
}

func (w *splitWriter) write(line []byte) error {
	if w.most > 0 && w.lines == w.most {
		if err := errors.Join(w.close(), w.open()); err != nil {
			return err
		}
	}
	w.lines++
	_, err := w.out.Write(line)
	return err
}

func (w *splitWriter) close() error {
	if w.file == nil {
		return w.out.Flush()
	}
	return errors.Join(w.out.Flush(), w.file.Close())
}
