package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// Import copies an export into a server.
type Import struct {
	Server
	Dir      string
	NoSchema bool // the schema exists already
	Trust    bool // run all statements, and write to the tables of the server itself
	Jobs     int  // that run at the same time
	Progress func(Progress)
}

// Run imports and returns the progress. It skips files that an earlier import has finished.
func (i *Import) Run(ctx context.Context) (Progress, error) {
	m, err := readManifest(i.Dir)
	if err != nil {
		return Progress{}, err
	}
	if err := i.permitTables(m.Tables); err != nil {
		return Progress{}, err
	}
	sizes := map[string]float64{}
	for _, table := range m.Tables {
		for part := range m.Parts {
			name := fileName(table, part, m.Parts, m.Format)
			info, err := os.Stat(filepath.Join(i.Dir, name))
			if err != nil {
				return Progress{}, fmt.Errorf("the export is not whole: %w", err)
			}
			sizes[name] = float64(info.Size()) + 1
		}
	}
	conn, err := i.dial(ctx)
	if err != nil {
		return Progress{}, err
	}
	defer conn.Close()
	notes, err := openNotes(ctx, conn, i.Dir)
	if err != nil {
		return Progress{}, err
	}
	defer notes.file.Close()
	defined := notes.done[schemaFile]
	if !i.NoSchema && !defined {
		if err := i.define(ctx, conn); err != nil {
			return Progress{}, err
		}
		if err := notes.note("done", schemaFile); err != nil {
			return Progress{}, err
		}
	}
	var files []exportFile
	for _, full := range m.Tables {
		keyspace, name, _ := strings.Cut(full, ".")
		t, err := readTable(ctx, conn, keyspace, name)
		if defined && errors.Is(err, errNoTable) {
			return Progress{}, fmt.Errorf("%w, though %s says that an earlier import has made it: if it was dropped since, "+
				"remove that file, and everything is imported again", err, notes.paths())
		}
		if err != nil {
			return Progress{}, err
		}
		for part := range m.Parts {
			f := exportFile{table: t, part: part, name: fileName(full, part, m.Parts, m.Format)}
			f.weight = sizes[f.name]
			if t.counter && m.Format == "cql" && notes.begun[f.name] && !notes.done[f.name] {
				return Progress{}, fmt.Errorf("an import of %s was broken off: what it has added to counters is not known", f.name)
			}
			files = append(files, f)
		}
	}
	done := newCounter(i.Progress, files)
	done.now.Notes = notes.paths()
	left := slices.DeleteFunc(files, func(f exportFile) bool {
		if notes.done[f.name] {
			done.skip(f)
		}
		return notes.done[f.name]
	})
	err = inParallel(ctx, &i.Server, i.Jobs, left, func(ctx context.Context, conn *client.Conn, f exportFile) error {
		if err := notes.note("begun", f.name); err != nil {
			return err
		}
		if err := i.file(ctx, conn, f, m.Format, done); err != nil {
			return fmt.Errorf("import %s: %w", f.name, err)
		}
		if err := notes.note("done", f.name); err != nil {
			return err
		}
		done.add(f, 0, 1)
		return nil
	})
	return done.now, err
}

// readManifest reads the parameters of an export.
func readManifest(dir string) (m manifest, err error) {
	path := filepath.Join(dir, manifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("the folder %s has no export: there is no %s in it", dir, manifestFile)
	}
	if err != nil {
		return m, err
	}
	err = json.Unmarshal(text, &m)
	if err != nil || m.Version != 1 || m.Parts < 1 || !slices.Contains(Formats, m.Format) {
		return m, fmt.Errorf("%s is not of an export that this version knows", path)
	}
	return m, nil
}

// notes records the files that imports have begun and finished.
type notes struct {
	mu          sync.Mutex
	file        *os.File
	begun, done map[string]bool
	found       []string // files of notes that were read
	torn        bool     // the last line of the file read last is incomplete
}

// openNotes reads the notes of imports into any node of the cluster; they are named after host ids.
func openNotes(ctx context.Context, c *client.Conn, dir string) (n *notes, err error) {
	n = &notes{begun: map[string]bool{}, done: map[string]bool{}}
	own := ""
	for _, query := range []string{"SELECT host_id FROM system.peers", "SELECT host_id FROM system.local"} {
		err := eachRow(ctx, c, query, nil, func(row [][]byte) error {
			if row[0] == nil {
				return nil // a node that has not joined completely
			}
			own = filepath.Join(dir, "imported-into-"+types.UUID.Format(row[0]))
			return n.read(own)
		})
		if err != nil {
			return nil, err
		}
	}
	if n.file, err = os.OpenFile(own, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil && n.torn {
		_, err = fmt.Fprintln(n.file) // else the next note would continue the torn one
	}
	return n, err
}

// read reads the notes of a file, if it is there.
func (n *notes) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		n.found = append(n.found, path)
	}
	n.torn = false
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		if n.torn = !whole; n.torn {
			break
		}
		switch event, name, _ := strings.Cut(line, " "); event {
		case "begun":
			n.begun[name] = true
		case "done":
			n.done[name] = true
		}
	}
	return nil
}

// paths lists the files with the notes.
func (n *notes) paths() string { return strings.Join(n.found, " and ") }

func (n *notes) note(event, name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := fmt.Fprintln(n.file, event, name)
	return errors.Join(err, n.file.Sync())
}

// define runs the definitions and keeps existing objects.
func (i *Import) define(ctx context.Context, c *client.Conn) error {
	text, err := os.ReadFile(filepath.Join(i.Dir, schemaFile))
	if err != nil {
		return err
	}
	for _, s := range parser.Split(string(text)) {
		if err := i.permit(s.Text, "", isDefinition); err != nil {
			return fmt.Errorf("%s:%d: %w", schemaFile, s.Line, err)
		}
		asking, cancel := context.WithTimeout(ctx, i.Timeout)
		_, err := c.Query(asking, s.Text, nil, nil)
		cancel()
		if e, ok := cqlerr.As(err); ok && (e.Code == cqlerr.AlreadyExists || strings.Contains(e.Message, "already exists")) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", schemaFile, s.Line, err)
		}
	}
	return nil
}

// file imports a file.
func (i *Import) file(ctx context.Context, c *client.Conn, f exportFile, format string, done *counter) error {
	in, err := os.Open(filepath.Join(i.Dir, f.name))
	if err != nil {
		return err
	}
	defer in.Close()
	if format == "cql" {
		return i.statements(ctx, c, f, in, done)
	}
	w := &importer{conn: c, of: i, prepared: map[string]*client.Prepared{}}
	if w.table, err = f.table.typed(ctx, c); err != nil {
		return err
	}
	counted := &countingReader{from: in}
	r := newRowReader(format, bufio.NewReaderSize(counted, 1<<18))
	rows := int64(0)
	for {
		one, err := r.next(w.table)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.write(ctx, one)
		}
		if err != nil {
			return fmt.Errorf("row %d or one shortly before it: %w", rows+1, err)
		}
		if rows++; rows%100 == 0 {
			done.add(f, 100, min(counted.n/f.weight, 0.99))
		}
	}
	done.add(f, rows%100, 0.99)
	return w.await(ctx, 0)
}

// countingReader counts the bytes read.
type countingReader struct {
	from io.Reader
	n    float64
}

// Read reads and counts.
func (r *countingReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	r.n += float64(n)
	return n, err
}

// typed returns the table with the types of its columns.
func (t *table) typed(ctx context.Context, c *client.Conn) (*table, error) {
	var names []string
	for _, k := range t.columns {
		names = append(names, quote.Name(k.name))
	}
	p, err := c.Prepare(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t.quoted(), "")
	if err != nil {
		return nil, err
	}
	own := *t
	own.columns = nil
	for i, k := range t.columns {
		copied := *k
		if copied.typ = p.Result.Columns()[i].Type; copied.typ == types.Counter {
			copied.typ = types.BigInt // which has the same bytes, and literals
		}
		own.columns = append(own.columns, &copied)
	}
	return &own, nil
}

// statements imports a file of statements.
func (i *Import) statements(ctx context.Context, c *client.Conn, f exportFile, in io.Reader, done *counter) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	all := parser.Split(string(text))
	w := &importer{conn: c, of: i}
	for n, s := range all {
		err := i.permit(s.Text, f.table.fullName(), isWriteTo)
		if err == nil {
			err = w.await(ctx, maxSent-1)
		}
		if err == nil {
			w.sent++
			err = c.SendQuery(ctx, s.Text, nil, &client.QueryOptions{Consistency: cqlerr.LocalQuorum})
		}
		if err != nil {
			return fmt.Errorf("line %d or shortly before it: %w", s.Line, err)
		}
		if n%100 == 99 {
			done.add(f, 100, min(float64(n)/float64(len(all)), 0.99))
		}
	}
	done.add(f, int64(len(all)%100), 0.99)
	return w.await(ctx, 0)
}

// importer writes rows on a connection.
type importer struct {
	conn     *client.Conn
	of       *Import
	table    *table
	prepared map[string]*client.Prepared
	sent     int // unanswered writes
}

// maxSent is the maximal number of unanswered writes on a connection.
const maxSent = 128

// write writes a row.
func (w *importer) write(ctx context.Context, r row) error {
	if w.table.counter {
		return w.count(ctx, r)
	}
	for _, s := range writesOf(w.table, r) {
		var names, marks []string
		var values []types.Value
		for i, c := range w.table.columns {
			if s.row[i].value == nil || !c.isKey() && !s.has[i] {
				continue
			}
			names, marks = append(names, quote.Name(c.name)), append(marks, "?")
			values = append(values, types.Value{Bytes: s.row[i].value})
		}
		text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)",
			w.table.quoted(), strings.Join(names, ", "), strings.Join(marks, ", "))
		using := ""
		if s.timed {
			using = " USING TIMESTAMP ? AND TTL ?"
			timestamp, ttl := types.EncodeBigInt(s.timestamp), types.EncodeInt(int32(s.ttl))
			values = append(values, types.Value{Bytes: timestamp}, types.Value{Bytes: ttl})
		}
		if err := w.send(ctx, text+using, values); err != nil {
			return err
		}
	}
	return nil
}

// send sends a write. If maxSent writes are unanswered it waits for a response first.
func (w *importer) send(ctx context.Context, text string, values []types.Value) error {
	p, err := w.prepare(ctx, text)
	if err != nil {
		return err
	}
	if err := w.await(ctx, maxSent-1); err != nil {
		return err
	}
	w.sent++
	return w.conn.SendExecute(ctx, p, values, &client.QueryOptions{Consistency: cqlerr.LocalQuorum})
}

// receive waits for the answer to a write.
func (w *importer) receive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.of.Timeout)
	defer cancel()
	w.sent--
	return w.conn.ReceiveVoid(ctx)
}

// await waits for responses until at most left writes are unanswered.
func (w *importer) await(ctx context.Context, left int) error {
	for w.sent > left {
		if err := w.receive(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare prepares a statement when it is first run. All writes are answered before.
func (w *importer) prepare(ctx context.Context, text string) (*client.Prepared, error) {
	if p := w.prepared[text]; p != nil {
		return p, nil
	}
	if err := w.await(ctx, 0); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.of.Timeout)
	defer cancel()
	p, err := w.conn.Prepare(ctx, text, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	w.prepared[text] = p
	return p, nil
}

// count sets the counters of a row to their exported values, independent of their current values, so a row may be
// imported twice.
func (w *importer) count(ctx context.Context, r row) error {
	for _, static := range []bool{true, false} {
		var names, sets []string
		var key, wanted []types.Value
		clustered := true
		for i, c := range w.table.columns {
			value := r[i].value
			switch {
			case c.kind == "partition_key", c.kind == "clustering" && !static:
				key = append(key, types.Value{Bytes: value})
				clustered = clustered && value != nil
			case !c.isKey() && value != nil && static == (c.kind == "static"):
				names = append(names, quote.Name(c.name))
				sets = append(sets, fmt.Sprintf("%s = %[1]s + ?", quote.Name(c.name)))
				wanted = append(wanted, types.Value{Bytes: value})
			}
		}
		if len(names) == 0 || !clustered {
			continue
		}
		where := w.table.where(!static)
		query := fmt.Sprintf("SELECT %s FROM %s WHERE %s LIMIT 1", strings.Join(names, ", "), w.table.quoted(), where)
		now, err := w.execute(ctx, query, key)
		if err != nil {
			return err
		}
		for i := range wanted {
			n := integer(wanted[i].Bytes)
			if len(now.Rows) > 0 && now.Rows[0][i] != nil {
				n -= integer(now.Rows[0][i])
			}
			wanted[i].Bytes = types.EncodeBigInt(n)
		}
		update := "UPDATE " + w.table.quoted() + " SET " + strings.Join(sets, ", ") + " WHERE " + where
		if _, err := w.execute(ctx, update, append(wanted, key...)); err != nil {
			return err
		}
	}
	return nil
}

// execute runs a statement and waits for its answer.
func (w *importer) execute(ctx context.Context, text string, values []types.Value) (*client.Result, error) {
	p, err := w.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.of.Timeout)
	defer cancel()
	return w.conn.Execute(ctx, p, values, &client.QueryOptions{Consistency: cqlerr.LocalQuorum})
}
