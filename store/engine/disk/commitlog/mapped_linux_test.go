package commitlog

import (
	"os"
	"strings"
	"testing"
)

// TestMappedPageIsGone takes the pages of a segment away: appending fails until they are back, and loses nothing.
func TestMappedPageIsGone(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, Options{SegmentSize: 1 << 20, Mapped: true})
	defer l.Close()
	if _, err := l.Append(put(100)); err != nil {
		t.Fatal(err)
	}
	path := l.current.path(dir)
	held, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := l.Append(put(100)); err == nil || !strings.Contains(err.Error(), "cannot be written") {
			t.Errorf("appended to a page that is gone: %v", err)
		}
	}
	if err := os.WriteFile(path, held, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := l.Append(put(100)); err != nil {
			t.Fatal(err)
		}
	}
	wantRecords(t, dir, 3)
}
