package compat_tests

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/compat_tests/differences"
)

// differencesFolder has the scripts of docs/differences.md, by number.
const differencesFolder = "differences"

// isDifference reports whether a script has the answers of both servers.
func isDifference(path string) bool {
	return strings.HasPrefix(name(path), differencesFolder+"/")
}

// TestDifferencesHaveScripts holds docs/differences.md and the scripts one to one: each difference names its script or
// says why it has none, and each script belongs to a difference.
func TestDifferencesHaveScripts(t *testing.T) {
	page, err := os.ReadFile("../" + differences.Page)
	if err != nil {
		t.Fatal(err)
	}
	all, err := differences.Parse(string(page))
	if err != nil {
		t.Fatalf("%s: %v", differences.Page, err)
	}
	scripts := map[string]bool{}
	for _, path := range scriptPaths(t) {
		if isDifference(path) {
			scripts[filepath.Base(path)] = true
		}
	}
	for _, d := range all {
		if d.Script != "" && !scripts[d.Script] {
			t.Errorf("difference %s has no script %s, or shares it", d.Number, d.Script)
		}
		delete(scripts, d.Script)
	}
	for file := range maps.Keys(scripts) {
		t.Errorf("no difference names the script %s", file)
	}
}
