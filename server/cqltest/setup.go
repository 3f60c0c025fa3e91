package cqltest

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// setupName is the driver name of the connection that Exec and Load use.
const setupName = "cqltest"

// setupTime is how long one statement of Exec or Load may take.
const setupTime = time.Minute

// setupConn is the connection of Exec, which is opened when it is first needed.
type setupConn struct {
	mu   sync.Mutex
	conn *client.Conn
}

// use calls fn with the connection. A connection whose server has closed it is opened anew.
func (c *setupConn) use(ctx context.Context, addr string, o client.Options, fn func(*client.Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		o.Startup = []protocol.Option{{Key: protocol.OptionDriverName, Value: setupName}}
		conn, err := client.Dial(ctx, addr, o)
		if err != nil {
			return err
		}
		c.conn = conn
	}
	err := fn(c.conn)
	if err != nil && isBroken(err) {
		_ = c.conn.Close() // the server has closed it, or will
		c.conn = nil
	}
	return err
}

func (c *setupConn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // there is nothing left to be read from it
		c.conn = nil
	}
}

// Exec runs statements one after the other, and fails the test at the first error. Each text may have several
// statements, with semicolons between them. USE counts for what Exec and Load run from then on.
//
// What Exec runs is preparation: faults do not apply to it, and Statements does not list it.
func (s *Server) Exec(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := s.load("", text); err != nil {
			t.Fatal(err)
		}
	}
}

// LoadDir runs the files of a folder whose names end in .cql or .cql.gz, in the order of their names, and fails the
// test at the first error, which has the file and the line.
func (s *Server) LoadDir(t testing.TB, dir string) {
	t.Helper()
	if err := s.loadFS(os.DirFS(dir), dir); err != nil {
		t.Fatal(err)
	}
}

// LoadFS is LoadDir for the files of a file system, such as an embed.FS; fs.Sub gives a folder of one.
func (s *Server) LoadFS(t testing.TB, files fs.FS) {
	t.Helper()
	if err := s.loadFS(files, ""); err != nil {
		t.Fatal(err)
	}
}

// loadFS runs the files of a file system. dir is put before their names in errors.
func (s *Server) loadFS(files fs.FS, dir string) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	loaded := 0
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".cql") {
			continue
		}
		text, err := readScript(files, e.Name())
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(dir, e.Name()), err)
		}
		if err := s.load(path.Join(dir, e.Name()), text); err != nil {
			return err
		}
		loaded++
	}
	if loaded == 0 {
		return fmt.Errorf("no file in %q ends in .cql or .cql.gz", dir)
	}
	return nil
}

// readScript reads a file, which is unpacked if its name ends in .gz.
func readScript(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(in)
	return string(text), err
}

// load runs the statements of a text. name is that of the file it is from, or "".
func (s *Server) load(name, text string) error {
	for _, piece := range parser.Split(text) {
		ctx, cancel := context.WithTimeout(context.Background(), setupTime)
		err := s.setup.use(ctx, s.Addr(), s.setupOptions, func(c *client.Conn) error {
			_, err := c.Query(ctx, piece.Text+"\n", nil, nil) // the line break ends a comment
			return err
		})
		cancel()
		switch {
		case err == nil:
		case name != "":
			return fmt.Errorf("%s:%d: %w", name, piece.Line, err)
		default:
			return fmt.Errorf("%s: %w", piece.Text, err)
		}
	}
	return nil
}

// isBroken reports whether an error is of a connection and not of a statement.
func isBroken(err error) bool {
	_, told := cqlerr.As(err)
	return !told
}
