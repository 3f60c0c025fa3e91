package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGoTestsSurviveADeath runs a module whose second test ends the process, and wants an end of each.
func TestGoTestsSurviveADeath(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module dies\n\ngo 1.21\n",
		"dies_test.go": `package dies

import (
	"os"
	"testing"
)

func TestBefore(t *testing.T) {}
func TestDeath(t *testing.T)  { os.Exit(3) }
func TestBehind(t *testing.T) { t.Fatal("reached") }
func TestUnasked(t *testing.T) { t.Fatal("asked") }
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := &environment{work: t.TempDir(), log: filepath.Join(folder, "log")}
	if err := os.WriteFile(e.log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := goTests{packages: []string{"."}, skip: []string{"TestUnasked"}}.run(t.Context(), e, folder)
	want := []outcome{
		{"TestBefore", passed, ""},
		{"TestDeath", failed, unfinished + ": "},
		{"TestBehind", failed, "reached"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
	if log, err := os.ReadFile(e.log); err != nil || len(log) == 0 {
		t.Errorf("the log has %d bytes: %v", len(log), err)
	}
}
