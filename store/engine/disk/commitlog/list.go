package commitlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cqld/cqld/store/engine/files"
)

// ListName is the file that names the first and the last segment.
const ListName = "LOG"

// list is what LOG has: all segments from the first to the last one exist, and the first record of the first one has
// the number seq. There is none if first is behind last.
type list struct{ first, seq, last uint64 }

const listHead = "cqld log 1\n"

func (l list) encode() []byte {
	text := fmt.Sprintf("%sfirst %d %d\nlast %d\n", listHead, l.first, l.seq, l.last)
	return fmt.Appendf(nil, "%ssum %d\n", text, files.Checksum([]byte(text)))
}

// write replaces LOG.
func (l list) write(dir string) error {
	return files.ReplaceFile(filepath.Join(dir, ListName), l.encode())
}

// readList reads LOG. sound is false if it is not as it was written.
func readList(dir string) (l list, sound bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, ListName))
	if err != nil {
		return l, false, err
	}
	_, rest, _ := strings.Cut(string(b), listHead)
	_, err = fmt.Sscanf(rest, "first %d %d\nlast %d\n", &l.first, &l.seq, &l.last)
	return l, err == nil && string(l.encode()) == string(b), nil
}
