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

// initRecord is the file in a data folder that says how far --init came.
const initRecord = "INIT"

// What initRecord says.
const (
	initBegun = "begun\n"
	initDone  = "done\n"
)

// initStatementTime is how long one statement of --init may take.
const initStatementTime = 5 * time.Minute

// initialisation is what --init asks for. A nil one has nothing to do.
type initialisation struct {
	dir     string
	scripts []cqlfiles.File
	record  string // the path of initRecord; "": the data is in memory
	log     zerolog.Logger
	steps   *progress
}

// planInit reads the scripts of --init, before the data folder is opened. It returns nil if there are none, or if the
// data folder has data already.
func planInit(s *settings, log zerolog.Logger) (*initialisation, error) {
	if s.init == "" {
		return nil, nil
	}
	i := &initialisation{dir: s.init, log: log.With().Str("folder", s.init).Logger(), steps: new(progress)}
	if !s.memory {
		i.record = filepath.Join(s.data, initRecord)
		switch wanted, err := i.wanted(s.data); {
		case err != nil:
			return nil, err
		case !wanted:
			i.log.Info().Msg("the data folder is not new: the scripts of --init are not run")
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
			i.log.Warn().Str("file", name).Msg("not run by --init: its name ends neither in .cql nor in .cql.gz")
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
		return nil, pathError("make the folder", s.data, err)
	}
	return i, i.note(initBegun)
}

// wanted reports whether the scripts are to be run on a data folder: on one that is new. It fails if an earlier run
// stopped halfway.
func (i *initialisation) wanted(data string) (bool, error) {
	said, err := os.ReadFile(i.record)
	switch {
	case err == nil && string(said) == initDone:
		return false, nil
	case err == nil:
		return false, fmt.Errorf("the scripts of --init stopped halfway when the data folder %s was made; "+
			"remove the folder to run them again, or the file %s to keep what there is", data, i.record)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("read what --init did before: %w", err)
	}
	entries, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, cannotRead(data, err)
	}
	for _, e := range entries {
		if e.Name() != "lost+found" && e.Name() != initRecord+unfinished { // of a volume, or of a note that was not written
			return false, nil
		}
	}
	return true, nil
}

// note writes how far --init came.
func (i *initialisation) note(text string) error {
	if err := files.ReplaceFile(i.record, []byte(text)); err != nil {
		return fmt.Errorf("note what --init does: %w", err)
	}
	return nil
}

// prepare runs the scripts and opens the ports. If that fails it stops the server.
func (i *initialisation) prepare(
	ctx context.Context, s *settings, srv *server.Server, onDisk *disk.Engine, l *listeners,
) error {
	err := i.run(ctx, srv, onDisk, s.logins)
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

// run runs the scripts, over a connection inside the process. logins says that clients log in: the superuser that a new
// server has does so.
func (i *initialisation) run(ctx context.Context, srv *server.Server, onDisk *disk.Engine, logins bool) error {
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
			ctx, cancel := context.WithTimeout(ctx, initStatementTime)
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
		if err := i.note(initDone); err != nil {
			return err
		}
	}
	i.log.Info().Int("scripts", len(i.scripts)).Dur("took", time.Since(began)).Msg("initialised")
	return nil
}
