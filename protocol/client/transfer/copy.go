package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Column is a column of a table to copy, without its type.
type Column struct {
	Name    string
	Key     bool // of the primary key
	Counter bool // or a key of a table of counters
}

// ErrNoTable means that a table does not exist.
var ErrNoTable = errNoTable

// Columns lists the columns of a table: the partition key, clustering columns, then the others by name.
func Columns(ctx context.Context, c *client.Conn, keyspace, name string) (all []Column, err error) {
	t, err := readTable(ctx, c, keyspace, name)
	if err != nil {
		return nil, err
	}
	for _, k := range t.columns {
		all = append(all, Column{k.name, k.isKey(), t.counter})
	}
	slices.SortStableFunc(all, func(a, b Column) int {
		if a.Key || b.Key {
			return 0
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, nil
}

// Copy copies some columns of one table between a server and CSV.
type Copy struct {
	Server
	Keyspace, Table string
	Columns         []string
	Consistency     protocol.Consistency
	Jobs            int // connections
	Attempts        int // for a page or a row
	PageSize        int
}

func (c *Copy) list() string {
	var names []string
	for _, n := range c.Columns {
		names = append(names, quote.Name(n))
	}
	return strings.Join(names, ", ")
}

func (c *Copy) from() string { return quote.Name(c.Keyspace) + "." + quote.Name(c.Table) }

// tokenRange is a part of the ring: after the first token, up to the last.
type tokenRange struct {
	after, upTo int64
	first       bool // after belongs to it
}

// rangesPerJob is how many parts of the ring each connection reads, so that all end at about the same time.
const rangesPerJob = 8

// ranges divides the tokens after begin, up to end.
func (c *Copy) ranges(begin, end int64) (all []tokenRange) {
	parts := uint64(max(c.Jobs, 1) * rangesPerJob)
	if c.Jobs == 1 {
		parts = 1
	}
	step := (uint64(end) - uint64(begin)) / parts
	for i := range parts {
		r := tokenRange{after: int64(uint64(begin) + i*step), upTo: int64(uint64(begin) + (i+1)*step)}
		r.first = i == 0 && begin == math.MinInt64
		if i == parts-1 {
			r.upTo = end
		}
		all = append(all, r)
	}
	return all
}

// Out reads the rows whose tokens are after begin and up to end, and calls row with each; done is called after each
// page with its number of rows and the part of the ring that is finished. Both are called by one goroutine at a time.
func (c *Copy) Out(ctx context.Context, begin, end int64, format func(types.Type, []byte) string,
	row func([]string) error, done func(rows int, part float64),
) error {
	var key []string
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	t, err := readTable(ctx, conn, c.Keyspace, c.Table)
	foreign := ""
	if err == nil {
		foreign, err = foreignPartitioner(ctx, conn)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	for _, k := range t.columns {
		if k.kind == "partition_key" {
			key = append(key, quote.Name(k.name))
		}
	}
	var mu sync.Mutex
	ranges, finished := c.ranges(begin, end), 0
	if foreign != "" {
		if begin != math.MinInt64 || end != math.MaxInt64 {
			return fmt.Errorf("BEGINTOKEN and ENDTOKEN need the Murmur3Partitioner, and the server has the %s", foreign)
		}
		ranges = ranges[:1] // for the whole table
	}
	return inParallel(ctx, &c.Server, c.Jobs, ranges, func(ctx context.Context, conn *client.Conn,
		r tokenRange,
	) error {
		operator := ">"
		if r.first {
			operator = ">="
		}
		query, token := fmt.Sprintf("SELECT %s FROM %s", c.list(), c.from()), "token("+strings.Join(key, ", ")+")"
		var tokens []types.Value
		if foreign == "" {
			query += fmt.Sprintf(" WHERE %s %s ? AND %s <= ?", token, operator, token)
			tokens = []types.Value{{Bytes: types.EncodeBigInt(r.after)}, {Bytes: types.EncodeBigInt(r.upTo)}}
		}
		p, err := conn.Prepare(ctx, query, "")
		if err != nil {
			return err
		}
		o := client.QueryOptions{PageSize: int32(c.PageSize), Consistency: c.Consistency}
		for {
			page, err := c.page(ctx, conn, p, tokens, &o)
			if err != nil {
				return err
			}
			lines := make([][]string, len(page.Rows))
			for i, cells := range page.Rows {
				lines[i] = make([]string, len(cells))
				for j, cell := range cells {
					lines[i][j] = format(page.Columns[j].Type, cell)
				}
			}
			mu.Lock()
			for _, line := range lines {
				err = errors.Join(err, row(line))
			}
			if page.PagingState == nil {
				finished++
			}
			done(len(lines), float64(finished)/float64(len(ranges)))
			mu.Unlock()
			if err != nil {
				return err
			}
			if o.PagingState = page.PagingState; o.PagingState == nil {
				return nil
			}
		}
	})
}

// page reads a page, and tries again after errors of the server that may pass.
func (c *Copy) page(ctx context.Context, conn *client.Conn, p *client.Prepared, values []types.Value,
	o *client.QueryOptions,
) (*client.Result, error) {
	for attempt := 1; ; attempt++ {
		asking, cancel := context.WithTimeout(ctx, c.Timeout)
		r, err := conn.Execute(asking, p, values, o)
		cancel()
		if err == nil || attempt >= c.Attempts || !passes(err) {
			return r, err
		}
		if err := pause(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

// passes reports whether a request that failed may succeed later.
func passes(err error) bool {
	e, ok := cqlerr.As(err)
	return ok && (e.Code < cqlerr.SyntaxError && e.Code != cqlerr.ProtocolError && e.Code != cqlerr.BadCredentials)
}

// pause waits before another attempt, longer each time.
func pause(ctx context.Context, attempt int) error {
	select {
	case <-time.After(10 * time.Millisecond << min(attempt, 8)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Line is a line to import, with its fields.
type Line struct {
	Number int
	Fields []string
}

// LineError is the error of lines that were not imported.
type LineError struct {
	Err    error
	Parsed bool // it is the line's; else the server refused it
}

// lineProblem is the error of a line, with cqlsh's text.
type lineProblem string

// Error is the text.
func (p lineProblem) Error() string { return string(p) }

// linesPerBatch is how many lines a connection takes at a time.
const linesPerBatch = 200

// In writes lines. parse returns the value of a field, or nil for null. next returns io.EOF after the last line. Errors
// of lines go to failed, which ends the import by returning an error. done is called with numbers of lines that were
// written, and the number of the line up to which all are finished; the last call is at the end, after an error too.
// All but parse are called by one goroutine at a time.
func (c *Copy) In(
	ctx context.Context, ttl int, next func() (Line, error), parse func(t types.Type, name, field string) ([]byte,
		error),
	failed func(Line, LineError) error, done func(rows, upTo int),
) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	t, err := readTable(ctx, conn, c.Keyspace, c.Table)
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	var mu sync.Mutex                         // for the functions, and the next two
	read := 0                                 // the number of the last line
	unfinished := make([]int, max(c.Jobs, 1)) // the first line of each connection, or 0
	finished := func(rows int) {
		upTo := read
		for _, first := range unfinished {
			if first > 0 {
				upTo = min(upTo, first-1)
			}
		}
		done(rows, upTo)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make([]int, len(unfinished))
	for i := range jobs {
		jobs[i] = i
	}
	return inParallel(ctx, &c.Server, len(jobs), jobs, func(ctx context.Context, conn *client.Conn, job int) error {
		w := &lineWriter{of: c, conn: conn, parse: parse, waiting: map[int16]sentLine{}}
		w.failed = func(l Line, e LineError) error {
			mu.Lock()
			defer mu.Unlock()
			return failed(l, e)
		}
		var batch []Line
		w.done = func(rows int) {
			mu.Lock()
			defer mu.Unlock()
			unfinished[job] = w.oldest(batch)
			finished(rows)
		}
		defer func() { w.done(w.written) }()
		if err := w.prepare(ctx, t, ttl); err != nil {
			return err
		}
		for {
			var last error
			mu.Lock()
			for batch = make([]Line, 0, linesPerBatch); len(batch) < linesPerBatch && last == nil; {
				var l Line
				if l, last = next(); last == nil {
					batch, read = append(batch, l), l.Number
				}
			}
			if unfinished[job] == 0 && len(batch) > 0 {
				unfinished[job] = batch[0].Number
			}
			mu.Unlock()
			for len(batch) > 0 {
				if err := w.write(ctx, batch[0]); err != nil {
					_ = w.await(ctx, 0) // the answers to earlier lines say how far the import came
					return err
				}
				batch = batch[1:]
			}
			if errors.Is(last, io.EOF) {
				return w.await(ctx, 0)
			}
			if last != nil {
				return last
			}
		}
	})
}

// sentLine is a line whose answer has not come.
type sentLine struct {
	line    Line
	values  []types.Value
	attempt int
}

// lineWriter writes lines on a connection, up to maxSent at the same time.
type lineWriter struct {
	of       *Copy
	conn     *client.Conn
	prepared *client.Prepared
	types    []types.Type // of columns
	order    []int        // the column of each marker
	keys     []bool       // whether a column is of the primary key
	parse    func(t types.Type, name, field string) ([]byte, error)
	failed   func(Line, LineError) error
	done     func(int)
	waiting  map[int16]sentLine
	free     []int16
	queued   int // lines that are not sent yet
	written  int // and not yet counted by done
}

// prepare prepares the statement: an INSERT, or an UPDATE that adds to counters.
func (w *lineWriter) prepare(ctx context.Context, t *table, ttl int) error {
	var keys, sets, marks []string
	var keyOrder []int
	for i, name := range w.of.Columns {
		at := t.place(name)
		key := at >= 0 && t.columns[at].isKey()
		w.keys = append(w.keys, key)
		marks = append(marks, "?")
		if key {
			keys, keyOrder = append(keys, quote.Name(name)+" = ?"), append(keyOrder, i)
			continue
		}
		sets, w.order = append(sets, fmt.Sprintf("%s = %[1]s + ?", quote.Name(name))), append(w.order, i)
	}
	using := ""
	if ttl > 0 {
		using = fmt.Sprintf(" USING TTL %d", ttl)
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)%s", w.of.from(), w.of.list(), strings.Join(marks, ", "),
		using)
	w.order = append(w.order, keyOrder...)
	if t.counter {
		statement = fmt.Sprintf("UPDATE %s SET %s WHERE %s", w.of.from(), strings.Join(sets, ", "), strings.Join(keys,
			" AND "))
	} else {
		slices.Sort(w.order)
	}
	p, err := w.conn.Prepare(ctx, statement, "")
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	w.prepared = p
	w.types = make([]types.Type, len(w.order))
	for i, column := range p.Bind.Columns() {
		if w.types[w.order[i]] = column.Type; column.Type == types.Counter {
			w.types[w.order[i]] = types.BigInt // which has the same bytes, and literals
		}
	}
	for i := range int16(maxSent) {
		w.free = append(w.free, i)
	}
	return nil
}

// oldest is the number of the first line that has no answer or is not sent, or 0; batch are the lines that are not
// sent.
func (w *lineWriter) oldest(batch []Line) (n int) {
	if len(batch) > 0 {
		n = batch[0].Number
	}
	for _, s := range w.waiting {
		if n == 0 || s.line.Number < n {
			n = s.line.Number
		}
	}
	return n
}

// write parses a line and sends it.
func (w *lineWriter) write(ctx context.Context, l Line) error {
	values, err := w.values(l.Fields)
	if err != nil {
		return w.failed(l, LineError{Err: err, Parsed: true})
	}
	if len(w.free) == 0 {
		if err := w.await(ctx, maxSent/2); err != nil {
			return err
		}
	}
	w.send(sentLine{l, values, 1})
	if w.queued == maxSent/4 {
		return w.flush(ctx)
	}
	return nil
}

func (w *lineWriter) values(fields []string) ([]types.Value, error) {
	if len(fields) != len(w.types) {
		return nil, lineProblem(fmt.Sprintf("Invalid row length %d should be %d", len(fields), len(w.types)))
	}
	values := make([]types.Value, len(w.order))
	for i, column := range w.order {
		b, err := w.parse(w.types[column], w.of.Columns[column], fields[column])
		if err != nil {
			return nil, err
		}
		if b == nil && w.keys[column] {
			return nil, lineProblem(fmt.Sprintf("Cannot insert null value for primary key column '%s'.", w.of.Columns[column]))
		}
		values[i].Bytes = b
	}
	return values, nil
}

func (w *lineWriter) send(s sentLine) {
	stream := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	w.waiting[stream] = s
	w.queued++
	w.conn.QueueExecute(stream, w.prepared, s.values, &client.QueryOptions{Consistency: w.of.Consistency})
}

// flush sends the lines that are queued. Sending some together costs both sides fewer system calls.
func (w *lineWriter) flush(ctx context.Context) error {
	if w.queued == 0 {
		return nil
	}
	w.queued = 0
	return w.conn.Flush(ctx)
}

// await waits for answers until at most left are missing, for at most the timeout.
func (w *lineWriter) await(ctx context.Context, left int) error {
	asking, cancel := context.WithTimeout(ctx, w.of.Timeout)
	defer cancel()
	for len(w.waiting) > left {
		if err := w.receive(asking); err != nil {
			return err
		}
	}
	return nil
}

// receive takes an answer. It sends a line again that may succeed later.
func (w *lineWriter) receive(ctx context.Context) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
	stream, err := w.conn.ReceiveFrom(ctx)
	s, ok := w.waiting[stream]
	if _, fromServer := cqlerr.As(err); err != nil && (!fromServer || !ok) {
		return err
	}
	delete(w.waiting, stream)
	w.free = append(w.free, stream)
	switch {
	case err == nil:
		if w.written++; w.written == 1000 {
			w.done(w.written)
			w.written = 0
		}
		return nil
	case s.attempt < w.of.Attempts && passes(err):
		if err := pause(ctx, s.attempt); err != nil {
			return err
		}
		s.attempt++
		w.send(s)
		return nil
	}
	return w.failed(s.line, LineError{Err: err})
}
