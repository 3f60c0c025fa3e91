package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// numbered writes a value that belongs to a number.
func numbered(e *Engine, n, size int) error {
	_, err := e.Write([]engine.Op{{Kind: engine.Put, Key: numberedKey(n), Value: numberedValue(n, size)}})
	return err
}

func numberedKey(n int) []byte { return binary.BigEndian.AppendUint32([]byte("n"), uint32(n)) }

// numberedValue repeats the number, so that each byte of it is checked by looking at it.
func numberedValue(n, size int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("%08d", n), size/8))
}

// readNumbered returns which numbers have their value. A value that is not of its number is an error.
func readNumbered(e *Engine) (map[int]bool, error) {
	found := map[int]bool{}
	r := e.Snapshot()
	defer r.Release()
	err := r.Scan([]byte("n"), []byte("o"), engine.ScanOptions{}, func(k, v []byte) (bool, error) {
		n := int(binary.BigEndian.Uint32(k[1:]))
		if string(v) != string(numberedValue(n, len(v))) || len(v) == 0 {
			return false, fmt.Errorf("the value of %d is %.50q", n, v)
		}
		found[n] = true
		return true, nil
	})
	return found, err
}

// copyFolder copies the files of a folder, as they are after a kill.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	copyFiles(t, from, to)
	return to
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		copyFile(t, name, filepath.Join(to, filepath.Base(name)))
	}
}

// copyFile copies what is in a file and leaves its holes.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	if err := dst.Truncate(info.Size()); err != nil {
		t.Fatal(err)
	}
	const seekData = 3 // os.File.Seek: to where the next bytes are that are not a hole
	buf, zero := make([]byte, 1<<16), make([]byte, 1<<16)
	for at := int64(0); ; at += int64(len(buf)) {
		if next, err := src.Seek(at, seekData); err == nil {
			at = next
		} else if errors.Is(err, syscall.ENXIO) {
			return
		}
		n, err := src.ReadAt(buf, at)
		if string(buf[:n]) != string(zero[:n]) {
			if _, err := dst.WriteAt(buf[:n], at); err != nil {
				t.Fatal(err)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// openQuietly opens a folder that may be damaged, and returns what was logged as well.
func openQuietly(dir string) (*Engine, *strings.Builder, error) {
	log := &strings.Builder{}
	e, err := Open(Options{Dir: dir, MemTableSize: smallMemTable, Log: zerolog.New(zerolog.SyncWriter(log))},
		enginetest.Union)
	return e, log, err
}
