package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	cqljson "github.com/cqld/cqld/cql/types/json"
)

// Formats are the formats of an export.
var Formats = []string{"cql", "csv", "jsonl"}

// rowWriter writes rows of one table.
type rowWriter interface {
	head(t *table) error
	row(t *table, r row) error
}

// newRowWriter returns a writer of a format.
func newRowWriter(format string, out *bufio.Writer, times bool) rowWriter {
	switch format {
	case "cql":
		return &cqlWriter{out: out}
	case "csv":
		return &csvWriter{out: out, times: times}
	}
	return &jsonWriter{out: out}
}

// rawKey is the only key of an object with the bytes of a value.
const rawKey = "@raw"

// appendValue appends a value as JSON: as SELECT JSON prints it if that is exact, else its bytes.
func appendValue(dst []byte, t types.Type, value []byte) []byte {
	if value == nil {
		return append(dst, "null"...)
	}
	text := t.AppendJSON(nil, value)
	if back, err := parseValue(t, text); err == nil && back != nil && bytes.Equal(back, value) {
		return append(dst, text...)
	}
	return fmt.Appendf(dst, `{"%s": "%x"}`, rawKey, value)
}

// parseValue reads a value written by appendValue.
func parseValue(t types.Type, text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte(`{"`+rawKey+`": "`)) {
		var raw map[string]string
		if err := json.Unmarshal(text, &raw); err != nil {
			return nil, err
		}
		b, err := hex.DecodeString(raw[rawKey])
		return append([]byte{}, b...), err
	}
	if !json.Valid(text) {
		return nil, errors.New("no JSON")
	}
	v, err := cqljson.Decode(string(text), nil)
	if err != nil || v == nil {
		return nil, err
	}
	return t.ParseJSON(v)
}

// jsonWriter writes one object per line and row: the values by column name, and write times and TTLs under @writetime
// and @ttl.
type jsonWriter struct {
	out *bufio.Writer
	buf []byte
}

func (w *jsonWriter) head(*table) error { return nil }

func (w *jsonWriter) row(t *table, r row) error {
	b := append(w.buf[:0], '{')
	field := func(name string) {
		if b[len(b)-1] != '{' {
			b = append(b, ", "...)
		}
		key, _ := json.Marshal(name) // a string can always be
		b = append(append(b, key...), ": "...)
	}
	for i, c := range t.columns {
		if r[i].value != nil {
			field(c.name)
			b = appendValue(b, c.typ, r[i].value)
		}
	}
	times, lives := map[string]int64{}, map[string]int64{}
	for i, c := range t.columns {
		if r[i].timed {
			times[c.name] = r[i].timestamp
		}
		if r[i].ttl != 0 {
			lives[c.name] = r[i].ttl
		}
	}
	for i, numbers := range []map[string]int64{times, lives} {
		if len(numbers) > 0 {
			field([]string{writetimes, ttls}[i])
			text, err := json.Marshal(numbers)
			if err != nil {
				return err
			}
			b = append(b, text...)
		}
	}
	w.buf = append(b, "}\n"...)
	_, err := w.out.Write(w.buf)
	return err
}

// Keys for the metadata of cells. Only quoted columns can have such names.
const (
	writetimes = "@writetime"
	ttls       = "@ttl"
)

// csvWriter writes a header with the column names, and a line for each row. A null is an empty field; other values
// are written as by jsonWriter, quoted if necessary. Texts lose the quotes of JSON, unless they begin with a quote or
// a brace, or are empty.
type csvWriter struct {
	out   *bufio.Writer
	times bool
	buf   []byte
}

func (w *csvWriter) head(t *table) error {
	var names []string
	for _, c := range t.columns {
		names = append(names, csvField(c.name))
	}
	if w.times {
		for _, c := range t.columns {
			if c.timed {
				names = append(names, csvField(c.name+writetimes), csvField(c.name+ttls))
			}
		}
	}
	_, err := w.out.WriteString(strings.Join(names, ",") + "\n")
	return err
}

func csvField(text string) string {
	if strings.ContainsAny(text, "\",\n\r") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

func (w *csvWriter) row(t *table, r row) error {
	b := w.buf[:0]
	for i, c := range t.columns {
		if i > 0 {
			b = append(b, ',')
		}
		if r[i].value == nil {
			continue
		}
		text := string(appendValue(nil, c.typ, r[i].value))
		plain := string(r[i].value)
		if isText(c.typ) && plain != "" && strings.IndexByte("\"{", plain[0]) < 0 && text[0] == '"' {
			text = plain
		}
		b = append(b, csvField(text)...)
	}
	if w.times {
		for i, c := range t.columns {
			if !c.timed {
				continue
			}
			b = append(b, ',')
			if r[i].timed {
				b = strconv.AppendInt(b, r[i].timestamp, 10)
			}
			b = append(b, ',')
			if r[i].ttl != 0 {
				b = strconv.AppendInt(b, r[i].ttl, 10)
			}
		}
	}
	w.buf = append(b, '\n')
	_, err := w.out.Write(w.buf)
	return err
}

func isText(t types.Type) bool { return t == types.Text || t == types.ASCII }

// cqlWriter writes statements for any client. Cells with different timestamps or TTLs get separate statements.
// Counters are added to existing values.
type cqlWriter struct{ out *bufio.Writer }

func (w *cqlWriter) head(t *table) error { return nil }

func (w *cqlWriter) row(t *table, r row) error {
	for _, s := range writesOf(t, r) {
		if _, err := w.out.WriteString(s.literal(t) + ";\n"); err != nil {
			return err
		}
	}
	return nil
}

// literal is the statement with its values.
func (s *write) literal(t *table) string {
	var names, values []string
	for i, c := range t.columns {
		switch {
		case s.row[i].value == nil, !c.isKey() && !s.has[i]:
			continue
		case t.counter && !c.isKey():
			values = append(values, fmt.Sprintf("%s = %[1]s + %s", quote.Name(c.name), c.typ.Format(s.row[i].value)))
		case t.counter:
			names = append(names, quote.Name(c.name)+" = "+literal(c, s.row[i].value))
		default:
			names, values = append(names, quote.Name(c.name)), append(values, literal(c, s.row[i].value))
		}
	}
	if t.counter {
		return "UPDATE " + t.quoted() + " SET " + strings.Join(values, ", ") + " WHERE " + strings.Join(names, " AND ")
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)%s",
		t.quoted(), strings.Join(names, ", "), strings.Join(values, ", "), s.using())
}

// literal is a value in CQL. An empty value without a literal is converted from a blob.
func literal(c *column, value []byte) string {
	if len(value) == 0 && !isText(c.typ) && c.typ != types.Blob {
		return "blob_as_" + c.typ.String() + "(0x)"
	}
	return c.typ.Format(value)
}

// using is the USING clause, or "".
func (s *write) using() string {
	var parts []string
	if s.timed {
		parts = append(parts, fmt.Sprintf("TIMESTAMP %d", s.timestamp))
	}
	if s.ttl != 0 {
		parts = append(parts, fmt.Sprintf("TTL %d", s.ttl))
	}
	if len(parts) == 0 {
		return ""
	}
	return " USING " + strings.Join(parts, " AND ")
}

// rowReader reads rows written by a rowWriter; it returns io.EOF after the last one.
type rowReader interface{ next(t *table) (row, error) }

func newRowReader(format string, in *bufio.Reader) rowReader {
	if format == "csv" {
		return &csvReader{in: in, limit: MaxLine}
	}
	return &jsonReader{in, MaxLine}
}

type jsonReader struct {
	in    *bufio.Reader
	limit int // of a line
}

func (r *jsonReader) next(t *table) (row, error) {
	line, err := ReadLine(r.in, r.limit)
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, cmp.Or(err, io.EOF)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	var times, lives map[string]int64
	for name, into := range map[string]*map[string]int64{writetimes: &times, ttls: &lives} {
		if text, ok := fields[name]; ok {
			if err := json.Unmarshal(text, into); err != nil {
				return nil, err
			}
			delete(fields, name)
		}
	}
	all := make(row, len(t.columns))
	for i, c := range t.columns {
		text, ok := fields[c.name]
		if !ok {
			continue
		}
		delete(fields, c.name)
		if all[i].value, err = parseValue(c.typ, text); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		all[i].timestamp, all[i].timed = times[c.name]
		all[i].ttl = lives[c.name]
	}
	for name := range fields {
		return nil, fmt.Errorf("%s has no column %s", t.fullName(), name)
	}
	return all, nil
}

type csvReader struct {
	in    *bufio.Reader
	limit int // of a record
	head  []string
}

// record reads a line with its quotes. An empty field without quotes is nil.
func (r *csvReader) record() ([]string, error) {
	var fields []string
	var b strings.Builder
	quoted, read := false, false
	for length := 0; ; length++ {
		if length > r.limit {
			return nil, errLongLine
		}
		c, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && quoted {
				return nil, io.ErrUnexpectedEOF
			}
			if errors.Is(err, io.EOF) && read {
				return append(fields, b.String()), nil
			}
			return nil, err
		}
		read = true
		switch {
		case quoted && c == '"':
			if after, err := r.in.Peek(1); err == nil && after[0] == '"' {
				_, _ = r.in.ReadByte() // it was peeked at
				b.WriteByte('"')
				continue
			}
			quoted = false
		case quoted:
			b.WriteByte(c)
		case c == '"':
			quoted = true
		case c == ',':
			fields = append(fields, b.String())
			b.Reset()
		case c == '\n':
			return append(fields, b.String()), nil
		case c == '\r':
			if after, err := r.in.Peek(1); err != nil || after[0] != '\n' {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
}

func (r *csvReader) next(t *table) (row, error) {
	if r.head == nil {
		head, err := r.record()
		if err != nil {
			return nil, err
		}
		r.head = head
	}
	fields, err := r.record()
	if err != nil {
		return nil, err
	}
	if len(fields) != len(r.head) {
		return nil, fmt.Errorf("a line has %d fields, the head %d", len(fields), len(r.head))
	}
	all := make(row, len(t.columns))
	for at, name := range r.head {
		text := fields[at]
		if text == "" {
			continue
		}
		column, timed := strings.CutSuffix(name, writetimes)
		column, lives := strings.CutSuffix(column, ttls)
		i := t.place(column)
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %s", t.fullName(), name)
		}
		switch c := &all[i]; {
		case timed:
			c.timed = true
			c.timestamp, err = strconv.ParseInt(text, 10, 64)
		case lives:
			c.ttl, err = strconv.ParseInt(text, 10, 32)
		default:
			c.value, err = parseField(t.columns[i].typ, text)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
	return all, nil
}

// parseField reads a field of a CSV line.
func parseField(t types.Type, text string) ([]byte, error) {
	if isText(t) && text[0] != '"' && !strings.HasPrefix(text, `{"`+rawKey+`": "`) {
		return []byte(text), t.Validate([]byte(text))
	}
	return parseValue(t, []byte(text))
}

// place is the index of a column, or -1.
func (t *table) place(name string) int {
	return slices.IndexFunc(t.columns, func(c *column) bool { return c.name == name })
}
