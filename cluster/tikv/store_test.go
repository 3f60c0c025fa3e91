package tikv

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// every has also those tests of the store run that write more than the cluster in the process takes in a minute.
var every = flag.Bool("every", false, "run all tests of the store")

// long are tests of the store with more writes than this cluster is quick enough for: each version of a key stays. Some
// of them write until something else is done, which is later the more is written.
const long = "^Test(IndexesBesideWrites|Queue|ReadThroughIndexes|ReadThroughTerms|VerifyIsClean)$"

// heavy are tests of the store that a quick run leaves out. What they try is the store's own, whatever the engine is.
const heavy = "|^Test(Append|CleanIndexes|DeletionsWithViews|EmptyRangesBesideWrites|LongPatterns|Nearest|NearestAfterDeath|" +
	"OverlappingRanges|Rounds|RoundsBesideWrites|VerifyTerms|ViewsBesideWrites|ViewsOfEarlierVersions)$"

// full has the tests do all that they can. CI sets it.
var full = os.Getenv("TEST_CQLD_FULL") != ""

// TestStore runs the tests of the package store on this engine: it adds a file to them that opens it.
func TestStore(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	must(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "store", "tikv_test.go"): filepath.Join(root, "cluster", "tikv", "testdata", "engine_test.go"),
	}})
	must(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	must(t, os.WriteFile(file, overlay, 0o600))
	args := []string{"test", "-count=1", "-timeout=8m", "-overlay", file}
	switch {
	case *every:
	case full:
		args = append(args, "-skip", long)
	default:
		args = append(args, "-skip", long+heavy)
	}
	args = append(args, "github.com/cqld/cqld/store", "-args", "-engine=tikv", "-histories=0")
	tests := exec.CommandContext(t.Context(), "go", args...)
	tests.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { // the size that the store's tests have by themselves
		return strings.HasPrefix(e, "TEST_CQLD_FULL=")
	})
	out, err := tests.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
