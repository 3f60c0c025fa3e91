// Package files is the file system as engines need it, beyond package os: files that are replaced atomically
// (ReplaceFile) or quarantined (Quarantine), blocks that are allocated before they are used, mappings, locks, and free
// space.
package files

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Damage is a damaged file of a folder.
type Damage struct {
	Name string // of the file
	What string // the kind of damage
}

// ErrInUse is returned when another process has a folder open.
var ErrInUse = errors.New("it is in use by another process")

// ErrUnsure is returned when a power cut might leave either the old or the new content of a file.
var ErrUnsure = errors.New("the folder of a file was not synced")

// ReplaceFile writes a file. After a power cut it has either its old or its new content. If it fails with an error
// that is not ErrUnsure, it has its old content.
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

// SyncFile syncs a file or a folder, if it exists.
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

// MakeSynced is os.MkdirAll that a power cut does not undo.
func MakeSynced(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return os.MkdirAll(dir, 0o700) // it fails if this is no folder
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

// QuarantineFolder is the folder, inside the data folder, that keeps damaged and truncated files. They are not read
// any more.
const QuarantineFolder = "set-aside"

// quarantinePath makes the folder and finds a free name in it.
func quarantinePath(path string) (string, error) {
	dir := filepath.Join(filepath.Dir(path), QuarantineFolder)
	if err := MakeSynced(dir); err != nil {
		return "", err
	}
	to := filepath.Join(dir, filepath.Base(path))
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return to, nil
		} else if err != nil {
			return "", err
		}
		to = filepath.Join(dir, fmt.Sprintf("%s.%d", filepath.Base(path), i))
	}
}

// Quarantine moves a file into the quarantine folder.
func Quarantine(path string) error {
	to, err := quarantinePath(path)
	if err != nil {
		return err
	}
	if err := os.Rename(path, to); err != nil {
		return err
	}
	return errors.Join(SyncFile(filepath.Dir(to)), SyncFile(filepath.Dir(path)))
}

// QuarantineCopy copies a file into the quarantine folder, without the zeros at its end.
func QuarantineCopy(path string) error {
	to, err := quarantinePath(path)
	if err != nil {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	end, err := EndOfData(from, 0)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(from, 0, end))
	return errors.Join(err, f.Sync(), f.Close(), SyncFile(filepath.Dir(to)))
}

// DataFrom returns the content of a file from a byte on, without the zeros at its end.
func DataFrom(f *os.File, from int64) ([]byte, error) {
	end, err := EndOfData(f, from)
	if err != nil || end == from {
		return nil, err
	}
	data := make([]byte, end-from)
	_, err = f.ReadAt(data, from)
	return data, err
}

// EndOfData returns where the zeros at a file's end begin, from a byte on.
func EndOfData(f *os.File, from int64) (end int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return from, err
	}
	end = from
	buf := make([]byte, 1<<18)
	for at := from; at < info.Size(); {
		next, err := f.Seek(at, seekData)
		if errors.Is(err, syscall.ENXIO) {
			break
		}
		if err == nil {
			at = max(next, from)
		}
		n, err := f.ReadAt(buf, at)
		if i := len(bytes.TrimRight(buf[:n], "\x00")); i > 0 {
			end = at + int64(i)
		}
		if at += int64(n); err != nil && err != io.EOF {
			return end, err
		}
	}
	return end, nil
}

// seekData makes Seek go to the next byte for which a file has blocks, if the system supports that.
const seekData = 3

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the checksum of tables and of the commit log: CRC-32C.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// AddChecksum continues a checksum with b.
func AddChecksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// Reserve is the part of a volume that writes leave free: a share of it, or a number of bytes.
type Reserve struct {
	Percent float64
	Most    int64 // the maximum of the share, in bytes; 0: any number
	Bytes   int64 // instead of a share
}

// Of is the reserve on a volume of so many bytes.
func (r Reserve) Of(volume int64) int64 {
	if r.Percent == 0 {
		return r.Bytes
	}
	share := int64(float64(volume) / 100 * r.Percent)
	if r.Most > 0 {
		share = min(share, r.Most)
	}
	return share
}
