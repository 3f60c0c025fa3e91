package check

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
)

// checkRegistry checks the file that would have keys if the data were encrypted.
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

// checkDiscard checks the file that counts, for each value log, the bytes that are not used any more. It ends at
// the first 0. Badger would not stop looking for a log that is in it twice.
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
