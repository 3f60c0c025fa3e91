package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxLine is how long a line of a file or of the standard input may be. The longest row that a server stores fits, also
// with each of its bytes escaped.
const MaxLine = 256 << 20

var errLongLine = fmt.Errorf("it is longer than %d MiB", MaxLine>>20)

// ReadLine reads a line with its line break, or the last one without. It refuses one that is longer than limit.
func ReadLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongLine
		}
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Dialect is a form of CSV. A quote inside a field is written after Escape.
type Dialect struct{ Delimiter, Quote, Escape byte }

// Append appends a line. Fields are quoted if they have to be.
func (d Dialect) Append(dst []byte, fields []string) []byte {
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, d.Delimiter)
		}
		special := strings.IndexByte(field, d.Delimiter) >= 0 || strings.ContainsAny(field, "\n\r") ||
			d.Escape == d.Quote && strings.IndexByte(field, d.Quote) >= 0
		if special {
			dst = append(dst, d.Quote)
		}
		for j := range len(field) {
			if c := field[j]; c == d.Quote || c == d.Escape {
				dst = append(dst, d.Escape)
			}
			dst = append(dst, field[j])
		}
		if special {
			dst = append(dst, d.Quote)
		}
	}
	return append(dst, '\n')
}

// LineReader reads lines of a dialect. Quoted fields may have line breaks, and doubled quotes stand for one.
type LineReader struct {
	Dialect
	in     *bufio.Reader
	buffer []byte
	limit  int // of buffer
}

// LineBuffer is the size of a LineReader's buffer. A bufio.Reader of this size is read without another buffer, so that
// what follows the last line can still be read from it.
const LineBuffer = 1 << 18

// NewLineReader reads lines from in.
func NewLineReader(d Dialect, in io.Reader) *LineReader {
	return &LineReader{Dialect: d, in: bufio.NewReaderSize(in, LineBuffer), limit: MaxLine}
}

// Buffered is the number of bytes that were read from the input, but not yet returned.
func (r *LineReader) Buffered() int { return r.in.Buffered() }

// Next returns the fields of the next line that is not empty; it returns io.EOF after the last one.
func (r *LineReader) Next() ([]string, error) {
	for {
		fields, err := r.line()
		if err != nil || len(fields) > 1 || fields[0] != "" {
			return fields, err
		}
	}
}

func (r *LineReader) line() (fields []string, err error) {
	r.buffer = r.buffer[:0]
	var ends []int
	quoted, read := false, false
	for {
		c, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) && read {
			break
		}
		if err != nil {
			return nil, err
		}
		read = true
		switch {
		case c == r.Escape && c != r.Quote:
			if c, err = r.in.ReadByte(); err == nil {
				r.buffer = append(r.buffer, c)
			}
			continue
		case c == r.Quote && quoted:
			if next, err := r.in.Peek(1); err == nil && next[0] == r.Quote {
				_, _ = r.in.ReadByte() // it was peeked at
				r.buffer = append(r.buffer, c)
				continue
			}
			quoted = false
			continue
		case c == r.Quote && (len(r.buffer) == 0 || len(ends) > 0 && ends[len(ends)-1] == len(r.buffer)):
			quoted = true
			continue
		case quoted:
		case c == r.Delimiter:
			ends = append(ends, len(r.buffer))
			continue
		case c == '\r':
			if next, err := r.in.Peek(1); err == nil && next[0] == '\n' {
				continue
			}
		case c == '\n':
			read = false
		}
		if !read {
			break
		}
		if r.buffer = append(r.buffer, c); len(r.buffer) > r.limit {
			return nil, errLongLine
		}
	}
	text, begin := string(r.buffer), 0
	for _, end := range append(ends, len(text)) {
		fields = append(fields, text[begin:end])
		begin = end
	}
	return fields, nil
}
