package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/rs/zerolog"
)

// checkLater checks tables and value logs while the engine works, a quarter of the time. Damage ends all reading and writing.
func (e *Engine) checkLater(paths []string, log zerolog.Logger) {
	defer e.finished.Done()
	for _, path := range paths {
		select {
		case <-e.stop:
			return
		default:
		}
		check := checkTableLater
		if filepath.Ext(path) == valueLog {
			check = checkValuesLater
		}
		if err := check(path); err != nil && e.uses(path) {
			log.Error().Err(err).Msg("the data is damaged: nothing is read or written any more")
			e.damage.Store(&err)
			return
		}
	}
}

func checkTableLater(path string) error {
	_, err := checkTable(path, true, 3)
	return err
}

func checkValuesLater(path string) error {
	s, err := examineValues(path, true, 3)
	if err == nil && s.rest {
		err = damaged(path, "it cannot be read from byte %d on", s.end)
	}
	return err
}

// uses reports whether a file is one of Badger's. It makes tables of others empty, and then removes them, and value logs as
// well.
func (e *Engine) uses(path string) bool {
	if filepath.Ext(path) == valueLog {
		info, err := os.Stat(path)
		return err == nil && info.Size() > 0
	}
	return slices.ContainsFunc(e.db.Tables(), func(t badger.TableInfo) bool {
		return table.IDToFilename(t.ID) == filepath.Base(path)
	})
}

// damagedFile is an error that says what is wrong with a file.
type damagedFile struct{ path, what string }

// Error names the file and what is wrong with it.
func (d *damagedFile) Error() string {
	return fmt.Sprintf("the file %s is damaged: %s", d.path, d.what)
}

// damaged says which file is, and what is wrong with it.
func damaged(path, format string, args ...any) error {
	return &damagedFile{path, fmt.Sprintf(format, args...)}
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

// checkDiscard looks at the file that has numbers of value logs and how many bytes of each are not used, up to the first 0. Badger
// would not stop looking for a log that is in it twice.
func checkDiscard(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const least, slot = 1 << 20, 16
	if len(b) == 0 {
		return fs.ErrNotExist // Badger makes it anew
	}
	if len(b) < least || len(b)&(len(b)-1) != 0 {
		return damaged(path, "it has %d bytes", len(b))
	}
	seen := map[uint64]bool{}
	for ; len(b) > 0 && binary.BigEndian.Uint64(b) != 0; b = b[slot:] {
		n := binary.BigEndian.Uint64(b)
		if seen[n] {
			return damaged(path, "it has the value log %d twice", n)
		}
		seen[n] = true
	}
	return nil
}

// pauses lets others work for a multiple of the time that each MiB took.
type pauses struct {
	factor, done int
	began        time.Time
}

func newPauses(factor int) *pauses { return &pauses{factor: factor, began: time.Now()} }

// worked says how many bytes were done.
func (p *pauses) worked(n int) {
	if p.done += n; p.done < 1<<20 || p.factor == 0 {
		return
	}
	time.Sleep(time.Since(p.began) * time.Duration(p.factor))
	p.began, p.done = time.Now(), 0
}

// isDamaged reports whether an error is about a damaged file.
func isDamaged(err error) bool {
	var d *damagedFile
	return errors.As(err, &d)
}
