package recorded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvelopes checks that the envelopes of package protocol's examples are among the exchanges that compat_tests/wire
// recorded and replays, so they need no recorder here.
func TestEnvelopes(t *testing.T) {
	recorded := map[string]bool{}
	for _, file := range glob(t, "compat_tests/wire/recorded/*.txt") {
		for line := range strings.Lines(read(t, file)) {
			if _, envelope, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				recorded[envelope] = true
			}
		}
	}
	for _, file := range glob(t, "protocol/testdata/*.txt") {
		for _, block := range strings.Split(read(t, file), "\n\n") {
			envelope, _, _ := strings.Cut(block, "\n")
			if !strings.HasPrefix(block, "#") && block != "" && !recorded[envelope] {
				t.Errorf("%s: no recorded exchange has %.80s", file, envelope)
			}
		}
	}
}

// glob are the files of a pattern, by their path in the module.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for i, file := range found {
		found[i] = filepath.ToSlash(strings.TrimPrefix(file, filepath.Clean(root)+string(os.PathSeparator)))
	}
	return found
}
