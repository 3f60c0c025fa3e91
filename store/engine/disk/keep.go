package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/files"
)

// keptName is the file that Keep writes: its content and a checksum.
const keptName = "DEFINITIONS"

var _ engine.Keeper = (*Engine)(nil)

// Keep replaces the second copy of what all other data depends on. If it cannot be written there is none, because an
// older one would contradict the data.
func (e *Engine) Keep(content []byte) error {
	path := filepath.Join(e.o.Dir, keptName)
	sealed := binary.LittleEndian.AppendUint32(append([]byte(nil), content...), files.Checksum(content))
	err := files.ReplaceFile(path, sealed)
	if err == nil {
		return nil
	}
	return errors.Join(err, os.RemoveAll(path), files.SyncFile(e.o.Dir)) // it may be a folder
}

// Kept returns the copy.
func (e *Engine) Kept() ([]byte, error) {
	path := filepath.Join(e.o.Dir, keptName)
	b, err := os.ReadFile(path)
	n := len(b) - 4
	sound := n >= 0 && binary.LittleEndian.Uint32(b[n:]) == files.Checksum(b[:n])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.EISDIR), err == nil && !sound:
		return nil, fmt.Errorf("%w: %s is not what was written", engine.ErrDamaged, path)
	case err != nil:
		return nil, err
	default:
		return b[:n], nil
	}
}

// Repaired returns what a repair could not recover. A repair that found no damage has recovered everything.
func (e *Engine) Repaired() (*engine.Repair, error) {
	noted, err := badger.ReadRepair(e.o.Dir)
	if err == nil && noted == nil && e.o.Repair {
		noted = &engine.Repair{}
	}
	return noted, err
}

// RepairEnded forgets the repair.
func (e *Engine) RepairEnded() error {
	if err := badger.EndRepair(e.o.Dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
