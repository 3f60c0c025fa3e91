package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/files"
)

// initRecord is the file in a data folder that records the progress of --init: initBegun or initDone.
const (
	initRecord = "INIT"
	initBegun  = "begun\n"
	initDone   = "done\n"
)

// initStatementTimeout limits one statement of --init.
const initStatementTimeout = 5 * time.Minute

// initialisation runs the scripts of --init.
type initialisation struct {
	scripts []cqlfiles.File
	record  string // path of initRecord; "" if the data is in memory
	log     zerolog.Logger
	steps   *progress
}

// planInit reads the scripts of --init, before the data folder is opened. It returns nil if there is nothing to run:
// no script, or a data folder that has data already.
func planInit(s *settings, log zerolog.Logger) (*initialisation, error) {
	if s.init == "" {
		return nil, nil
	}
	i := &initialisation{log: log.With().Str("folder", s.init).Logger(), steps: new(progress)}
	if !s.memory {
		i.record = filepath.Join(s.data, initRecord)
		switch isNew, err := i.checkNew(s.data); {
		case err != nil:
			return nil, err
		case !isNew:
			i.log.Info().Msg("skipping the scripts of --init: the data folder is not new")
			return nil, nil
		}
	}
	if _, err := os.ReadDir(s.init); err != nil {
		return nil, fmt.Errorf("--init: %w", cannotRead(s.init, err))
	}
	scripts, skipped, err := cqlfiles.ReadFolder(os.DirFS(s.init), s.init)
	if err != nil {
		return nil, fmt.Errorf("--init: %w", err)
	}
	for _, name := range skipped {
		if !strings.HasPrefix(name, ".") {
			i.log.Warn().Str("file", name).Msg("--init skips this file: its name ends neither in .cql nor in .cql.gz")
		}
	}
	if len(scripts) == 0 {
		i.log.Info().Msg("the folder of --init has no scripts")
		return nil, nil
	}
	i.scripts = scripts
	if i.record == "" {
		return i, nil
	}
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return nil, pathError("create the folder", s.data, err)
	}
	return i, i.writeRecord(initBegun)
}

// checkNew reports whether a data folder is new. It fails if an earlier run of the scripts stopped halfway.
func (i *initialisation) checkNew(data string) (bool, error) {
	record, err := os.ReadFile(i.record)
	switch {
	case err == nil && string(record) == initDone:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("the scripts of --init stopped halfway when the data folder %s was created; "+
			"remove the folder to run them again, or the file %s to keep the data as it is", data, i.record)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("read the record of --init: %w", err)
	}
	entries, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, cannotRead(data, err)
	}
	for _, e := range entries {
		if e.Name() != "lost+found" && e.Name() != initRecord+unfinished { // made by a file system, or by an interrupted start
			return false, nil
		}
	}
	return true, nil
}

// writeRecord records the progress.
func (i *initialisation) writeRecord(text string) error {
	if err := files.ReplaceFile(i.record, []byte(text)); err != nil {
		return fmt.Errorf("write the record of --init: %w", err)
	}
	return nil
}

// prepare runs the scripts and opens the ports. If it fails, it stops the server.
func (i *initialisation) prepare(
	ctx context.Context, s *settings, srv *server.Server, onDisk *disk.Engine, l *listeners,
) error {
	err := i.runScripts(ctx, srv, onDisk, s.logins)
	if err == nil {
		err = l.resume()
	}
	if err != nil {
		stopping, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		err = errors.Join(err, srv.Shutdown(stopping))
	}
	return err
}

// runScripts runs the scripts over a connection inside the process. If clients log in, it does so as the superuser of
// a new server.
func (i *initialisation) runScripts(ctx context.Context, srv *server.Server, onDisk *disk.Engine, logins bool) error {
	name := protocol.Option{Key: protocol.OptionDriverName, Value: control.SetupDriver}
	o := client.Options{Startup: []protocol.Option{name}, Dial: func(context.Context, string) (net.Conn, error) { return srv.Connect(), nil }}
	if logins {
		o.Username, o.Password = "cassandra", "cassandra"
	}
	conn, err := client.Dial(ctx, "the server itself", o)
	if err != nil {
		return fmt.Errorf("run the scripts of --init: %w", err)
	}
	defer conn.Close()
	began := time.Now()
	defer i.steps.end()
	done, size, statements := 0, 0, 0 // done and size are bytes
	for _, script := range i.scripts {
		size += len(script.Text)
	}
	for _, script := range i.scripts {
		err := script.Run(func(text string) error {
			ctx, cancel := context.WithTimeout(ctx, initStatementTimeout)
			defer cancel()
			_, err := conn.Query(ctx, text, nil, nil)
			done, statements = done+len(text), statements+1
			i.steps.show("--init", part(int64(done), int64(size)), fmt.Sprintf("%s, %d statements, %.0f/s",
				filepath.Base(script.Name), statements, float64(statements)/max(time.Since(began).Seconds(), 1e-3)))
			return err
		})
		if err != nil {
			return err
		}
		i.log.Info().Str("file", filepath.Base(script.Name)).Msg("script run")
	}
	if onDisk != nil {
		if err := onDisk.Sync(); err != nil {
			return fmt.Errorf("run the scripts of --init: %w", err)
		}
		if err := i.writeRecord(initDone); err != nil {
			return err
		}
	}
	i.log.Info().Int("scripts", len(i.scripts)).Dur("took", time.Since(began)).Msg("initialised")
	return nil
}
