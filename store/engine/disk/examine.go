package disk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/files"
)

// Examine compares all files of a folder that is not open with their checksums, and changes nothing. progress is
// called before each table with the file's name, and how many of them there are and were examined. What is
// damaged is the result; an error says that something could not be examined.
func Examine(dir string, progress func(file string, done, all int)) ([]files.Damage, error) {
	unlock, err := files.LockFolder(dir)
	if errors.Is(err, files.ErrInUse) {
		return nil, fmt.Errorf("the folder %s is in use by another process", dir)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	exists, _, err := badger.QuickExamine(dir)
	if err != nil {
		return nil, err
	}
	log, err := commitlog.Examine(dir, exists)
	if err != nil {
		return nil, err
	}
	damages, err := badger.Examine(dir, progress)
	return slices.Concat(damages, log.Damages), err
}
