package badger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/rs/zerolog"
)

// checkedAtOpen is how many bytes of tables are checked before the engine opens; the rest is checked while it works.
const checkedAtOpen = 64 << 20

// checkFiles looks for damage in a folder that is not open, as Badger does not: it answers that a key is not there when
// the block with it is damaged, leaves out a table that it cannot open, and takes a damaged length in its
// list of tables for the list's end. It returns the tables whose blocks are still to be checked.
//
// A log ends where its last commit is not whole. If there is more behind that, the power was cut while it was
// written, or it is damaged; that can only be said. A log without a byte was being made, and Badger stumbles over it.
func checkFiles(dir string, log zerolog.Logger) (unchecked []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	newestValues := ""
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch ext := filepath.Ext(path); {
		case ext == memtableLog || ext == valueLog:
			removed, err := removeEmpty(path)
			if err != nil {
				return nil, err
			}
			if ext == valueLog && !removed {
				newestValues = path
			} else if !removed {
				checkLog(path, log)
			}
		case e.Name() == registryFile:
			if err := checkRegistry(path); err != nil {
				return nil, err
			}
		}
	}
	if newestValues != "" {
		checkLog(newestValues, log) // of the others each value is checked when it is read
	}
	tables, err := listedTables(dir)
	if err != nil {
		return nil, err
	}
	return checkTables(tables)
}

// registryFile has the keys that data is encrypted with, if it is.
const registryFile = "KEYREGISTRY"

// removeEmpty removes a file that has no bytes.
func removeEmpty(path string) (removed bool, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > 0 {
		return false, err
	}
	return true, os.Remove(path)
}

// checkTables checks the indexes of tables and the blocks of the first ones, and returns the others.
func checkTables(tables []string) (unchecked []string, err error) {
	left := int64(checkedAtOpen)
	for _, path := range tables {
		n, err := checkTable(path, left > 0, 0)
		if err != nil {
			return nil, err
		}
		if left <= 0 {
			unchecked = append(unchecked, path)
		}
		left -= n
	}
	return unchecked, nil
}

// checkLater checks tables while the engine works, a quarter of the time. Damage ends all reading and writing.
func (e *Engine) checkLater(tables []string, log zerolog.Logger) {
	defer e.finished.Done()
	for _, path := range tables {
		select {
		case <-e.stop:
			return
		default:
		}
		if _, err := checkTable(path, true, 3); err != nil && e.uses(path) {
			log.Error().Err(err).Msg("the data is damaged: nothing is read or written any more")
			e.damage.Store(&err)
			return
		}
	}
}

// uses reports whether a table is one of Badger's. It makes files of others empty, and then removes them.
func (e *Engine) uses(path string) bool {
	return slices.ContainsFunc(e.db.Tables(), func(t badger.TableInfo) bool {
		return table.IDToFilename(t.ID) == filepath.Base(path)
	})
}

// damaged says which file is, and what is wrong with it.
func damaged(path, format string, args ...any) error {
	return fmt.Errorf("the file %s is damaged: %s", path, fmt.Sprintf(format, args...))
}

// checkRegistry looks at the file that would have keys, if the data were encrypted.
func checkRegistry(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const ivSize, sanity = 16, "Hello Badger"
	if len(b) != ivSize+len(sanity) || !bytes.HasSuffix(b, []byte(sanity)) {
		return damaged(path, "it has other bytes than every such file")
	}
	return nil
}

// pause lets others work for a multiple of the time since began.
func pause(began time.Time, factor int) {
	if factor > 0 {
		time.Sleep(time.Since(began) * time.Duration(factor))
	}
}
