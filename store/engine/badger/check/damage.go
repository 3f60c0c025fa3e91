package check

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cqld/cqld/store/engine/files"
)

// ErrDamaged is the kind of error that a folder with damaged files is refused with.
var ErrDamaged = errors.New("the data is damaged")

// damagedFile says what is wrong with a file.
type damagedFile struct{ path, what string }

// Error names the file and what is wrong with it.
func (d *damagedFile) Error() string {
	return fmt.Sprintf("the file %s is damaged: %s", d.path, d.what)
}

// damaged makes an error that says what is wrong with a file.
func damaged(path, format string, args ...any) error {
	return &damagedFile{path, fmt.Sprintf(format, args...)}
}

// isDamaged reports whether an error is about a damaged file.
func isDamaged(err error) bool {
	var d *damagedFile
	return errors.As(err, &d)
}

// DamageOf returns the damage that an error of File is about, if it is about one.
func DamageOf(err error) (damage files.Damage, is bool) {
	var d *damagedFile
	if !errors.As(err, &d) {
		return damage, false
	}
	return files.Damage{Name: filepath.Base(d.path), What: d.what}, true
}
