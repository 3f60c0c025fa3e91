package invariants

import "testing"

// TestCheck wants a failed check to panic exactly in builds with the tag.
func TestCheck(t *testing.T) {
	failed := func(ok bool) (text any) {
		defer func() { text = recover() }()
		Check(ok, "commit %d follows commit %d", 5, 3)
		return nil
	}
	var want any
	if Enabled {
		want = Violation("invariant violated: commit 5 follows commit 3")
	}
	if got := failed(false); got != want {
		t.Errorf("a failed check says %v, want %v", got, want)
	}
	if got := failed(true); got != nil {
		t.Errorf("a check that holds says %v", got)
	}
}
