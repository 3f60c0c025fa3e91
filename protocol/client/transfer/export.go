package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// Server is an address and credentials.
type Server struct {
	Addr               string
	Username, Password string
	TLS                *tls.Config   // nil: the connection is not encrypted
	Timeout            time.Duration // for the connection and for each answer
}

func (s *Server) dial(ctx context.Context) (*client.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return client.Dial(ctx, s.Addr, client.Options{Username: s.Username, Password: s.Password, TLS: s.TLS})
}

// Progress is the progress of a copy.
type Progress struct {
	Table      string
	Rows       int64   // of all tables
	Files, All int     // finished and total
	Skipped    int     // files finished earlier
	Share      float64 // estimated share of the work done, from 0 to 1

	Notes string // files with records of earlier imports
}

// Export copies tables into a folder.
type Export struct {
	Server
	Keyspace, Table string // empty: all of them
	Dir             string
	Format          string // one of Formats
	Times           bool   // WRITETIME and TTL too
	Parts           int    // of the token ring, for each table
	Jobs            int    // that run at the same time
	Progress        func(Progress)
}

// manifest has the parameters of an export.
type manifest struct {
	Version int      `json:"version"`
	Format  string   `json:"format"`
	Times   bool     `json:"times"`
	Parts   int      `json:"parts"`
	Tables  []string `json:"tables"`
}

// The files of an export besides the files of tables.
const (
	manifestFile = "export.json"
	schemaFile   = "schema.cql"
	unfinished   = ".unfinished"
)

// counter sums up the progress of concurrent goroutines.
type counter struct {
	mu    sync.Mutex
	now   Progress
	work  float64 // of all files
	done  float64
	parts map[string]float64 // done shares of files, by name
	fn    func(Progress)
}

// newCounter returns a counter for files weighted by their work.
func newCounter(fn func(Progress), files []exportFile) *counter {
	c := &counter{fn: fn, parts: map[string]float64{}}
	c.now.All = len(files)
	for _, f := range files {
		c.work += f.weight
	}
	return c
}

// add counts rows of a file, of which a share is done, from 0 to 1.
func (c *counter) add(f exportFile, rows int64, share float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Table = f.table.fullName()
	c.now.Rows += rows
	c.done += f.weight * (share - c.parts[f.name])
	c.parts[f.name] = share
	if share == 1 {
		c.now.Files++
	}
	c.now.Share = min(c.done/c.work, 1) // sums are not exact
	c.fn(c.now)
}

// skip counts a file that was done before.
func (c *counter) skip(f exportFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += f.weight
	c.now.Files++
	c.now.Skipped++
}

// Run exports and returns the progress. It keeps files that an earlier run has exported into the same folder.
func (e *Export) Run(ctx context.Context) (Progress, error) {
	conn, err := e.dial(ctx)
	if err != nil {
		return Progress{}, err
	}
	defer conn.Close()
	foreign, err := foreignPartitioner(ctx, conn)
	if err == nil && foreign != "" {
		err = fmt.Errorf("an export needs the Murmur3Partitioner, and the server has the %s", foreign)
	}
	if err != nil {
		return Progress{}, err
	}
	names, schema, err := e.tables(ctx, conn)
	if err != nil {
		return Progress{}, err
	}
	if err := os.MkdirAll(e.Dir, 0o700); err != nil {
		return Progress{}, err
	}
	var files []exportFile
	m := manifest{Version: 1, Format: e.Format, Times: e.Times, Parts: e.Parts}
	for _, n := range names {
		t, err := readTable(ctx, conn, n[0], n[1])
		if err != nil {
			return Progress{}, err
		}
		if err := e.checkNames(t); err != nil {
			return Progress{}, err
		}
		m.Tables = append(m.Tables, t.fullName())
		for part := range e.Parts {
			files = append(files, exportFile{t, part, fileName(t.fullName(), part, e.Parts, e.Format), 1})
		}
	}
	if err := writeManifest(e.Dir, &m); err != nil {
		return Progress{}, err
	}
	if err := writeWhole(filepath.Join(e.Dir, schemaFile), []byte(schema)); err != nil {
		return Progress{}, err
	}
	done := newCounter(e.Progress, files)
	missing := slices.DeleteFunc(files, func(f exportFile) bool {
		_, err := os.Stat(filepath.Join(e.Dir, f.name))
		if err == nil {
			done.skip(f)
		}
		return err == nil
	})
	err = inParallel(ctx, &e.Server, e.Jobs, missing, func(ctx context.Context, conn *client.Conn, f exportFile) error {
		if err := e.file(ctx, conn, f, filepath.Join(e.Dir, f.name), done); err != nil {
			return fmt.Errorf("export %s: %w", f.table.fullName(), err)
		}
		done.add(f, 0, 1)
		return nil
	})
	return done.now, err
}

// checkNames refuses a column that an import would take for the write times or TTLs of another one.
func (e *Export) checkNames(t *table) error {
	for _, c := range t.columns {
		if e.Format != "cql" && (strings.HasSuffix(c.name, writetimes) || strings.HasSuffix(c.name, ttls)) {
			return fmt.Errorf("%s has a column %s, which is the name of a field in %s: --format cql exports it",
				t.fullName(), c.name, e.Format)
		}
	}
	return nil
}

// exportFile is a part of a table.
type exportFile struct {
	table  *table
	part   int
	name   string
	weight float64 // work relative to other files
}

// fileName is the name of a part.
func fileName(table string, part, parts int, format string) string {
	return fmt.Sprintf("%s.%04d-of-%04d.%s", escapeName(table), part+1, parts, format)
}

// escapeName keeps separators out of names of files.
func escapeName(name string) string { return strings.NewReplacer("/", "%2F", "%", "%25").Replace(name) }

// writeManifest writes the parameters of the export, or compares them with the parameters of an earlier one.
func writeManifest(dir string, m *manifest) error {
	path := filepath.Join(dir, manifestFile)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeWhole(path, append(text, '\n'))
	case err != nil:
		return err
	case !bytes.Equal(bytes.TrimSpace(before), text):
		return fmt.Errorf("%s is of an export with other parameters", path)
	}
	return nil
}

// CreatePrivate creates a file that other users of the machine cannot read, because it gets the data of tables. A file
// that exists keeps its permissions.
func CreatePrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// writeWhole writes a file that gets its name when it is complete.
func writeWhole(path string, content []byte) error {
	f, err := CreatePrivate(path + unfinished)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+unfinished, path)
}

// systemKeyspaces come with a server.
var systemKeyspaces = []string{
	"cqld_control", "system", "system_auth", "system_distributed", "system_schema", "system_traces", "system_views",
	"system_virtual_schema",
}

// tables lists the tables to export, as keyspace and name, and describes them.
func (e *Export) tables(ctx context.Context, c *client.Conn) (names [][2]string, schema string, err error) {
	keyspaces := []string{e.Keyspace}
	if e.Keyspace == "" {
		keyspaces = nil
		err = eachRow(ctx, c, "SELECT keyspace_name FROM system_schema.keyspaces", nil, func(row [][]byte) error {
			if name := string(row[0]); !slices.Contains(systemKeyspaces, name) {
				keyspaces = append(keyspaces, name)
			}
			return nil
		})
		slices.Sort(keyspaces)
	}
	var b strings.Builder
	for _, k := range keyspaces {
		if err != nil {
			return nil, "", err
		}
		describe := "DESCRIBE KEYSPACE " + quote.Name(k)
		if e.Table != "" {
			describe = "DESCRIBE TABLE " + quote.Name(k) + "." + quote.Name(e.Table)
		}
		err = eachRow(ctx, c, describe, nil, func(row [][]byte) error {
			b.WriteString(strings.TrimRight(string(row[3]), " \n;") + ";\n\n")
			return nil
		})
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", describe, err)
		}
		query := "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?"
		err = eachRow(ctx, c, query, []types.Value{{Bytes: []byte(k)}}, func(row [][]byte) error {
			if name := string(row[0]); e.Table == "" || e.Table == name {
				names = append(names, [2]string{k, name})
			}
			return nil
		})
	}
	if err == nil && len(names) == 0 {
		err = errors.New("there is no table to export")
	}
	return names, b.String(), err
}

// selected is the list of a SELECT: the columns, then their WRITETIME and TTL.
func (e *Export) selected(t *table) string {
	var names []string
	for _, c := range t.columns {
		names = append(names, quote.Name(c.name))
	}
	for _, c := range t.columns {
		if !e.Times || !c.timed {
			continue
		}
		function := "writetime"
		if c.hasElements() {
			function = "maxwritetime"
		}
		names = append(names, function+"("+quote.Name(c.name)+")", "ttl("+quote.Name(c.name)+")")
	}
	return strings.Join(names, ", ")
}

// hasElements reports whether WRITETIME returns a list: for non-frozen collections and user types.
func (c *column) hasElements() bool {
	switch c.typ.(type) {
	case *types.List, *types.Set, *types.Map, *types.UserType:
		return !strings.HasPrefix(c.typeText, "frozen<")
	}
	return false
}

// bounds returns the token range of a part: after the first, up to the last.
func bounds(part, parts int) (after, upTo int64) {
	step := math.MaxUint64 / uint64(parts)
	at := func(i int) int64 { return int64(step*uint64(i) + 1<<63) } // from the least token on
	upTo = math.MaxInt64
	if part < parts-1 {
		upTo = at(part + 1)
	}
	return at(part), upTo
}

// file exports a part of a table.
func (e *Export) file(ctx context.Context, c *client.Conn, f exportFile, path string, done *counter) (err error) {
	t, err := f.table.typed(ctx, c)
	if err != nil {
		return err
	}
	var key []string
	for _, k := range t.columns {
		if k.kind == "partition_key" {
			key = append(key, quote.Name(k.name))
		}
	}
	operator := ">"
	if f.part == 0 {
		operator = ">="
	}
	token := "token(" + strings.Join(key, ", ") + ")"
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s %s ? AND %s <= ?", e.selected(t), t.quoted(), token, operator, token)
	p, err := c.Prepare(ctx, query, "")
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	out, err := CreatePrivate(path + unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = out.Close() // it may be closed
		}
	}()
	buffered := bufio.NewWriterSize(out, 1<<18)
	w := newRowWriter(e.Format, buffered, e.Times)
	if err := w.head(t); err != nil {
		return err
	}
	after, upTo := bounds(f.part, e.Parts)
	o := client.QueryOptions{PageSize: pageRows, Consistency: cqlerr.LocalQuorum}
	tokens := []types.Value{{Bytes: types.EncodeBigInt(after)}, {Bytes: types.EncodeBigInt(upTo)}}
	var last row
	for {
		asking, cancel := context.WithTimeout(ctx, e.Timeout)
		r, err := c.Execute(asking, p, tokens, &o)
		cancel()
		if err != nil {
			return err
		}
		for _, values := range r.Rows {
			all := t.cells(values, r, e.Times)
			if last != nil && t.samePartition(last, all) {
				t.dropStatics(all)
			}
			if err := w.row(t, all); err != nil {
				return err
			}
			last = all
		}
		if last != nil {
			token := types.Token(t.partitionKey(last))
			done.add(f, int64(len(r.Rows)), min((float64(token)-float64(after))/(float64(upTo)-float64(after)), 0.99))
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			break
		}
	}
	if err := errors.Join(buffered.Flush(), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(path+unfinished, path)
}

// cells makes a row from a result of SELECT.
func (t *table) cells(values [][]byte, r *client.Result, times bool) row {
	all := make(row, len(t.columns))
	at := len(t.columns)
	for i := range t.columns {
		all[i].value = values[i]
	}
	for i, c := range t.columns {
		if !times || !c.timed {
			continue
		}
		all[i].timestamp, all[i].timed = newest(r.Columns[at].Type, values[at])
		all[i].ttl, _ = newest(r.Columns[at+1].Type, values[at+1])
		at += 2
	}
	return all
}

// samePartition reports whether two rows have the same partition key.
func (t *table) samePartition(a, b row) bool {
	for i, c := range t.columns {
		if c.kind == "partition_key" && !bytes.Equal(a[i].value, b[i].value) {
			return false
		}
	}
	return true
}

// partitionKey is the serialized partition key of a row, for its token.
func (t *table) partitionKey(r row) []byte {
	var parts [][]byte
	for i, c := range t.columns {
		if c.kind == "partition_key" {
			parts = append(parts, r[i].value)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	var key []byte
	for _, part := range parts {
		key = types.AppendCompositeKey(key, part)
	}
	return key
}

// dropStatics removes the values of static columns from a row: the first row of its partition has them.
func (t *table) dropStatics(r row) {
	for i, c := range t.columns {
		if c.kind == "static" {
			r[i] = cell{}
		}
	}
}

// inParallel calls fn for each element, on up to jobs connections concurrently. It stops at the first error.
func inParallel[T any](
	ctx context.Context, s *Server, jobs int, all []T, fn func(context.Context, *client.Conn, T) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var workers sync.WaitGroup
	for range min(jobs, len(all)) {
		workers.Go(func() {
			conn, err := s.dial(ctx)
			if err != nil {
				cancel(err)
				return
			}
			defer conn.Close()
			for one := range work {
				if err := fn(ctx, conn, one); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	for _, one := range all {
		select {
		case work <- one:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	workers.Wait()
	return context.Cause(ctx)
}
