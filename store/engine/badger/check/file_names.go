package check

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Extensions of Badger's files. A memtable has a log until its table is written; large values are in value logs.
const (
	MemtableLog = ".mem"
	ValueLog    = ".vlog"
	TableFile   = ".sst"
)

// Names of Badger's other files, beside MANIFEST.
const (
	registryFile = "KEYREGISTRY" // the keys that data is encrypted with, if it is
	DiscardFile  = "DISCARD"     // how much of each value log is not used
)

// LogName is the name of a memtable's log.
func LogName(number uint32) string { return fmt.Sprintf("%05d%s", number, MemtableLog) }

// ValueLogName is the name of a value log.
func ValueLogName(number uint32) string { return fmt.Sprintf("%06d%s", number, ValueLog) }

// numberedNames returns the names with an extension, in the order of their numbers.
func numberedNames(names []string, ext string) (found []string) {
	for _, name := range names {
		if _, ok := NumberOf(name, ext); ok {
			found = append(found, name)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		i, _ := NumberOf(a, ext)
		j, _ := NumberOf(b, ext)
		return cmp.Compare(i, j)
	})
	return found
}

// NumberOf returns the number in a name with an extension.
func NumberOf(name, ext string) (uint32, bool) {
	text, ok := strings.CutSuffix(name, ext)
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), ok && err == nil
}

// readNames reads the names in a folder.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}
