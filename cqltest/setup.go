package cqltest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/server/control"
)

// Session connects a driver: it creates a keyspace that nothing else uses, has connect open a session, and closes the
// session when the test ends. It works with any driver, so that none is a dependency of this package:
//
//	session := cqltest.Session(t, srv, func(addr, keyspace string) (*gocql.Session, error) {
//		cluster := gocql.NewCluster(addr)
//		cluster.Keyspace = keyspace
//		return cluster.CreateSession()
//	})
//
// Packages gocqltest and gocqlv2test do this for the two lines of gocql.
func Session[S interface{ Close() }](t testing.TB, s *Server, connect func(addr, keyspace string) (S, error)) S {
	t.Helper()
	keyspace := s.Keyspace(t)
	session, err := connect(s.Addr(), keyspace)
	if err != nil {
		t.Fatalf("connect to %s: %v", s.Addr(), err)
	}
	t.Cleanup(session.Close)
	return session
}

// maxName is how much of a test's name the name of its keyspace has.
const maxName = 30

// Keyspace creates a keyspace with one replica and returns its name, which is made of the test's: t_orders_1.
func (s *Server) Keyspace(t testing.TB) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, strings.TrimPrefix(t.Name(), "Test"))
	name = fmt.Sprintf("t_%s_%d", name[:min(len(name), maxName)], s.keyspaces.Add(1))
	s.Exec(t, "CREATE KEYSPACE "+name+
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return name
}

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
		o.Startup = []protocol.Option{{Key: protocol.OptionDriverName, Value: control.SetupDriver}}
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
// statements, with semicolons between them. USE applies to all later calls of Exec, LoadDir and LoadFS.
//
// Exec prepares a test: faults do not apply to it, and Statements does not list it. In a ring a node that is up runs
// it, at level ONE.
func (s *Server) Exec(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := s.load(cqlfiles.File{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
}

// LoadDir runs the files of a folder whose names end in .cql or .cql.gz, schema.cql first and then in the order of
// their names, and fails the test at the first error, which has the file and the line.
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
	scripts, _, err := cqlfiles.ReadFolder(files, dir)
	if err != nil {
		return err
	}
	if len(scripts) == 0 {
		return fmt.Errorf("no file in %q ends in .cql or .cql.gz", dir)
	}
	for _, script := range scripts {
		if err := s.load(script); err != nil {
			return err
		}
	}
	return nil
}

// load runs the statements of a script.
func (s *Server) load(script cqlfiles.File) error {
	return script.Run(func(text string) error {
		ctx, cancel := context.WithTimeout(context.Background(), setupTime)
		defer cancel()
		return s.setup.use(ctx, s.upAddr(), s.setupOptions, func(c *client.Conn) error {
			_, err := c.Query(ctx, text, nil, nil)
			return err
		})
	})
}

// upAddr is the address of the first node that is up.
func (s *Server) upAddr() string {
	for _, n := range s.Nodes() {
		if state := n.State(); !state.Stopped {
			return state.Address.String()
		}
	}
	return s.Addr()
}

// isBroken reports whether an error is of a connection and not of a statement.
func isBroken(err error) bool {
	_, told := cqlerr.As(err)
	return !told
}
