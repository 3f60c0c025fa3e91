package command

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk"
	"github.com/cqld/cqld/store/engine/memory"
)

// TestWriteLimits prints what the storage takes at a time, on disk and in memory, and wants docs/limits.md to say so.
func TestWriteLimits(t *testing.T) {
	page, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := disk.Open(disk.Options{Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]engine.Engine{"on disk": onDisk, "in memory": memory.Open(nil)} {
		limits := e.Limits()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d bytes and %d rows in one write, %d bytes in one row",
			name, limits.CommitBytes, limits.CommitOps, limits.Value)
		for _, n := range []int{limits.CommitBytes, limits.CommitOps, limits.Value} {
			if !strings.Contains(string(page), thousands(n)) {
				t.Errorf("docs/limits.md has no %s", thousands(n))
			}
		}
	}
}

// thousands prints a number as pages do: 1,048,576.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
