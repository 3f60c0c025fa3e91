package disk

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cqld/cqld/store/engine/badger/check"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/files"
)

// Examine compares all files of a folder that is not open with their checksums, and changes nothing. progress is
// called before each large file with the file's name, and how many of them there are and were examined. What is
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
	x, err := check.Examine(dir, false)
	if err != nil {
		return nil, err
	}
	log, err := commitlog.Examine(dir, x.CommitLog())
	if err != nil {
		return nil, err
	}
	damages := slices.Concat(x.Damages(), log.Damages)
	for i, path := range x.Unchecked {
		progress(filepath.Base(path), i, len(x.Unchecked))
		if err := check.File(path, 0); err != nil {
			d, is := check.DamageOf(err)
			if !is {
				return damages, err
			}
			damages = append(damages, d)
		}
	}
	return damages, nil
}
