package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// readScripts reads a file of CQL, or all in a folder.
func readScripts(path string) ([]cqlfiles.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		scripts, _, err := cqlfiles.ReadFolder(os.DirFS(path), path)
		if err == nil && len(scripts) == 0 {
			err = fmt.Errorf("the folder %s has no file whose name ends in .cql or .cql.gz", path)
		}
		return scripts, err
	}
	script, err := cqlfiles.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, cannotRead(path, err)
	}
	script.Name = path
	return []cqlfiles.File{script}, nil
}

// scratch is a server in memory that only this process can reach, and that records statements.
type scratch struct {
	store  *store.Store
	server *server.Server
	record *control.Record
	conn   *client.Conn
}

// scratchKeyspace is the keyspace of scripts that name none.
const scratchKeyspace = "app"

// startScratch starts a server with an empty keyspace.
func startScratch(ctx context.Context) (*scratch, error) {
	clock := control.NewClock(nil)
	data, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil },
		System: append(server.SystemKeyspaces(), control.Keyspace()), Now: clock.Now, Log: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Options{Store: data, Log: zerolog.Nop()})
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	controls := control.New(srv, data, clock)
	controls.Register()
	s := &scratch{store: data, server: srv, record: &controls.Record}
	s.record.Start(0)
	if s.conn, err = client.Dial(ctx, "the server itself", client.Options{Dial: s.dial}); err == nil {
		err = s.runStatement(ctx, &cql.Use{Keyspace: scratchKeyspace}, "USE "+scratchKeyspace)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// dial opens a connection inside the process.
func (s *scratch) dial(context.Context, string) (net.Conn, error) { return s.server.Connect(), nil }

// close stops the server.
func (s *scratch) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.server.Shutdown(ctx) // its data is thrown away
	_ = s.store.Close()
}

// runScripts runs the statements of scripts, one after the other.
func (s *scratch) runScripts(ctx context.Context, scripts []cqlfiles.File) error {
	for _, script := range scripts {
		for _, one := range script.Statements() {
			statement, _, err := parser.Parse(one.Text)
			if err == nil {
				err = s.runStatement(ctx, statement, one.Text)
			}
			if err != nil {
				return one.Error(err)
			}
		}
	}
	return nil
}

// runStatement runs a statement, unless it is about roles, permissions or triggers. Keyspaces get one replica, since
// this server has no datacenters of theirs, and exist before a script creates them.
func (s *scratch) runStatement(ctx context.Context, statement cql.Statement, text string) error {
	keyspace := ""
	switch d := statement.(type) {
	case *cql.CreateKeyspace:
		return s.createKeyspace(ctx, d.Name)
	case *cql.Use:
		keyspace = d.Keyspace
	case *cql.CreateTable:
		keyspace = d.Table.Keyspace
	case *cql.CreateType:
		keyspace = d.Type.Keyspace
	case *cql.AlterTable, *cql.DropTable, *cql.CreateIndex, *cql.DropIndex, *cql.CreateView, *cql.AlterView, *cql.DropView,
		*cql.AlterType, *cql.DropType, *cql.DropKeyspace, *cql.CreateFunction, *cql.CreateAggregate, *cql.DropFunction,
		*cql.DropAggregate, *cql.Select, *cql.Insert, *cql.Update, *cql.Delete, *cql.Batch, *cql.Truncate:
	default:
		return nil
	}
	if keyspace != "" {
		if err := s.createKeyspace(ctx, keyspace); err != nil {
			return err
		}
	}
	_, err := s.conn.Query(ctx, strings.TrimSpace(text), nil, nil)
	if _, reads := statement.(*cql.Select); reads && err != nil && strings.Contains(err.Error(), "ALLOW FILTERING") {
		return nil // the report has it
	}
	return err
}

// createKeyspace creates a keyspace, unless it exists.
func (s *scratch) createKeyspace(ctx context.Context, name string) error {
	_, err := s.conn.Query(ctx, "CREATE KEYSPACE IF NOT EXISTS "+cql.QualifiedName{Name: name}.String()+
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", nil, nil)
	return err
}
