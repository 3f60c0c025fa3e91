package badger

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
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
	enginetest.CopyFolder(t, from, to)
	return to
}

// copyFile copies a file, unless it has gone.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := enginetest.CopyFile(from, to); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// openQuietly opens a folder that may be damaged, and returns what was logged as well.
func openQuietly(dir string) (*Engine, *strings.Builder, error) {
	log := &strings.Builder{}
	e, err := Open(Options{Dir: dir, MemTableSize: smallMemTable, Log: zerolog.New(zerolog.SyncWriter(log))},
		enginetest.Union)
	return e, log, err
}
