package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// OpenReadOnly opens a database in a folder that cannot be written to, without the logs of memtables, whose commits the
// commit log has. Badger makes files and truncates logs even when it only reads, so it gets a temporary folder, with a
// copy of the list of tables and links to the tables.
func OpenReadOnly(o Options) (_ *Engine, err error) {
	o.setDefaults()
	f, err := examineFolder(o.Dir)
	if err == nil {
		err = Refuse(o.Dir, f.damages)
	}
	if err != nil {
		return nil, err
	}
	from, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Dir, err = os.MkdirTemp("", "cqld-read-only-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(o.Dir))
		}
	}()
	const list = badger.ManifestFilename
	if err := copyFile(filepath.Join(from, list), filepath.Join(o.Dir, list)); err != nil {
		return nil, err
	}
	for id := range f.tables {
		if err := os.Symlink(table.NewFilename(id, from), table.NewFilename(id, o.Dir)); err != nil {
			return nil, err
		}
	}
	db, err := badger.OpenManaged(badgerOptions(o).WithReadOnly(true))
	if err != nil {
		return nil, openError(from, err)
	}
	e := &Engine{o: o, db: db, stop: make(chan struct{})}
	refused := errors.New("the folder was opened for reading")
	e.failed.Store(&refused)
	e.version.Store(db.MaxVersion())
	if e.flushed, _, err = e.readMarkers(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}

// CloseReadOnly closes it.
func (e *Engine) CloseReadOnly() error { return errors.Join(e.db.Close(), os.RemoveAll(e.o.Dir)) }
