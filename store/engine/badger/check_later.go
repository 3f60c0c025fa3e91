package badger

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// checkRest is how many times as long as it works checkLater rests, after each MiB.
const checkRest = 3

// checkLater checks tables and value logs while the engine works. Damage ends all reading and writing.
func (e *Engine) checkLater(paths []string, log zerolog.Logger) {
	defer e.finished.Done()
	for _, path := range paths {
		select {
		case <-e.stop:
			return
		default:
		}
		if err := check.File(path, checkRest); err != nil && e.uses(path) {
			log.Error().Err(err).Msg("the data is damaged: nothing is read or written any more")
			e.damage.Store(&err)
			return
		}
	}
}

// uses reports whether a file is one of Badger's. Badger empties tables and value logs before it removes them.
func (e *Engine) uses(path string) bool {
	if filepath.Ext(path) == check.ValueLog {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	}
	return slices.ContainsFunc(e.db.Tables(), func(t badger.TableInfo) bool {
		return table.IDToFilename(t.ID) == filepath.Base(path)
	})
}
