package disk

import (
	"os/exec"
	"testing"

	"github.com/cqld/cqld/internal/invariants"
)

// TestStore runs the tests of package store on this engine: it adds files to them that open it.
func TestStore(t *testing.T) {
	if !full && !underRace {
		t.Skip("TEST_CQLD_FULL is not set")
	}
	args := []string{"test", "-count=1", "-timeout=20m", "-overlay", "store/engine/disk/testdata/store.json"}
	if underRace {
		args = append(args, "-race")
	}
	if invariants.Enabled {
		args = append(args, "-tags=invariants")
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./store", "-args", "-engine=disk")...)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
