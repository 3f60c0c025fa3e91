package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// AsideFolder is the folder, inside the data folder, that keeps damaged and cut files as they were. Nothing reads
// them.
const AsideFolder = "set-aside"

// asidePath makes the folder and finds a free name in it.
func asidePath(path string) (string, error) {
	dir := filepath.Join(filepath.Dir(path), AsideFolder)
	if err := MakeSynced(dir); err != nil {
		return "", err
	}
	aside := filepath.Join(dir, filepath.Base(path))
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			return aside, nil
		} else if err != nil {
			return "", err
		}
		aside = filepath.Join(dir, fmt.Sprintf("%s.%d", filepath.Base(path), i))
	}
}

// SetAside moves a file out of the way, and returns where it is.
func SetAside(path string) (string, error) {
	aside, err := asidePath(path)
	if err != nil {
		return "", err
	}
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	return aside, errors.Join(SyncFile(filepath.Dir(aside)), SyncFile(filepath.Dir(path)))
}

// CopyAside keeps a copy of a file, without the zeros at its end.
func CopyAside(path string) (string, error) {
	aside, err := asidePath(path)
	if err != nil {
		return "", err
	}
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	end, err := EndOfData(from, 0)
	if err != nil {
		return "", err
	}
	to, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, io.NewSectionReader(from, 0, end))
	return aside, errors.Join(err, to.Sync(), to.Close(), SyncFile(filepath.Dir(aside)))
}
