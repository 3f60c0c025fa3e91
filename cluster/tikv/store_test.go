package tikv

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// every has also those tests of the store run that write more than the cluster in the process takes in a minute.
var every = flag.Bool("every", false, "run all tests of the store")

// long are tests of the store with more writes than this cluster is quick enough for: each version of a key stays. Some
// of them write until something else is done, which is later the more is written.
const long = "^Test(IndexesBesideWrites|Queue|ReadThroughIndexes|ReadThroughTerms|VerifyIsClean)$"

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
	args := []string{"test", "-count=1", "-timeout=8m", "-overlay", file}
	if !*every {
		args = append(args, "-skip", long)
	}
	args = append(args, "github.com/cqld/cqld/store", "-args", "-engine=tikv", "-histories=0")
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
