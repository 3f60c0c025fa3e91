package tikv

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStore runs the tests of the package store on this engine: it adds a file to them that opens it.
func TestStore(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "store", "tikv_test.go"): filepath.Join(root, "cluster", "tikv", "testdata", "engine_test.go"),
	}})
	must(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	must(t, os.WriteFile(file, overlay, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=8m", "-overlay", file,
		"github.com/cqld/cqld/store", "-args", "-engine=tikv", "-histories=0").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
