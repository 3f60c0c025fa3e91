package enginetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine/files"
)

// CopyFolder copies the files of the engine of a folder, which may be running, as a killed process would leave them.
// The content of a file that is removed meanwhile is in other files already, so names are read again until none is
// gone. to is an empty folder.
func CopyFolder(t testing.TB, from, to string) {
	t.Helper()
	for range 200 {
		if tryCopy(t, from, to) {
			return
		}
		for _, name := range FilesIn(t, to) {
			if err := os.Remove(filepath.Join(to, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("files go while the folder is copied")
}

// tryCopy copies a folder and reports whether no file has appeared or gone meanwhile.
func tryCopy(t testing.TB, from, to string) bool {
	before := FilesIn(t, from)
	inOrder := slices.Clone(before) // lists of files are copied before the files: they may be older, but not newer
	slices.SortStableFunc(inOrder, func(a, b string) int {
		first := []string{"MANIFEST", "LOG", "LOGGED"}
		return slices.Index(first, b) - slices.Index(first, a)
	})
	for _, name := range inOrder {
		if CopyFile(filepath.Join(from, name), filepath.Join(to, name)) != nil {
			return false
		}
	}
	return slices.Equal(before, FilesIn(t, from))
}

// FilesIn are the names of the files of an engine's folder that a killed process leaves to the next one.
func FilesIn(t testing.TB, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && e.Name() != "LOCK" && !strings.HasSuffix(e.Name(), ".unfinished") {
			all = append(all, e.Name())
		}
	}
	return all
}

// CopyFile copies a file. The zeros at its end become a hole.
func CopyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	b, err := files.DataFrom(in, 0)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		return err
	}
	return os.Truncate(to, info.Size())
}
