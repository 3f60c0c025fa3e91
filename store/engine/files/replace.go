// Package files is what engines need of the file system besides package os: blocks that are taken before they are used,
// files that are replaced as a whole or set aside, mappings, locks, and how much room is left.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrUnsure says that nobody knows whether a power cut would leave the old or the new content of a file.
var ErrUnsure = errors.New("the folder of a file was not synced")

// ReplaceFile writes a file. After a power cut it has either its old or its new content. Unless it fails with ErrUnsure
// it has its old content after an error.
func ReplaceFile(path string, content []byte) error {
	next := path + unfinished
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	if err := SyncFile(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return nil
}

// unfinished ends the names of files that are being written.
const unfinished = ".unfinished"

// SyncFile syncs a file or a folder, unless it is gone.
func SyncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// MakeSynced is os.MkdirAll, but a power cut does not undo it.
func MakeSynced(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return os.MkdirAll(dir, 0o700) // which refuses what is not a folder
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := MakeSynced(parent); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return SyncFile(filepath.Dir(dir))
}
